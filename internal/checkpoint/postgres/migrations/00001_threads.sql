-- +goose Up

-- Texts are compared as bytes, whatever the locale of the database. Times are microseconds since 1970; due and waiting are
-- the largest integer where there is none, so that they sort last. lease_until is 0 where nobody holds the lease.

-- The store-wide number of a change. Numbers are taken inside transactions that commit in another order, so a reader may
-- trust only those below the lowest that is still under way: next_seq announces it, settled_seq looks for it.
CREATE SEQUENCE changes AS bigint;

-- One row a thread, all that a listing shows. There is room in its pages, since each step changes it.
CREATE TABLE threads (
    thread          text COLLATE "C" PRIMARY KEY,
    seq             bigint NOT NULL,
    step            bigint NOT NULL,
    revision        bigint NOT NULL,
    phase           text COLLATE "C" NOT NULL,
    lease_until     bigint NOT NULL,
    answers         bigint NOT NULL,
    due             bigint NOT NULL,
    waiting         bigint NOT NULL,
    created         bigint NOT NULL,
    updated         bigint NOT NULL,
    questions       bigint NOT NULL,
    answered        bigint NOT NULL,
    workflow        text COLLATE "C" NOT NULL,
    node            text COLLATE "C" NOT NULL,
    title           text COLLATE "C" NOT NULL,
    assignee        text COLLATE "C" NOT NULL,
    team            text COLLATE "C" NOT NULL,
    priority        text COLLATE "C" NOT NULL,
    claim_by        text COLLATE "C" NOT NULL DEFAULT '',
    claim_until     bigint NOT NULL DEFAULT 0,
    error           text COLLATE "C" NOT NULL,
    lease_token     text COLLATE "C" NOT NULL,
    lease_holder    text COLLATE "C" NOT NULL,
    lease_own       bigint NOT NULL,
    lease_released  text COLLATE "C" NOT NULL DEFAULT '', -- the token that was given back last
    cancel          boolean NOT NULL,
    cancel_by       text COLLATE "C" NOT NULL,
    decisions       bigint NOT NULL,
    decision_hash   text COLLATE "C" NOT NULL,
    results         boolean NOT NULL DEFAULT false,
    base            bigint NOT NULL, -- keyframe that the head is built from
    base_size       bigint NOT NULL,
    chain_steps     bigint NOT NULL, -- steps since, and the bytes of their operations
    chain_size      bigint NOT NULL,
    fingerprint     text COLLATE "C" NOT NULL,
    workdir         text COLLATE "C" NOT NULL,
    started_by      text COLLATE "C" NOT NULL,
    origin_thread   text COLLATE "C" NOT NULL,
    origin_step     bigint NOT NULL,
    lease_answers   bytea
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);

CREATE UNIQUE INDEX threads_by_seq ON threads (seq);
CREATE INDEX threads_by_phase ON threads (phase, due, waiting, thread);
CREATE INDEX threads_by_waiting ON threads (phase, waiting, thread);
CREATE INDEX threads_by_name ON threads (workflow, thread);
CREATE INDEX threads_leased ON threads (lease_until) WHERE lease_until > 0;
CREATE INDEX threads_answered ON threads (answers) WHERE answers > 0;

-- How many threads are in each phase, kept by triggers. A phase has many rows, of which a connection changes one of its
-- own, so that commits beside each other do not wait for each other; their sum is the number.
CREATE TABLE phases (
    phase text COLLATE "C" NOT NULL,
    shard integer NOT NULL,
    n     bigint NOT NULL,
    PRIMARY KEY (phase, shard)
) WITH (fillfactor = 50);

-- +goose StatementBegin
CREATE FUNCTION count_phases() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO phases AS p (phase, shard, n)
    SELECT moved.phase, pg_backend_pid() % 64, sum(moved.n) FROM (
        SELECT OLD.phase, -1 AS n WHERE TG_OP <> 'INSERT'
        UNION ALL
        SELECT NEW.phase, 1 WHERE TG_OP <> 'DELETE'
    ) AS moved GROUP BY moved.phase ORDER BY moved.phase
    ON CONFLICT (phase, shard) DO UPDATE SET n = p.n + excluded.n;
    RETURN NULL;
END
$$;
-- +goose StatementEnd

CREATE TRIGGER threads_counted AFTER INSERT OR DELETE ON threads
    FOR EACH ROW EXECUTE FUNCTION count_phases();
CREATE TRIGGER threads_moved AFTER UPDATE OF phase ON threads
    FOR EACH ROW WHEN (OLD.phase <> NEW.phase) EXECUTE FUNCTION count_phases();

