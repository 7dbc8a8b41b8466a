-- What PostgreSQL's migration of this number does with an exclusion constraint: a new claim that would overlap is left
-- out as by ON CONFLICT DO NOTHING, an old one that would come to overlap fails. Live claims do not overlap each other, so the
-- one that begins last before the new one ends is the only one to look at.
-- +goose Up
-- +goose StatementBegin
CREATE TRIGGER claims_insert_never_overlaps BEFORE INSERT ON claims
WHEN NEW.status IN ('held', 'confirmed') AND NEW.blocked_from < (
    SELECT blocked_until FROM claims
    WHERE creator_id = NEW.creator_id AND status IN ('held', 'confirmed') AND blocked_from < NEW.blocked_until
    ORDER BY blocked_from DESC LIMIT 1)
BEGIN
    SELECT RAISE(IGNORE);
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER claims_update_never_overlaps BEFORE UPDATE ON claims
WHEN NEW.status IN ('held', 'confirmed') AND NEW.blocked_from < (
    SELECT blocked_until FROM claims
    WHERE creator_id = NEW.creator_id AND status IN ('held', 'confirmed') AND blocked_from < NEW.blocked_until AND id <> NEW.id
    ORDER BY blocked_from DESC LIMIT 1)
BEGIN
    SELECT RAISE(ABORT, 'claims overlap');
END;
-- +goose StatementEnd

-- +goose Down
DROP TRIGGER claims_update_never_overlaps;
DROP TRIGGER claims_insert_never_overlaps;
