-- +goose Up
-- The processor's own id of a refund that was made there without us, such as in its dashboard; '' for any other.
ALTER TABLE refunds ADD COLUMN processor_id TEXT NOT NULL DEFAULT '';
CREATE UNIQUE INDEX refunds_processor_id ON refunds (processor_id) WHERE processor_id <> '';

-- +goose Down
DROP INDEX refunds_processor_id;
ALTER TABLE refunds DROP COLUMN processor_id;
