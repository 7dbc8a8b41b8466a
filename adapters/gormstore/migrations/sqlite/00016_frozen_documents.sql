-- SQLite keeps documents as text anyway.
-- +goose Up
ALTER TABLE sessions ADD COLUMN session_count BIGINT NOT NULL DEFAULT 0; -- how many appointments are sold; 0 for what is not booked

-- +goose Down
ALTER TABLE sessions DROP COLUMN session_count;
