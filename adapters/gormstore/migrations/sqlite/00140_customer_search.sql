-- +goose Up
-- SQLite compares byte by byte: customers_lower_email is enough.

-- +goose Down
