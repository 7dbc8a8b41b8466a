-- +goose Up
-- Each is a JSON object of strings; '' = none.
ALTER TABLE subscriptions ADD COLUMN metadata TEXT NOT NULL DEFAULT '';
ALTER TABLE invoices ADD COLUMN metadata TEXT NOT NULL DEFAULT '';
ALTER TABLE refunds ADD COLUMN metadata TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE refunds DROP COLUMN metadata;
ALTER TABLE invoices DROP COLUMN metadata;
ALTER TABLE subscriptions DROP COLUMN metadata;
