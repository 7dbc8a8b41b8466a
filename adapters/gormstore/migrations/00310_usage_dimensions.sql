-- +goose Up
-- The properties of reports by whose values use is told apart: a JSON list, null of a meter without.
ALTER TABLE usage_meters ADD COLUMN dimensions TEXT NOT NULL DEFAULT 'null';

-- The values that a report has of them: a JSON object with its keys in order, NULL for none.
ALTER TABLE usage_events ADD COLUMN dimensions TEXT;

-- The combinations of values that a stream has, in the order in which they came.
CREATE TABLE usage_combinations (
    creator_id TEXT   NOT NULL,
    stream_id  BIGINT NOT NULL,
    number     BIGINT NOT NULL,
    dimensions TEXT   NOT NULL,
    PRIMARY KEY (stream_id, number)
);

-- What was billed of a period by the rates of its price: a JSON list of quantities and amounts, null without rates.
ALTER TABLE usage_rollups ADD COLUMN billed_parts TEXT NOT NULL DEFAULT 'null';

-- Everything before it is in usage_parts. Earlier versions count, and leave it behind position.
ALTER TABLE usage_watermark ADD COLUMN divided BIGINT NOT NULL DEFAULT 0;
UPDATE usage_watermark SET divided = position;

-- +goose Down
ALTER TABLE usage_watermark DROP COLUMN divided;
ALTER TABLE usage_rollups DROP COLUMN billed_parts;
DROP TABLE usage_combinations;
ALTER TABLE usage_events DROP COLUMN dimensions;
ALTER TABLE usage_meters DROP COLUMN dimensions;
