-- +goose Up
-- The function finds its table also where a connection looks in no schema, as on the workers of Citus.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION raise_calendar_version() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO calendar_versions (creator_id, version)
    VALUES (CASE WHEN TG_OP = 'DELETE' THEN OLD.creator_id ELSE NEW.creator_id END, 1)
    ON CONFLICT (creator_id) DO UPDATE SET version = calendar_versions.version + 1;
    RETURN NULL;
END $$;
-- +goose StatementEnd

-- +goose Down
ALTER FUNCTION raise_calendar_version() RESET search_path;
