-- +goose Up
SELECT 1; -- PostgreSQL's tables are told how they are written; SQLite has nothing of the kind

-- +goose Down
SELECT 1;
