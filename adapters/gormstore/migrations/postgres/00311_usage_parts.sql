-- +goose Up
-- The use of a period by combination of values: by its number, 0 for use without values and beyond the combinations that
-- a stream may have.
CREATE TABLE usage_parts (
    stream_id    BIGINT  NOT NULL,
    period_start BIGINT  NOT NULL,
    number       BIGINT  NOT NULL,
    creator_id   TEXT    NOT NULL,
    quantity     NUMERIC NOT NULL,
    reports      BIGINT  NOT NULL,
    changed      BOOLEAN NOT NULL,       -- since it was billed
    PRIMARY KEY (stream_id, period_start, number)
);
CREATE INDEX usage_parts_changed ON usage_parts (stream_id, period_start) WHERE changed;

-- +goose Down
DROP TABLE usage_parts;
