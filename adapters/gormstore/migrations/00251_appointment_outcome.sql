-- +goose Up

-- How an appointment went, as its creator says: completed, no_show or '' for nothing yet.
ALTER TABLE appointments ADD COLUMN outcome TEXT NOT NULL DEFAULT '';
ALTER TABLE appointments ADD COLUMN outcome_at BIGINT;

-- +goose Down

ALTER TABLE appointments DROP COLUMN outcome_at;
ALTER TABLE appointments DROP COLUMN outcome;
