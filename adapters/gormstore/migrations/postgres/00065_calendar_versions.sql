-- +goose Up
-- How often what decides about a creator's open times has changed; no row, never. Whoever shows them again asks for it.
CREATE TABLE calendar_versions (
    creator_id TEXT   PRIMARY KEY,
    version    BIGINT NOT NULL
) WITH (fillfactor = 20, autovacuum_vacuum_threshold = 200);

-- +goose StatementBegin
CREATE FUNCTION raise_calendar_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO calendar_versions (creator_id, version)
    VALUES (CASE WHEN TG_OP = 'DELETE' THEN OLD.creator_id ELSE NEW.creator_id END, 1)
    ON CONFLICT (creator_id) DO UPDATE SET version = calendar_versions.version + 1;
    RETURN NULL;
END $$;
-- +goose StatementEnd

-- +goose Down
DROP FUNCTION raise_calendar_version();
DROP TABLE calendar_versions;
