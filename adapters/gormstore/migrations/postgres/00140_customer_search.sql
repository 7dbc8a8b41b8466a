-- +goose NO TRANSACTION
-- +goose Up
-- Addresses are searched for by what they begin with: byte by byte, which is no language's order.
CREATE INDEX CONCURRENTLY IF NOT EXISTS customers_email_bytes ON customers (creator_id, LOWER(email) COLLATE "C", id);

-- +goose Down
DROP INDEX CONCURRENTLY IF EXISTS customers_email_bytes;
