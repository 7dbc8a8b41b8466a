-- +goose Up
CREATE INDEX subscriptions_moved ON subscriptions (creator_id, id) WHERE last_movement > rolled;

-- +goose Down
DROP INDEX subscriptions_moved;
