-- +goose Up

-- One row a thread, all that a listing shows. Times are microseconds since 1970; due and waiting are the largest integer
-- where there is none, so that they sort last. lease_until is 0 where nobody holds the lease.
CREATE TABLE threads (
    id              INTEGER PRIMARY KEY,
    thread          TEXT NOT NULL UNIQUE,
    seq             INTEGER NOT NULL,
    step            INTEGER NOT NULL,
    revision        INTEGER NOT NULL,
    phase           TEXT NOT NULL,
    lease_until     INTEGER NOT NULL DEFAULT 0,
    answers         INTEGER NOT NULL DEFAULT 0,
    due             INTEGER NOT NULL,
    waiting         INTEGER NOT NULL,
    created         INTEGER NOT NULL,
    updated         INTEGER NOT NULL,
    questions       INTEGER NOT NULL,
    answered        INTEGER NOT NULL,
    workflow        TEXT NOT NULL,
    node            TEXT NOT NULL,
    title           TEXT NOT NULL,
    assignee        TEXT NOT NULL,
    team            TEXT NOT NULL,
    priority        TEXT NOT NULL,
    claim_by        TEXT NOT NULL DEFAULT '',
    claim_until     INTEGER NOT NULL DEFAULT 0,
    error           TEXT NOT NULL,
    lease_token     TEXT NOT NULL DEFAULT '',
    lease_holder    TEXT NOT NULL DEFAULT '',
    lease_own       INTEGER NOT NULL DEFAULT 0,
    cancel          INTEGER NOT NULL DEFAULT 0,
    cancel_by       TEXT NOT NULL DEFAULT '',
    decisions       INTEGER NOT NULL DEFAULT 0,
    decision_hash   TEXT NOT NULL DEFAULT '',
    results         INTEGER NOT NULL DEFAULT 0,
    base            INTEGER NOT NULL,  -- keyframe that the head is built from
    base_size       INTEGER NOT NULL,
    chain_steps     INTEGER NOT NULL,  -- steps since, and the bytes of their operations
    chain_size      INTEGER NOT NULL,
    fingerprint     TEXT NOT NULL,
    workdir         TEXT NOT NULL,
    started_by      TEXT NOT NULL,
    origin_thread   TEXT NOT NULL DEFAULT '',
    origin_step     INTEGER NOT NULL DEFAULT 0,
    lease_answers   BLOB
) STRICT;

CREATE UNIQUE INDEX threads_by_seq ON threads (seq);
CREATE INDEX threads_by_phase ON threads (phase, due, waiting, thread);
CREATE INDEX threads_by_waiting ON threads (phase, waiting, thread);
CREATE INDEX threads_by_name ON threads (workflow, thread);
CREATE INDEX threads_leased ON threads (lease_until) WHERE lease_until > 0;
CREATE INDEX threads_answered ON threads (answers) WHERE answers > 0;

-- How many threads are in each phase, kept by triggers.
CREATE TABLE phases (
    phase TEXT PRIMARY KEY NOT NULL,
    n     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO phases (phase, n) VALUES ('interrupted', 0), ('stalled', 0), ('failed', 0), ('sleeping', 0),
    ('done', 0), ('rejected', 0), ('stopped', 0), ('cancelled', 0);

-- +goose StatementBegin
CREATE TRIGGER threads_inserted AFTER INSERT ON threads BEGIN
    UPDATE phases SET n = n + 1 WHERE phase = NEW.phase;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER threads_deleted AFTER DELETE ON threads BEGIN
    UPDATE phases SET n = n - 1 WHERE phase = OLD.phase;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER threads_moved AFTER UPDATE OF phase ON threads WHEN OLD.phase <> NEW.phase BEGIN
    UPDATE phases SET n = n - 1 WHERE phase = OLD.phase;
    UPDATE phases SET n = n + 1 WHERE phase = NEW.phase;
END;
-- +goose StatementEnd

-- One row a step. The state comes last, so that a history is read without it: operations on the step before, or with
-- base = step the whole.
CREATE TABLE checkpoints (
    id          INTEGER PRIMARY KEY,
    thread      TEXT NOT NULL,
    step        INTEGER NOT NULL,
    revision    INTEGER NOT NULL,
    base        INTEGER NOT NULL,
    ts          INTEGER NOT NULL,
    size        INTEGER NOT NULL,  -- bytes of the record and of the state
    state_size  INTEGER NOT NULL,
    commit_id   TEXT NOT NULL,
    source      TEXT NOT NULL,
    ended       TEXT NOT NULL,
    workflow    TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    record      TEXT NOT NULL,
    state       BLOB NOT NULL,
    UNIQUE (thread, step)
) STRICT;

CREATE TABLE results (
    id     INTEGER PRIMARY KEY,
    thread TEXT NOT NULL,
    path   TEXT NOT NULL,
    step   INTEGER NOT NULL,
    data   BLOB NOT NULL,
    UNIQUE (thread, path)
) STRICT;

-- The record of who decided what: appended to, never changed.
CREATE TABLE decisions (
    id          INTEGER PRIMARY KEY,
    thread      TEXT NOT NULL,
    n           INTEGER NOT NULL,
    decision    TEXT NOT NULL,
    response    TEXT NOT NULL,
    step        INTEGER NOT NULL,
    revision    INTEGER NOT NULL,
    interrupt   TEXT NOT NULL,
    key         TEXT NOT NULL,
    address     TEXT NOT NULL,
    path        TEXT NOT NULL,
    action      TEXT NOT NULL,
    data        BLOB,
    comment     TEXT NOT NULL,
    reviewer    TEXT NOT NULL,
    decided_at  INTEGER NOT NULL,
    waited      REAL NOT NULL,
    shown_hash  TEXT NOT NULL,
    outcome     TEXT NOT NULL,
    withdraws   TEXT NOT NULL,
    prev_hash   TEXT NOT NULL,
    hash        TEXT NOT NULL,
    UNIQUE (thread, n)
) STRICT;

CREATE UNIQUE INDEX decisions_by_response ON decisions (thread, response) WHERE response <> '';

CREATE TABLE tombstones (
    thread        TEXT PRIMARY KEY NOT NULL,
    seq           INTEGER NOT NULL UNIQUE,
    deleted_at    INTEGER NOT NULL,
    decisions     INTEGER NOT NULL,
    decision_hash TEXT NOT NULL
) STRICT;

CREATE TABLE definitions (
    fingerprint TEXT PRIMARY KEY NOT NULL,
    workflow    TEXT NOT NULL,
    graph       TEXT NOT NULL,
    source      TEXT NOT NULL,
    files       BLOB NOT NULL
) STRICT;

PRAGMA user_version = 1;
