-- +goose Up
-- When the balance of a creator is paid out by itself: manual, daily, weekly, monthly.
ALTER TABLE creators ADD COLUMN payout_schedule TEXT NOT NULL DEFAULT 'manual';

-- +goose Down
ALTER TABLE creators DROP COLUMN payout_schedule;
