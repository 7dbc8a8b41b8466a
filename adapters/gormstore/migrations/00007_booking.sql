-- +goose Up

-- When and where a creator meets buyers: one row per creator who has set either.
CREATE TABLE scheduling (
    creator_id TEXT PRIMARY KEY,
    hours      TEXT NOT NULL,                -- JSON object: zone, weekly hours, overrides
    meetings   TEXT NOT NULL                 -- JSON object: link provider, address
);

-- A creator's time that a buyer has or had. No two live reservations (held, confirmed) of a creator share a moment of what
-- they block: the migrations of each engine, which follow this one, enforce that. Live is written as a literal in every
-- query, so that the partial index serves it.
CREATE TABLE reservations (
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
CREATE INDEX reservations_live ON reservations (creator_id, blocked_from) WHERE status IN ('held', 'confirmed');
CREATE INDEX reservations_checkout ON reservations (creator_id, checkout_id);

CREATE TABLE appointments (
    id                   TEXT   PRIMARY KEY,
    creator_id           TEXT   NOT NULL,
    listing_id           TEXT   NOT NULL,
    variant_id           TEXT   NOT NULL,
    checkout_id          TEXT   NOT NULL,
    position             BIGINT NOT NULL,
    reservation_id       TEXT   NOT NULL,
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
    buyer_moves          BIGINT NOT NULL,
    sequence             BIGINT NOT NULL,
    cancel_reason        TEXT   NOT NULL,
    canceled_at          BIGINT,
    created_at           BIGINT NOT NULL,
    revision             BIGINT NOT NULL,
    full_refund_hours    BIGINT,                 -- how long before the start canceling returns everything; NULL promises nothing
    canceled_by          TEXT   NOT NULL DEFAULT '',
    refund_decision      TEXT   NOT NULL DEFAULT '', -- what canceling did to the money
    refund_id            TEXT   NOT NULL DEFAULT ''
);
CREATE UNIQUE INDEX appointments_creator_id_checkout_id_position ON appointments (creator_id, checkout_id, position);
CREATE UNIQUE INDEX appointments_reservation_id ON appointments (reservation_id);

-- What the list of appointments, its filters, and the creator's calendar read by.
CREATE INDEX appointments_newest ON appointments (creator_id, id);
CREATE INDEX appointments_customer ON appointments (creator_id, external_customer_id, id);
CREATE INDEX appointments_customer_id ON appointments (customer_id, id);
CREATE INDEX appointments_times ON appointments (creator_id, starts_at, id);
CREATE INDEX appointments_listing ON appointments (creator_id, listing_id, id);
CREATE INDEX appointments_status ON appointments (creator_id, status, id);

-- How often a creator has replaced the address of their calendar feed; no row, never.
CREATE TABLE calendar_feeds (
    creator_id TEXT   PRIMARY KEY,
    version    BIGINT NOT NULL
);

-- The other calendars of a creator, as their settings list them, and what reading each last came to.
CREATE TABLE busy_calendars (
    creator_id TEXT   NOT NULL,
    url        TEXT   NOT NULL,
    position   BIGINT NOT NULL,
    read_at    BIGINT,                       -- when it was last read with success
    failed_at  BIGINT,                       -- when it last could not be read, after read_at or with none
    failure    TEXT   NOT NULL,              -- why
    PRIMARY KEY (creator_id, url)
);

-- When they are busy by each, merged: intervals of one calendar do not overlap.
CREATE TABLE busy_times (
    creator_id TEXT   NOT NULL,
    url        TEXT   NOT NULL,
    starts_at  BIGINT NOT NULL,
    ends_at    BIGINT NOT NULL,
    PRIMARY KEY (creator_id, url, starts_at)
);
CREATE INDEX busy_times_ends ON busy_times (creator_id, ends_at);

-- +goose Down
DROP TABLE busy_times;
DROP TABLE busy_calendars;
DROP TABLE calendar_feeds;
DROP TABLE appointments;
DROP TABLE reservations;
DROP TABLE scheduling;
