-- +goose Up

-- The seats of groups: what a buyer has or had of a time that others share.
CREATE TABLE reservation_seats (
    id            TEXT   PRIMARY KEY,
    creator_id    TEXT   NOT NULL,
    listing_id    TEXT   NOT NULL,
    variant_id    TEXT   NOT NULL,
    checkout_id   TEXT   NOT NULL,
    position      BIGINT NOT NULL,
    status        TEXT   NOT NULL,
    starts_at     BIGINT NOT NULL,
    ends_at       BIGINT NOT NULL,
    blocked_from  BIGINT NOT NULL,
    blocked_until BIGINT NOT NULL,
    timezone      TEXT   NOT NULL,
    delivery_mode TEXT   NOT NULL,
    created_at    BIGINT NOT NULL,
    revision      BIGINT NOT NULL,
    group_id      TEXT   NOT NULL,           -- the reservation
    number        BIGINT NOT NULL            -- below the seats of the reservation: no two live ones have the same
);
CREATE UNIQUE INDEX reservation_seats_live ON reservation_seats (group_id, number) WHERE status IN ('held', 'confirmed');
CREATE INDEX reservation_seats_checkout ON reservation_seats (creator_id, checkout_id);

-- A seat that is taken or left changes the creator's open times, as a reservation does.
-- +goose StatementBegin
CREATE TRIGGER reservation_seats_inserted AFTER INSERT ON reservation_seats
WHEN NEW.status IN ('held', 'confirmed')
BEGIN
    INSERT INTO calendar_versions (creator_id, version) VALUES (NEW.creator_id, 1)
    ON CONFLICT (creator_id) DO UPDATE SET version = calendar_versions.version + 1;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER reservation_seats_updated AFTER UPDATE ON reservation_seats
WHEN (OLD.status IN ('held', 'confirmed')) <> (NEW.status IN ('held', 'confirmed'))
BEGIN
    INSERT INTO calendar_versions (creator_id, version) VALUES (NEW.creator_id, 1)
    ON CONFLICT (creator_id) DO UPDATE SET version = calendar_versions.version + 1;
END;
-- +goose StatementEnd

-- +goose Down

DROP TABLE reservation_seats;
