-- +goose Up
ALTER TABLE payment_methods ADD COLUMN chosen_at BIGINT; -- when the customer last chose this card to pay; NULL: never

-- +goose Down
ALTER TABLE payment_methods DROP COLUMN chosen_at;
