-- +goose Up
ALTER TABLE payment_methods ADD COLUMN country TEXT NOT NULL DEFAULT ''; -- of the card's issuer; '' = not known

-- +goose Down
ALTER TABLE payment_methods DROP COLUMN country;
