-- +goose Up
CREATE INDEX appointments_group ON appointments (creator_id, group_id) WHERE group_id <> '';

-- +goose Down
DROP INDEX appointments_group;
