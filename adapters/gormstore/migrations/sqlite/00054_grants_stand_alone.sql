-- +goose Up

-- A customer's first grant and first snapshot are written in one transaction, in any order; `sundry verify` finds a
-- grant without a snapshot.
CREATE TABLE grants_alone (
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
    revision             BIGINT NOT NULL
);
INSERT INTO grants_alone SELECT id, creator_id, external_customer_id, source, source_id, checkout_id, plan, entitlements,
    credits, note, started_at, expires_at, ended_at, end_reason, revision FROM grants;
DROP TABLE grants;
ALTER TABLE grants_alone RENAME TO grants;
CREATE UNIQUE INDEX grants_creator_id_source_source_id ON grants (creator_id, source, source_id);
CREATE INDEX grants_customer ON grants (creator_id, external_customer_id, id);
CREATE INDEX grants_checkout_id ON grants (checkout_id);
