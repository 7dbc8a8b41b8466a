-- +goose Up
ALTER TABLE api_keys ADD COLUMN scopes TEXT NOT NULL DEFAULT ''; -- separated by commas; '' = all

-- +goose Down
ALTER TABLE api_keys DROP COLUMN scopes;
