-- +goose Up
SELECT 1; -- the primary key of usage_events is the place of a report

-- +goose Down
SELECT 1;
