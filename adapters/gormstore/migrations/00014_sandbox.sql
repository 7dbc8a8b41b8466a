-- +goose Up

-- How far a sandbox account's clock runs ahead of real time.
CREATE TABLE clock_offsets (
    creator_id TEXT   PRIMARY KEY,
    offset_ms  BIGINT NOT NULL DEFAULT 0,
    holder     TEXT   NOT NULL DEFAULT '',   -- who is moving it
    held_until BIGINT NOT NULL DEFAULT 0     -- real time
);

-- The sandbox processor's own memory: what a real one would keep on its side.
CREATE TABLE sandbox_charges (
    payment_id  TEXT   PRIMARY KEY,
    checkout_id TEXT   NOT NULL,
    creator_id  TEXT   NOT NULL,
    method      TEXT   NOT NULL,
    outcome     TEXT   NOT NULL,
    offset_ms   BIGINT NOT NULL
);
CREATE INDEX sandbox_charges_checkout_id ON sandbox_charges (checkout_id);

CREATE TABLE sandbox_refunds (
    refund_id  TEXT   PRIMARY KEY,
    payment_id TEXT   NOT NULL REFERENCES sandbox_charges (payment_id),
    currency   TEXT   NOT NULL,
    amount     BIGINT NOT NULL
);

CREATE TABLE sandbox_disputes (
    id         TEXT   PRIMARY KEY,
    payment_id TEXT   NOT NULL,
    creator_id TEXT   NOT NULL,
    currency   TEXT   NOT NULL,
    amount     BIGINT NOT NULL,
    status     TEXT   NOT NULL,
    respond_by BIGINT NOT NULL
);

-- +goose Down
DROP TABLE sandbox_disputes;
DROP TABLE sandbox_refunds;
DROP TABLE sandbox_charges;
DROP TABLE clock_offsets;
