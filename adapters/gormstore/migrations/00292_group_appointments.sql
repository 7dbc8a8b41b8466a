-- +goose Up

-- How many buyers can share the time of a reservation; 0 for one that is a single buyer's. The reservation of a group
-- has no checkout: it keeps the creator's time as long as one of its seats is live.
ALTER TABLE reservations ADD COLUMN seats BIGINT NOT NULL DEFAULT 0;

-- The reservation whose time the appointment shares; '' for one that is a single buyer's.
ALTER TABLE appointments ADD COLUMN group_id TEXT NOT NULL DEFAULT '';

-- +goose Down

ALTER TABLE appointments DROP COLUMN group_id;
ALTER TABLE reservations DROP COLUMN seats;
