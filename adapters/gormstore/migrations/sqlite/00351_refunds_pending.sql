-- +goose Up
-- Balances reserve refunds on their way, which are few among all of an account's.
CREATE INDEX refunds_pending ON refunds (creator_id) WHERE status = 'pending';

-- +goose Down
DROP INDEX refunds_pending;
