-- +goose Up
-- The calendar's feed is read by the start of what it shows.
DROP INDEX appointments_times;
CREATE INDEX appointments_times ON appointments (creator_id, starts_at, id);
-- What is rare in the public list is found by these.
CREATE INDEX listings_currency ON listings (currency, price_minor, id) WHERE status = 'ACTIVE';
CREATE INDEX listings_currency_newest ON listings (currency, id) WHERE status = 'ACTIVE';
CREATE INDEX listings_type ON listings (type, id) WHERE status = 'ACTIVE';

-- +goose Down
DROP INDEX listings_type;
DROP INDEX listings_currency_newest;
DROP INDEX listings_currency;
DROP INDEX appointments_times;
CREATE INDEX appointments_times ON appointments (creator_id, starts_at);
