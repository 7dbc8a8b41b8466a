-- What SQLite's migration of this number does with triggers.
-- +goose Up
CREATE EXTENSION IF NOT EXISTS btree_gist; -- a trusted extension: the database's owner may add it
ALTER TABLE reservations ADD CONSTRAINT reservations_never_overlap
    EXCLUDE USING gist (creator_id WITH =, int8range(blocked_from, blocked_until) WITH &&) WHERE (status IN ('held', 'confirmed'));

-- +goose Down
ALTER TABLE reservations DROP CONSTRAINT reservations_never_overlap;
