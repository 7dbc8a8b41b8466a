-- +goose Up

-- What the list of appointments, its filters, and the creator's calendar read by.
CREATE INDEX appointments_newest ON appointments (creator_id, id);
CREATE INDEX appointments_customer ON appointments (creator_id, external_customer_id, id);
CREATE INDEX appointments_times ON appointments (creator_id, starts_at);

-- +goose Down
DROP INDEX appointments_times;
DROP INDEX appointments_customer;
DROP INDEX appointments_newest;
