-- +goose Up
-- The places of reports in the order of commits. They were the ids of transactions, which begin anew on another server.
CREATE SEQUENCE usage_positions AS BIGINT;
SELECT setval('usage_positions', GREATEST(
    (SELECT MAX(position) FROM usage_events), (SELECT MAX(position) FROM usage_keys),
    (SELECT MAX(GREATEST(position, checked)) FROM usage_watermark), 1));

-- +goose Down
DROP SEQUENCE usage_positions;
