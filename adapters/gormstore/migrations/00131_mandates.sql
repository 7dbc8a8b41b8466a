-- +goose Up
-- What a customer agreed to with a card that is being checked or charged, as the page showed it.
ALTER TABLE card_setups ADD COLUMN mandate TEXT NOT NULL DEFAULT '';
ALTER TABLE payments ADD COLUMN mandate TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE payments DROP COLUMN mandate;
ALTER TABLE card_setups DROP COLUMN mandate;
