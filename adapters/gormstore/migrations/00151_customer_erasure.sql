-- +goose Up
ALTER TABLE customers ADD COLUMN erased_at BIGINT; -- NULL unless what was known of the person is erased

-- +goose Down
ALTER TABLE customers DROP COLUMN erased_at;
