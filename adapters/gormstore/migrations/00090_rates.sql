-- +goose Up
-- How much of its rate a key has used: real time, one step_ms ahead for each task claimed. Until now it was in
-- concurrency_rates, which nothing reads any more.
ALTER TABLE concurrency_limits ADD COLUMN spent_until BIGINT NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE concurrency_limits DROP COLUMN spent_until;
