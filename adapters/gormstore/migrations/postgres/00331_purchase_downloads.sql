-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX CONCURRENTLY IF NOT EXISTS file_downloads_checkout_id ON file_downloads (checkout_id);

-- +goose Down
DROP INDEX CONCURRENTLY IF EXISTS file_downloads_checkout_id;
