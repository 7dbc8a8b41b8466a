-- +goose Up
-- Who canceled an appointment and what that did to the money. full_refund_hours is what the buyer was promised: how long
-- before the start canceling returns everything; NULL promises nothing.
ALTER TABLE appointments ADD COLUMN full_refund_hours BIGINT;
ALTER TABLE appointments ADD COLUMN canceled_by TEXT NOT NULL DEFAULT '';
ALTER TABLE appointments ADD COLUMN refund_decision TEXT NOT NULL DEFAULT '';
ALTER TABLE appointments ADD COLUMN refund_id TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE appointments DROP COLUMN refund_id;
ALTER TABLE appointments DROP COLUMN refund_decision;
ALTER TABLE appointments DROP COLUMN canceled_by;
ALTER TABLE appointments DROP COLUMN full_refund_hours;
