-- +goose Up
ALTER TABLE creators ADD COLUMN notify_orders BOOLEAN NOT NULL DEFAULT TRUE; -- mails about new orders
ALTER TABLE creators ADD COLUMN notify_payouts BOOLEAN NOT NULL DEFAULT TRUE; -- mails about payouts that were paid

-- +goose Down
ALTER TABLE creators DROP COLUMN notify_orders;
ALTER TABLE creators DROP COLUMN notify_payouts;
