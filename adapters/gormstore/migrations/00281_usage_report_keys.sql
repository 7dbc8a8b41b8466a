-- +goose Up
-- The idempotency key beside the report, for lists of reports: usage_keys is found by the key alone. NULL of reports
-- that earlier versions have written.
ALTER TABLE usage_events ADD COLUMN key TEXT;

-- +goose Down
ALTER TABLE usage_events DROP COLUMN key;
