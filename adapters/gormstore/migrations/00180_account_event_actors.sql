-- +goose Up
-- Who did what the access log says, and to what. Lines from before have neither.
ALTER TABLE account_events ADD COLUMN actor_id TEXT NOT NULL DEFAULT '';
ALTER TABLE account_events ADD COLUMN key_name TEXT NOT NULL DEFAULT '';
ALTER TABLE account_events ADD COLUMN object_id TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE account_events DROP COLUMN object_id;
ALTER TABLE account_events DROP COLUMN key_name;
ALTER TABLE account_events DROP COLUMN actor_id;
