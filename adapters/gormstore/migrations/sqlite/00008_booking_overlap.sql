-- What PostgreSQL's migration of this number does with an exclusion constraint: a new reservation that would overlap is
-- left out as by ON CONFLICT DO NOTHING, an old one that would come to overlap fails. Live reservations do not overlap
-- each other, so the one that begins last before the new one ends is the only one to check.
-- +goose Up
-- +goose StatementBegin
CREATE TRIGGER reservations_insert_never_overlaps BEFORE INSERT ON reservations
WHEN NEW.status IN ('held', 'confirmed') AND NEW.blocked_from < (
    SELECT blocked_until FROM reservations
    WHERE creator_id = NEW.creator_id AND status IN ('held', 'confirmed') AND blocked_from < NEW.blocked_until
    ORDER BY blocked_from DESC LIMIT 1)
BEGIN
    SELECT RAISE(IGNORE);
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER reservations_update_never_overlaps BEFORE UPDATE ON reservations
WHEN NEW.status IN ('held', 'confirmed') AND NEW.blocked_from < (
    SELECT blocked_until FROM reservations
    WHERE creator_id = NEW.creator_id AND status IN ('held', 'confirmed') AND blocked_from < NEW.blocked_until AND id <> NEW.id
    ORDER BY blocked_from DESC LIMIT 1)
BEGIN
    SELECT RAISE(ABORT, 'reservations overlap');
END;
-- +goose StatementEnd

-- +goose Down
DROP TRIGGER reservations_update_never_overlaps;
DROP TRIGGER reservations_insert_never_overlaps;
