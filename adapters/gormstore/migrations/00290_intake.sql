-- +goose Up

-- What the buyer of appointments answered, noted, and whom they invited: a JSON object.
ALTER TABLE sessions ADD COLUMN intake TEXT NOT NULL DEFAULT '{}';
ALTER TABLE appointments ADD COLUMN intake TEXT NOT NULL DEFAULT '{}';

-- +goose Down

ALTER TABLE appointments DROP COLUMN intake;
ALTER TABLE sessions DROP COLUMN intake;
