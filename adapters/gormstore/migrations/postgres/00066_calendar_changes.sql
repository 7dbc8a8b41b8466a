-- +goose Up
-- The triggers run at the commit, so that the row is locked no longer than that takes.
CREATE CONSTRAINT TRIGGER reservations_inserted AFTER INSERT ON reservations DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW WHEN (NEW.status IN ('held', 'confirmed')) EXECUTE FUNCTION raise_calendar_version();
CREATE CONSTRAINT TRIGGER reservations_updated AFTER UPDATE ON reservations DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW WHEN ((OLD.status IN ('held', 'confirmed')) <> (NEW.status IN ('held', 'confirmed'))
        OR (OLD.starts_at, OLD.blocked_from, OLD.blocked_until, OLD.listing_id)
        <> (NEW.starts_at, NEW.blocked_from, NEW.blocked_until, NEW.listing_id)) EXECUTE FUNCTION raise_calendar_version();
CREATE CONSTRAINT TRIGGER scheduling_changed AFTER INSERT OR UPDATE ON scheduling DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION raise_calendar_version();
-- Busy times change with the calendar that they were read from.
CREATE CONSTRAINT TRIGGER busy_calendars_read AFTER UPDATE OF read_at ON busy_calendars
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION raise_calendar_version();
CREATE CONSTRAINT TRIGGER busy_calendars_deleted AFTER DELETE ON busy_calendars DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION raise_calendar_version();

-- +goose Down
DROP TRIGGER busy_calendars_deleted ON busy_calendars;
DROP TRIGGER busy_calendars_read ON busy_calendars;
DROP TRIGGER scheduling_changed ON scheduling;
DROP TRIGGER reservations_updated ON reservations;
DROP TRIGGER reservations_inserted ON reservations;
