-- +goose Up
ALTER TABLE creators ADD COLUMN embed_origins TEXT NOT NULL DEFAULT ''; -- sites that may frame checkouts, by spaces

-- +goose Down
ALTER TABLE creators DROP COLUMN embed_origins;
