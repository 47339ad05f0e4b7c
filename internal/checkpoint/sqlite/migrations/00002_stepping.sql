-- +goose Up

-- A thread is stepping while its last change was a step after which it runs on. Its seq is then the id of that step's row,
-- so the newest seq is found without an index that each step would have to rewrite: a page less to write and to wait for.
ALTER TABLE threads ADD COLUMN stepping INTEGER NOT NULL DEFAULT 0;

DROP INDEX threads_by_seq;
CREATE UNIQUE INDEX threads_by_seq ON threads (seq) WHERE stepping = 0;
CREATE INDEX threads_stepping ON threads (id) WHERE stepping = 1;

PRAGMA user_version = 2;
