-- Times are BIGINT milliseconds since 1970 UTC on both engines, so that they compare and sort alike.
-- Unique indexes are named <table>_<column>_<column>: the store derives the name from SQLite's error text.
-- +goose Up

-- Background work: a row first, written in the transaction that makes it necessary.
CREATE TABLE tasks (
    id          TEXT   PRIMARY KEY,          -- kind:subject
    kind        TEXT   NOT NULL,
    subject     TEXT   NOT NULL,
    class       TEXT   NOT NULL,             -- which workers run it
    creator_id  TEXT   NOT NULL DEFAULT '',  -- whose clock due_at is on; '' = the platform's
    due_at      BIGINT NOT NULL,             -- account time
    run_at      BIGINT NOT NULL,             -- the same instant in real time, or when to try again after a failure: what the relay scans
    lease_until BIGINT NOT NULL DEFAULT 0,   -- real time
    token       BIGINT NOT NULL DEFAULT 1,
    attempts    BIGINT NOT NULL DEFAULT 0,
    last_error  TEXT   NOT NULL DEFAULT ''
);
CREATE INDEX tasks_class_run_at ON tasks (class, run_at);
CREATE INDEX tasks_creator_due ON tasks (creator_id, due_at, id);

CREATE TABLE idempotency_keys (
    creator_id  TEXT   NOT NULL,
    route       TEXT   NOT NULL,
    key         TEXT   NOT NULL,
    body_hash   BYTEA  NOT NULL,
    status      BIGINT NOT NULL,             -- 0 = under way
    body        BYTEA  NOT NULL,
    lease_until BIGINT NOT NULL,
    created_at  BIGINT NOT NULL,
    PRIMARY KEY (creator_id, route, key)
);
CREATE INDEX idempotency_keys_created_at ON idempotency_keys (created_at);

-- How far a sandbox account's clock runs ahead of real time.
CREATE TABLE clock_offsets (
    creator_id TEXT   PRIMARY KEY,
    offset_ms  BIGINT NOT NULL DEFAULT 0,
    holder     TEXT   NOT NULL DEFAULT '',   -- who is moving it
    held_until BIGINT NOT NULL DEFAULT 0     -- real time
);

CREATE TABLE document_numbers (
    series TEXT   PRIMARY KEY,
    last   BIGINT NOT NULL
);

-- +goose Down
DROP TABLE document_numbers;
DROP TABLE clock_offsets;
DROP TABLE idempotency_keys;
DROP TABLE tasks;
