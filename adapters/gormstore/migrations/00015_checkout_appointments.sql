-- +goose Up
ALTER TABLE sessions ADD COLUMN slots JSONB NOT NULL DEFAULT '[]';  -- the times chosen, in the buyer's order
ALTER TABLE payments ADD COLUMN refunded BIGINT NOT NULL DEFAULT 0;

CREATE TABLE sandbox_refunds (
    refund_id  TEXT   PRIMARY KEY,
    payment_id TEXT   NOT NULL REFERENCES sandbox_charges (payment_id),
    currency   TEXT   NOT NULL,
    amount     BIGINT NOT NULL
);

-- +goose Down
DROP TABLE sandbox_refunds;
ALTER TABLE payments DROP COLUMN refunded;
ALTER TABLE sessions DROP COLUMN slots;
