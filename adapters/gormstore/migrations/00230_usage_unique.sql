-- +goose Up
-- A UNIQUE meter counts the values of a property of its reports.
ALTER TABLE usage_meters ADD COLUMN unique_property TEXT NOT NULL DEFAULT '';

-- A hash of the report's value; NULL where every report counts.
ALTER TABLE usage_events ADD COLUMN unique_value BYTEA;

-- The values of a period, each with the report that counts: the quantity of the others is 0. Like the keys of reports
-- they stay when the reports are dropped.
CREATE TABLE usage_unique_values (
    creator_id   TEXT   NOT NULL,
    stream_id    BIGINT NOT NULL,
    period_start BIGINT NOT NULL,
    value        BYTEA  NOT NULL,
    event_id     TEXT   NOT NULL,
    PRIMARY KEY (stream_id, period_start, value)
);

-- +goose Down
DROP TABLE usage_unique_values;
ALTER TABLE usage_events DROP COLUMN unique_value;
ALTER TABLE usage_meters DROP COLUMN unique_property;
