-- Documents that are written once and read whole: nothing looks inside them here, so taking them apart on the way in costs much and
-- gives nothing. Text also keeps their bytes.
-- +goose Up
ALTER TABLE sessions
    ALTER COLUMN offer TYPE TEXT USING offer::text, ALTER COLUMN catalog TYPE TEXT USING catalog::text,
    ALTER COLUMN buyer TYPE TEXT USING buyer::text, ALTER COLUMN metadata TYPE TEXT USING metadata::text,
    ALTER COLUMN utm TYPE TEXT USING utm::text, ALTER COLUMN last_error TYPE TEXT USING last_error::text,
    ALTER COLUMN slots DROP DEFAULT, ALTER COLUMN slots TYPE TEXT USING slots::text, ALTER COLUMN slots SET DEFAULT '[]';
ALTER TABLE payments ALTER COLUMN refusal TYPE TEXT USING refusal::text;
ALTER TABLE sandbox_charges ALTER COLUMN outcome TYPE TEXT USING outcome::text;
ALTER TABLE subscriptions ALTER COLUMN offer TYPE TEXT USING offer::text;
ALTER TABLE events ALTER COLUMN data TYPE TEXT USING data::text;
ALTER TABLE webhook_endpoints ALTER COLUMN events TYPE TEXT USING events::text;
ALTER TABLE mails ALTER COLUMN data TYPE TEXT USING data::text;
ALTER TABLE sessions ADD COLUMN session_count BIGINT NOT NULL DEFAULT 0; -- how many appointments are sold; 0 for what is not booked

-- +goose Down
ALTER TABLE sessions DROP COLUMN session_count;
ALTER TABLE mails ALTER COLUMN data TYPE JSONB USING data::jsonb;
ALTER TABLE webhook_endpoints ALTER COLUMN events TYPE JSONB USING events::jsonb;
ALTER TABLE events ALTER COLUMN data TYPE JSONB USING data::jsonb;
ALTER TABLE subscriptions ALTER COLUMN offer TYPE JSONB USING offer::jsonb;
ALTER TABLE sandbox_charges ALTER COLUMN outcome TYPE JSONB USING outcome::jsonb;
ALTER TABLE payments ALTER COLUMN refusal TYPE JSONB USING refusal::jsonb;
ALTER TABLE sessions
    ALTER COLUMN slots DROP DEFAULT, ALTER COLUMN slots TYPE JSONB USING slots::jsonb, ALTER COLUMN slots SET DEFAULT '[]',
    ALTER COLUMN last_error TYPE JSONB USING last_error::jsonb, ALTER COLUMN utm TYPE JSONB USING utm::jsonb,
    ALTER COLUMN metadata TYPE JSONB USING metadata::jsonb, ALTER COLUMN buyer TYPE JSONB USING buyer::jsonb,
    ALTER COLUMN catalog TYPE JSONB USING catalog::jsonb, ALTER COLUMN offer TYPE JSONB USING offer::jsonb;
