-- +goose Up

-- What each customer may use, as it is served: one row by key is the whole read.
CREATE TABLE access_snapshots (
    creator_id           TEXT   NOT NULL,
    external_customer_id TEXT   NOT NULL,
    version              BIGINT NOT NULL,
    etag                 TEXT   NOT NULL,
    body                 BYTEA  NOT NULL,
    next_end             BIGINT,             -- when the next grant expires, account time
    PRIMARY KEY (creator_id, external_customer_id)
);

-- Why each version came to be.
CREATE TABLE access_versions (
    creator_id           TEXT   NOT NULL,
    external_customer_id TEXT   NOT NULL,
    version              BIGINT NOT NULL,
    changed              TEXT   NOT NULL,    -- JSON: the members that differ
    cause                TEXT   NOT NULL,
    cause_id             TEXT   NOT NULL,
    at                   BIGINT NOT NULL,
    PRIMARY KEY (creator_id, external_customer_id, version)
);

CREATE TABLE grants (
    id                   TEXT   PRIMARY KEY,
    creator_id           TEXT   NOT NULL,
    external_customer_id TEXT   NOT NULL,
    source               TEXT   NOT NULL,
    source_id            TEXT   NOT NULL,
    checkout_id          TEXT   NOT NULL,    -- '' = not bought
    plan                 TEXT   NOT NULL,    -- JSON; null = loose entitlements and credits
    entitlements         TEXT   NOT NULL,    -- JSON
    credits              TEXT   NOT NULL,    -- JSON, with what is used of each
    note                 TEXT   NOT NULL,
    started_at           BIGINT NOT NULL,
    expires_at           BIGINT,
    ended_at             BIGINT,
    end_reason           TEXT   NOT NULL,    -- '' = it counts
    revision             BIGINT NOT NULL,
    FOREIGN KEY (creator_id, external_customer_id) REFERENCES access_snapshots (creator_id, external_customer_id)
);
-- What grants once never grants twice.
CREATE UNIQUE INDEX grants_creator_id_source_source_id ON grants (creator_id, source, source_id);
CREATE INDEX grants_customer ON grants (creator_id, external_customer_id, id);

CREATE TABLE credit_uses (
    creator_id           TEXT   NOT NULL,
    external_customer_id TEXT   NOT NULL,
    idempotency_key      TEXT   NOT NULL,
    credit_key           TEXT   NOT NULL,
    asked_unit           TEXT   NOT NULL,    -- '' = none was named
    amount               BIGINT NOT NULL,
    unit                 TEXT   NOT NULL,
    granted              BIGINT NOT NULL,    -- the response, as of right after the use
    used                 BIGINT NOT NULL,
    balance              BIGINT NOT NULL,
    version              BIGINT NOT NULL,
    at                   BIGINT NOT NULL,
    PRIMARY KEY (creator_id, external_customer_id, idempotency_key)
);

CREATE INDEX grants_checkout_id ON grants (checkout_id);

-- +goose Down
DROP TABLE credit_uses;
DROP TABLE grants;
DROP TABLE access_versions;
DROP TABLE access_snapshots;
