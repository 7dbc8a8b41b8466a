-- +goose Up

-- What integrators are notified of: written in the transaction of its cause, never changed.
CREATE TABLE events (
    id         TEXT    PRIMARY KEY,
    creator_id TEXT    NOT NULL,
    type       TEXT    NOT NULL,
    customer_id          TEXT NOT NULL,      -- as the data names them, '' where it names none
    external_customer_id TEXT NOT NULL,
    livemode   BOOLEAN NOT NULL,
    data       TEXT    NOT NULL,
    created_at BIGINT  NOT NULL,
    position   BIGINT  NOT NULL              -- its place among the account's, in the order of commits
);
CREATE INDEX events_creator_id_position ON events (creator_id, position, id);
-- Half of the events name no customer: such a row costs these indexes nothing.
CREATE INDEX events_customer_id ON events (creator_id, customer_id, position, id) WHERE customer_id <> '';
CREATE INDEX events_external_customer_id ON events (creator_id, external_customer_id, position, id) WHERE external_customer_id <> '';
CREATE INDEX events_creator_id_created_at ON events (creator_id, created_at, id);

-- The last position of each account. Its row is written right before a commit, so positions rise in the order of commits.
CREATE TABLE event_positions (
    creator_id TEXT   PRIMARY KEY,
    last       BIGINT NOT NULL
);

CREATE TABLE webhook_endpoints (
    id              TEXT    PRIMARY KEY,
    creator_id      TEXT    NOT NULL,
    url             TEXT    NOT NULL,
    events          TEXT    NOT NULL,
    enabled         BOOLEAN NOT NULL,
    disabled_reason TEXT    NOT NULL,
    max_in_flight   BIGINT  NOT NULL,
    max_per_second  BIGINT  NOT NULL,        -- 0 = no limit
    secret          BYTEA   NOT NULL,        -- encrypted
    previous_secret BYTEA,                   -- encrypted; signs too until previous_until
    previous_until  BIGINT,
    failures        BIGINT  NOT NULL,
    failing_since   BIGINT,
    open_until      BIGINT,                  -- the circuit breaker
    subscribed_since BIGINT,                 -- account time: from then on every event that the filters match has a delivery
    created_at      BIGINT  NOT NULL,
    revision        BIGINT  NOT NULL
);
CREATE INDEX webhook_endpoints_creator_id ON webhook_endpoints (creator_id, id);

CREATE TABLE deliveries (
    id              TEXT   PRIMARY KEY,
    creator_id      TEXT   NOT NULL,
    event_id        TEXT   NOT NULL,
    event_type      TEXT   NOT NULL,
    endpoint_id     TEXT   NOT NULL,
    status          TEXT   NOT NULL,
    attempt_count   BIGINT NOT NULL,         -- attempts ever made
    round_attempts  BIGINT NOT NULL DEFAULT 0, -- attempts since the delivery was last made due again
    next_attempt_at BIGINT,
    created_at      BIGINT NOT NULL,
    revision        BIGINT NOT NULL
);
CREATE UNIQUE INDEX deliveries_event_id_endpoint_id ON deliveries (event_id, endpoint_id);
CREATE INDEX deliveries_endpoint_id ON deliveries (endpoint_id, id);
CREATE INDEX deliveries_waiting ON deliveries (endpoint_id, id) WHERE status = 'pending';

CREATE TABLE delivery_attempts (
    creator_id    TEXT   NOT NULL,
    delivery_id   TEXT   NOT NULL,
    number        BIGINT NOT NULL,
    at            BIGINT NOT NULL,
    status_code   BIGINT NOT NULL,           -- 0 = no response
    duration_ms   BIGINT NOT NULL,
    error         TEXT   NOT NULL,
    response_body TEXT   NOT NULL
);
CREATE INDEX delivery_attempts_delivery_id ON delivery_attempts (delivery_id);

-- Which snapshot version each customer's integrator was last notified of.
CREATE TABLE access_announcements (
    creator_id           TEXT   NOT NULL,
    external_customer_id TEXT   NOT NULL,
    version              BIGINT NOT NULL,
    at                   BIGINT NOT NULL,
    PRIMARY KEY (creator_id, external_customer_id)
);

-- +goose Down
DROP TABLE access_announcements;
DROP TABLE delivery_attempts;
DROP TABLE deliveries;
DROP TABLE webhook_endpoints;
DROP TABLE event_positions;
DROP TABLE events;
