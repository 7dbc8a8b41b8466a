-- Times are BIGINT milliseconds since 1970 UTC on both engines, so that they compare and sort alike.
-- Unique indexes are named <table>_<column>_<column>: the store derives the name from SQLite's error text.
-- +goose Up
-- What the database belongs to (environment, secret_check), and when it was last found writable.
CREATE TABLE deployment (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
);

-- Background work: a row first, written in the transaction that makes it necessary.
CREATE TABLE tasks (
    id              TEXT   PRIMARY KEY,          -- kind:subject
    kind            TEXT   NOT NULL,
    subject         TEXT   NOT NULL,
    class           TEXT   NOT NULL,             -- which workers run it
    creator_id      TEXT   NOT NULL DEFAULT '',  -- whose clock due_at is on; '' = the platform's
    due_at          BIGINT NOT NULL,             -- account time
    run_at          BIGINT NOT NULL,             -- the same instant in real time, or when to try again after a failure: what the relay scans
    lease_until     BIGINT NOT NULL DEFAULT 0,   -- real time
    token           BIGINT NOT NULL DEFAULT 1,
    attempts        BIGINT NOT NULL DEFAULT 0,
    last_error      TEXT   NOT NULL DEFAULT '',
    concurrency_key TEXT   NOT NULL DEFAULT '' -- tasks of one key share limits; '' = none
);
CREATE INDEX tasks_class_key_run_at ON tasks (class, concurrency_key, run_at, id);
CREATE INDEX tasks_creator_due ON tasks (creator_id, due_at, id);
-- An account's failed tasks are listed. Tasks that succeed never enter it.
CREATE INDEX tasks_creator_failed ON tasks (creator_id, due_at, id) WHERE last_error <> '';

-- Keys of which no task is claimed until then, and one at a time from then on until their row is gone.
CREATE TABLE concurrency_pauses (
    concurrency_key TEXT   PRIMARY KEY,
    paused_until    BIGINT NOT NULL,          -- real time
    creator_id      TEXT   NOT NULL DEFAULT '',
    due_until       BIGINT NOT NULL DEFAULT 0 -- the same on the account's clock, which the sandbox puts forward
);

-- What keys may use whose limits are not the default.
CREATE TABLE concurrency_limits (
    concurrency_key TEXT   PRIMARY KEY,
    max_running     BIGINT NOT NULL,         -- tasks leased at a time
    step_ms         BIGINT NOT NULL          -- time that a claimed task uses up of the rate; 0 = no rate
);

-- How much of its rate each key has used: real time, one step ahead for each task claimed. Only claims write here.
CREATE TABLE concurrency_rates (
    concurrency_key TEXT   PRIMARY KEY,
    spent_until     BIGINT NOT NULL
);

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

-- The latest API requests of accounts: what the requestId of an error leads to. Written beside the requests, in batches.
CREATE TABLE api_requests (
    id          TEXT   PRIMARY KEY,          -- begins with the time
    creator_id  TEXT   NOT NULL,
    method      TEXT   NOT NULL,
    path        TEXT   NOT NULL,             -- without its query
    status      BIGINT NOT NULL,
    code        TEXT   NOT NULL,             -- of the error, '' = none
    duration_us BIGINT NOT NULL,
    api_key     TEXT   NOT NULL,             -- its beginning and its last characters
    at          BIGINT NOT NULL
);
CREATE INDEX api_requests_creator_id ON api_requests (creator_id, id);

-- Pictures that creators uploaded, as they are served: a row never changes but for its release.
CREATE TABLE images (
    id           TEXT   PRIMARY KEY,
    creator_id   TEXT   NOT NULL,
    content_type TEXT   NOT NULL,
    width        BIGINT NOT NULL,
    height       BIGINT NOT NULL,
    body         BYTEA  NOT NULL,
    created_at   BIGINT NOT NULL,
    released_at  BIGINT                      -- since when nobody shows it; NULL while somebody does
);
CREATE INDEX images_creator_id ON images (creator_id);
CREATE INDEX images_released_at ON images (released_at);

-- +goose Down
DROP TABLE images;
DROP TABLE api_requests;
DROP TABLE idempotency_keys;
DROP TABLE concurrency_rates;
DROP TABLE concurrency_limits;
DROP TABLE concurrency_pauses;
DROP TABLE tasks;
DROP TABLE deployment;
