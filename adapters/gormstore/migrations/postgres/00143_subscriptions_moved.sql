-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX CONCURRENTLY IF NOT EXISTS subscriptions_moved ON subscriptions (creator_id, id) WHERE last_movement > rolled;

-- +goose Down
DROP INDEX CONCURRENTLY IF EXISTS subscriptions_moved;
