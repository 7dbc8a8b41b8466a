-- +goose Up
ALTER TABLE payment_links ADD COLUMN buyer_may_change TEXT NOT NULL DEFAULT '{}'; -- JSON object

-- +goose Down
ALTER TABLE payment_links DROP COLUMN buyer_may_change;
