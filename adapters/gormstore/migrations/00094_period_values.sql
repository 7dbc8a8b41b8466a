-- +goose Up

-- What a payment took before tax, and what it pays of the value of its period: refunds are taken off that. 0 is not known.
ALTER TABLE subscription_periods ADD COLUMN due BIGINT NOT NULL DEFAULT 0;
ALTER TABLE subscription_periods ADD COLUMN value BIGINT NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE subscription_periods DROP COLUMN value;
ALTER TABLE subscription_periods DROP COLUMN due;
