-- +goose Up
-- The use of a meter by day (UTC, the account's clock): a row for what all its subscriptions used, with the stream 0,
-- where the meter adds up, and a row for each stream where it takes the highest or the last value.
CREATE TABLE usage_days (
    meter_id    TEXT    NOT NULL,
    day         INTEGER NOT NULL,
    stream_id   BIGINT  NOT NULL,
    creator_id  TEXT    NOT NULL,
    aggregation TEXT    NOT NULL,
    quantity    TEXT    NOT NULL,
    last_at     BIGINT,                  -- of LAST, as in usage_rollups
    last_id     TEXT    NOT NULL,
    reports     BIGINT  NOT NULL,
    PRIMARY KEY (meter_id, day, stream_id)
);
CREATE INDEX usage_days_creator_id ON usage_days (creator_id, day);

-- Everything before it is in usage_days. What there is already is counted by the next steps.
ALTER TABLE usage_watermark ADD COLUMN daily BIGINT NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE usage_watermark DROP COLUMN daily;
DROP TABLE usage_days;
