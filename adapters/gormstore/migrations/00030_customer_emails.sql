-- +goose Up

-- Customers are found by their e-mail address whatever its case.
CREATE INDEX customers_lower_email ON customers (creator_id, LOWER(email), id);
