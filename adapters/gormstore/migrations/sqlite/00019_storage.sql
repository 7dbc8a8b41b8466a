-- +goose Up
SELECT 1; -- PostgreSQL's tables have storage parameters; SQLite has nothing of the kind

-- +goose Down
SELECT 1;
