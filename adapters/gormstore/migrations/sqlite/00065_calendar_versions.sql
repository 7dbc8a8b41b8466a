-- +goose Up
-- How often what decides about a creator's open times has changed; no row, never. Whoever shows them again asks for it.
CREATE TABLE calendar_versions (
    creator_id TEXT   PRIMARY KEY,
    version    BIGINT NOT NULL
);

-- +goose Down
DROP TABLE calendar_versions;