-- next_seq takes a number. It first announces, until its transaction ends, that a number above the last one is coming:
-- whoever then finds the new number taken finds the announcement too, or the transaction ended.
-- +goose StatementBegin
CREATE FUNCTION next_seq() RETURNS bigint LANGUAGE plpgsql VOLATILE SET search_path FROM CURRENT AS $$
BEGIN
    PERFORM pg_advisory_xact_lock_shared('changes'::regclass::oid::integer,
        (coalesce(pg_sequence_last_value('changes'), 0) & 2147483647)::integer);
    RETURN nextval('changes');
END
$$;
-- +goose StatementEnd

-- settled_seq gives the number up to which no further change can appear: to a statement that begins after it. It reads
-- the last number before it looks for announcements, in this order, and an announcement carries the lowest 31 bits.
-- +goose StatementBegin
CREATE FUNCTION settled_seq() RETURNS bigint LANGUAGE plpgsql VOLATILE SET search_path FROM CURRENT AS $$
DECLARE
    newest bigint := coalesce(pg_sequence_last_value('changes'), 0);
    behind bigint;
BEGIN
    SELECT max((newest - objid::bigint) & 2147483647) INTO behind FROM pg_locks
    WHERE locktype = 'advisory' AND classid = 'changes'::regclass::oid AND objsubid = 2
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
        AND (newest - objid::bigint) & 2147483647 < 1073741824; -- else it was announced after newest was read
    RETURN newest - coalesce(behind, 0);
END
$$;
-- +goose StatementEnd

-- One row a step: operations on the step before, or with base = step the whole state.
CREATE TABLE checkpoints (
    thread      text COLLATE "C" NOT NULL,
    step        bigint NOT NULL,
    revision    bigint NOT NULL,
    base        bigint NOT NULL,
    ts          bigint NOT NULL,
    size        bigint NOT NULL, -- bytes of the record and of the state
    state_size  bigint NOT NULL,
    commit_id   text COLLATE "C" NOT NULL,
    source      text COLLATE "C" NOT NULL,
    ended       text COLLATE "C" NOT NULL,
    workflow    text COLLATE "C" NOT NULL,
    fingerprint text COLLATE "C" NOT NULL,
    record      text COLLATE "C" NOT NULL,
    state       bytea NOT NULL,
    PRIMARY KEY (thread, step)
);

CREATE TABLE results (
    id     bigint GENERATED ALWAYS AS IDENTITY,
    thread text COLLATE "C" NOT NULL,
    path   text COLLATE "C" NOT NULL,
    step   bigint NOT NULL,
    data   bytea NOT NULL,
    PRIMARY KEY (thread, path)
);

-- The record of who decided what: appended to, never changed.
CREATE TABLE decisions (
    thread      text COLLATE "C" NOT NULL,
    n           bigint NOT NULL,
    decision    text COLLATE "C" NOT NULL,
    response    text COLLATE "C" NOT NULL,
    step        bigint NOT NULL,
    revision    bigint NOT NULL,
    interrupt   text COLLATE "C" NOT NULL,
    key         text COLLATE "C" NOT NULL,
    address     text COLLATE "C" NOT NULL,
    path        text COLLATE "C" NOT NULL,
    action      text COLLATE "C" NOT NULL,
    data        bytea,
    comment     text COLLATE "C" NOT NULL,
    reviewer    text COLLATE "C" NOT NULL,
    decided_at  bigint NOT NULL,
    waited      double precision NOT NULL,
    shown_hash  text COLLATE "C" NOT NULL,
    outcome     text COLLATE "C" NOT NULL,
    withdraws   text COLLATE "C" NOT NULL,
    prev_hash   text COLLATE "C" NOT NULL,
    hash        text COLLATE "C" NOT NULL,
    PRIMARY KEY (thread, n)
);

CREATE UNIQUE INDEX decisions_by_response ON decisions (thread, response) WHERE response <> '';

CREATE TABLE tombstones (
    thread        text COLLATE "C" PRIMARY KEY,
    seq           bigint NOT NULL UNIQUE,
    deleted_at    bigint NOT NULL,
    decisions     bigint NOT NULL,
    decision_hash text COLLATE "C" NOT NULL
);

CREATE TABLE definitions (
    fingerprint text COLLATE "C" PRIMARY KEY,
    workflow    text COLLATE "C" NOT NULL,
    graph       text COLLATE "C" NOT NULL,
    source      text COLLATE "C" NOT NULL,
    files       bytea NOT NULL
);
