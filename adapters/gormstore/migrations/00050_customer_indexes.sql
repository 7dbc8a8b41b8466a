-- +goose Up

-- Addresses are compared in lower case only, for which one index is enough.
DROP INDEX customers_email;
DROP INDEX customers_email_folded;

-- +goose Down

CREATE INDEX customers_email ON customers (creator_id, email, id);
CREATE INDEX customers_email_folded ON customers (creator_id, LOWER(email));
