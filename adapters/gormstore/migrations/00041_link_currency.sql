-- +goose Up
ALTER TABLE payment_links ADD COLUMN currency TEXT NOT NULL DEFAULT ''; -- '' = that of the visitor's country

-- +goose Down
ALTER TABLE payment_links DROP COLUMN currency;
