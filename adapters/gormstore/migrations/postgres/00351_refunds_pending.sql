-- +goose NO TRANSACTION
-- +goose Up
-- Balances reserve refunds on their way, which are few among all of an account's.
CREATE INDEX CONCURRENTLY IF NOT EXISTS refunds_pending ON refunds (creator_id) WHERE status = 'pending';

-- +goose Down
DROP INDEX CONCURRENTLY IF EXISTS refunds_pending;
