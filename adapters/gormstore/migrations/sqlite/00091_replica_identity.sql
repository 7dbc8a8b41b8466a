-- +goose Up
-- Of PostgreSQL.

-- +goose Down
