-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX CONCURRENTLY IF NOT EXISTS appointments_group ON appointments (creator_id, group_id) WHERE group_id <> '';

-- +goose Down
DROP INDEX CONCURRENTLY IF EXISTS appointments_group;
