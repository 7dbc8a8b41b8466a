-- +goose Up
-- The price of a billing plan changes with its periods: earlier_prices is JSON, those of the periods before.
ALTER TABLE usage_billing_plans ADD COLUMN next_price_id TEXT NOT NULL DEFAULT '';
ALTER TABLE usage_billing_plans ADD COLUMN earlier_prices TEXT NOT NULL DEFAULT 'null';

-- +goose Down
ALTER TABLE usage_billing_plans DROP COLUMN earlier_prices;
ALTER TABLE usage_billing_plans DROP COLUMN next_price_id;
