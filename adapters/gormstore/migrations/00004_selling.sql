-- +goose Up
CREATE TABLE customers (
    id                   TEXT   PRIMARY KEY,
    creator_id           TEXT   NOT NULL,
    external_customer_id TEXT,               -- NULL for a buyer whom the integrator did not name
    email                TEXT   NOT NULL,
    display_name         TEXT   NOT NULL,
    created_at           BIGINT NOT NULL
);
CREATE UNIQUE INDEX customers_creator_id_external_customer_id ON customers (creator_id, external_customer_id);

CREATE TABLE sessions (
    id                   TEXT   PRIMARY KEY,
    creator_id           TEXT   NOT NULL,
    listing_id           TEXT   NOT NULL,
    offer                JSONB  NOT NULL,    -- what is bought, frozen when the session was made
    catalog              JSONB  NOT NULL,    -- how the integrator named it; null by listing id
    payment_link_id      TEXT   NOT NULL,
    external_customer_id TEXT   NOT NULL,
    email                TEXT   NOT NULL,
    buyer                JSONB  NOT NULL,
    ui_mode              TEXT   NOT NULL,
    success_url          TEXT   NOT NULL,
    cancel_url           TEXT   NOT NULL,
    reference_id         TEXT   NOT NULL,
    metadata             JSONB  NOT NULL,
    utm                  JSONB  NOT NULL,
    status               TEXT   NOT NULL,
    currency             TEXT   NOT NULL,
    subtotal             BIGINT NOT NULL,
    discount             BIGINT NOT NULL,
    tax                  BIGINT NOT NULL,
    total                BIGINT NOT NULL,
    attempts             BIGINT NOT NULL,
    live_payment_id      TEXT   NOT NULL,    -- '' when no attempt is unsettled
    last_error           JSONB  NOT NULL,
    payment_id           TEXT   NOT NULL,    -- '' until paid, as are the next three
    customer_id          TEXT   NOT NULL,
    subscription_id      TEXT   NOT NULL,
    receipt_number       TEXT   NOT NULL,
    paid_at              BIGINT,
    expires_at           BIGINT NOT NULL,
    created_at           BIGINT NOT NULL,
    revision             BIGINT NOT NULL
);
CREATE INDEX sessions_creator_id ON sessions (creator_id, id);

CREATE TABLE payments (
    id             TEXT   PRIMARY KEY,
    creator_id     TEXT   NOT NULL,
    checkout_id    TEXT   NOT NULL REFERENCES sessions (id),
    currency       TEXT   NOT NULL,
    amount         BIGINT NOT NULL,
    status         TEXT   NOT NULL,
    refusal        JSONB  NOT NULL,
    method         TEXT   NOT NULL,
    brand          TEXT   NOT NULL,
    last4          TEXT   NOT NULL,
    save_card      BOOLEAN NOT NULL,
    created_at     BIGINT NOT NULL,
    settled_at     BIGINT,
    revision       BIGINT NOT NULL
);
CREATE INDEX payments_checkout_id ON payments (checkout_id);
CREATE INDEX payments_live ON payments (creator_id, id) WHERE settled_at IS NULL;

CREATE TABLE subscriptions (
    id                   TEXT   PRIMARY KEY,
    creator_id           TEXT   NOT NULL,
    customer_id          TEXT   NOT NULL REFERENCES customers (id),
    external_customer_id TEXT   NOT NULL,
    checkout_id          TEXT   NOT NULL,
    offer                JSONB  NOT NULL,
    status               TEXT   NOT NULL,
    payment_method       TEXT   NOT NULL,
    anchor               BIGINT NOT NULL,
    current_period_start BIGINT NOT NULL,
    current_period_end   BIGINT NOT NULL,
    trial_ends_at        BIGINT,
    started_at           BIGINT NOT NULL,
    ended_at             BIGINT,
    revision             BIGINT NOT NULL
);
CREATE UNIQUE INDEX subscriptions_checkout_id ON subscriptions (checkout_id);
CREATE INDEX subscriptions_creator_id ON subscriptions (creator_id, id);

-- The sandbox processor's own memory: what a real one would keep on its side.
CREATE TABLE sandbox_charges (
    payment_id  TEXT   PRIMARY KEY,
    checkout_id TEXT   NOT NULL,
    creator_id  TEXT   NOT NULL,
    method      TEXT   NOT NULL,
    outcome     JSONB  NOT NULL,
    offset_ms   BIGINT NOT NULL
);
CREATE INDEX sandbox_charges_checkout_id ON sandbox_charges (checkout_id);

-- +goose Down
DROP TABLE sandbox_charges;
DROP TABLE subscriptions;
DROP TABLE payments;
DROP TABLE sessions;
DROP TABLE customers;
