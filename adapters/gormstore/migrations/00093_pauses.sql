-- +goose Up

-- The end of a pause on the account's clock: the sandbox puts that clock forward, and the tasks behind a pause wait there too.
ALTER TABLE concurrency_pauses ADD COLUMN creator_id TEXT NOT NULL DEFAULT '';
ALTER TABLE concurrency_pauses ADD COLUMN due_until BIGINT NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE concurrency_pauses DROP COLUMN due_until;
ALTER TABLE concurrency_pauses DROP COLUMN creator_id;
