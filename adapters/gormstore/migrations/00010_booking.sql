-- +goose Up

-- When and where a creator meets buyers: one row per creator who has said either.
CREATE TABLE scheduling (
    creator_id TEXT PRIMARY KEY,
    hours      TEXT NOT NULL,                -- JSON object: zone, weekly hours, overrides
    meetings   TEXT NOT NULL                 -- JSON object: link provider, address
);

-- A creator's time that a buyer has or had. No two live claims (held, confirmed) of a creator share a moment of what
-- they block: the migrations of each engine, which follow this one, see to that. Live is written as a literal in every
-- query, so that the partial index serves it.
CREATE TABLE claims (
    id            TEXT   PRIMARY KEY,
    creator_id    TEXT   NOT NULL,
    listing_id    TEXT   NOT NULL,
    variant_id    TEXT   NOT NULL,
    checkout_id   TEXT   NOT NULL,
    position      BIGINT NOT NULL,           -- in the pack, from 0
    status        TEXT   NOT NULL,
    starts_at     BIGINT NOT NULL,
    ends_at       BIGINT NOT NULL,
    blocked_from  BIGINT NOT NULL,           -- the session with its buffers
    blocked_until BIGINT NOT NULL,
    timezone      TEXT   NOT NULL,
    delivery_mode TEXT   NOT NULL,
    created_at    BIGINT NOT NULL,
    revision      BIGINT NOT NULL,
    CHECK (blocked_from < blocked_until)
);
CREATE INDEX claims_live ON claims (creator_id, blocked_from) WHERE status IN ('held', 'confirmed');
CREATE INDEX claims_checkout ON claims (creator_id, checkout_id);

CREATE TABLE appointments (
    id                   TEXT   PRIMARY KEY,
    creator_id           TEXT   NOT NULL,
    listing_id           TEXT   NOT NULL,
    variant_id           TEXT   NOT NULL,
    checkout_id          TEXT   NOT NULL,
    position             BIGINT NOT NULL,
    claim_id             TEXT   NOT NULL,
    external_customer_id TEXT   NOT NULL,
    customer_id          TEXT   NOT NULL,
    title                TEXT   NOT NULL,
    status               TEXT   NOT NULL,
    starts_at            BIGINT NOT NULL,
    ends_at              BIGINT NOT NULL,
    timezone             TEXT   NOT NULL,
    delivery_mode        TEXT   NOT NULL,
    meeting_url          TEXT   NOT NULL,
    address              TEXT   NOT NULL,
    sequence             BIGINT NOT NULL,
    cancel_reason        TEXT   NOT NULL,
    canceled_at          BIGINT,
    created_at           BIGINT NOT NULL,
    revision             BIGINT NOT NULL
);
CREATE UNIQUE INDEX appointments_creator_id_checkout_id_position ON appointments (creator_id, checkout_id, position);
CREATE UNIQUE INDEX appointments_claim_id ON appointments (claim_id);

-- +goose Down
DROP TABLE appointments;
DROP TABLE claims;
DROP TABLE scheduling;
