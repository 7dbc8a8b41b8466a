-- +goose Up
-- Whatever changes a creator's open times raises the version.
-- +goose StatementBegin
CREATE TRIGGER reservations_inserted AFTER INSERT ON reservations
WHEN NEW.status IN ('held', 'confirmed')
BEGIN
    INSERT INTO calendar_versions (creator_id, version) VALUES (NEW.creator_id, 1)
    ON CONFLICT (creator_id) DO UPDATE SET version = calendar_versions.version + 1;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER reservations_updated AFTER UPDATE ON reservations
WHEN (OLD.status IN ('held', 'confirmed')) <> (NEW.status IN ('held', 'confirmed'))
    OR (OLD.starts_at, OLD.blocked_from, OLD.blocked_until, OLD.listing_id)
    <> (NEW.starts_at, NEW.blocked_from, NEW.blocked_until, NEW.listing_id)
BEGIN
    INSERT INTO calendar_versions (creator_id, version) VALUES (NEW.creator_id, 1)
    ON CONFLICT (creator_id) DO UPDATE SET version = calendar_versions.version + 1;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER scheduling_inserted AFTER INSERT ON scheduling
BEGIN
    INSERT INTO calendar_versions (creator_id, version) VALUES (NEW.creator_id, 1)
    ON CONFLICT (creator_id) DO UPDATE SET version = calendar_versions.version + 1;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER scheduling_updated AFTER UPDATE ON scheduling
BEGIN
    INSERT INTO calendar_versions (creator_id, version) VALUES (NEW.creator_id, 1)
    ON CONFLICT (creator_id) DO UPDATE SET version = calendar_versions.version + 1;
END;
-- +goose StatementEnd
-- Busy times change with the calendar that they were read from.
-- +goose StatementBegin
CREATE TRIGGER busy_calendars_read AFTER UPDATE OF read_at ON busy_calendars
BEGIN
    INSERT INTO calendar_versions (creator_id, version) VALUES (NEW.creator_id, 1)
    ON CONFLICT (creator_id) DO UPDATE SET version = calendar_versions.version + 1;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER busy_calendars_deleted AFTER DELETE ON busy_calendars
BEGIN
    INSERT INTO calendar_versions (creator_id, version) VALUES (OLD.creator_id, 1)
    ON CONFLICT (creator_id) DO UPDATE SET version = calendar_versions.version + 1;
END;
-- +goose StatementEnd

-- +goose Down
DROP TRIGGER busy_calendars_deleted;
DROP TRIGGER busy_calendars_read;
DROP TRIGGER scheduling_updated;
DROP TRIGGER scheduling_inserted;
DROP TRIGGER reservations_updated;
DROP TRIGGER reservations_inserted;
