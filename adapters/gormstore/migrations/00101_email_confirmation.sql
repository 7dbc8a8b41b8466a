-- +goose Up
ALTER TABLE creators ADD COLUMN email_unconfirmed BOOLEAN NOT NULL DEFAULT FALSE; -- the owner has not opened the link mailed to it

-- +goose Down
ALTER TABLE creators DROP COLUMN email_unconfirmed;
