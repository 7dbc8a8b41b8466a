-- +goose Up
ALTER TABLE customers ADD COLUMN metadata TEXT NOT NULL DEFAULT ''; -- a JSON object of strings; '' = none

-- +goose Down
ALTER TABLE customers DROP COLUMN metadata;
