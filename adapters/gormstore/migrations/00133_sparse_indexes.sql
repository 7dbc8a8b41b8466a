-- +goose Up
-- Most sessions have no reference and were opened with a key, and half of the events name no customer: such a row costs
-- these indexes nothing. A search says that the value is not empty.
DROP INDEX sessions_opened_by;
CREATE INDEX sessions_opened_by ON sessions (creator_id, opened_by, id) WHERE opened_by <> '';
DROP INDEX sessions_reference_id;
CREATE INDEX sessions_reference_id ON sessions (creator_id, reference_id, id) WHERE reference_id <> '';
DROP INDEX events_customer_id;
CREATE INDEX events_customer_id ON events (creator_id, customer_id, position, id) WHERE customer_id <> '';
DROP INDEX events_external_customer_id;
CREATE INDEX events_external_customer_id ON events (creator_id, external_customer_id, position, id) WHERE external_customer_id <> '';

-- +goose Down
DROP INDEX events_external_customer_id;
CREATE INDEX events_external_customer_id ON events (creator_id, external_customer_id, position, id);
DROP INDEX events_customer_id;
CREATE INDEX events_customer_id ON events (creator_id, customer_id, position, id);
DROP INDEX sessions_reference_id;
CREATE INDEX sessions_reference_id ON sessions (creator_id, reference_id, id);
DROP INDEX sessions_opened_by;
CREATE INDEX sessions_opened_by ON sessions (creator_id, opened_by, id);
