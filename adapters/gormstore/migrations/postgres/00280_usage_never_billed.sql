-- +goose NO TRANSACTION
-- +goose Up
-- Periods whose invoice could not ask for them: what is left of them is billed later.
CREATE INDEX CONCURRENTLY IF NOT EXISTS usage_rollups_never_billed ON usage_rollups (stream_id) WHERE invoice_id <> '' AND billed_at IS NULL;

-- +goose Down
DROP INDEX CONCURRENTLY IF EXISTS usage_rollups_never_billed;
