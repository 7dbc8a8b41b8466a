-- +goose Up

CREATE TABLE customers (
    id                   TEXT   PRIMARY KEY,
    creator_id           TEXT   NOT NULL,
    external_customer_id TEXT,               -- NULL for a buyer whom the integrator did not name
    email                TEXT   NOT NULL,
    display_name         TEXT   NOT NULL,
    details              TEXT   NOT NULL,    -- JSON: what the customer gave at checkout
    created_at           BIGINT NOT NULL,
    updated_at           BIGINT NOT NULL,
    revision             BIGINT NOT NULL
);
CREATE INDEX customers_creator_id ON customers (creator_id, id);
CREATE INDEX customers_email ON customers (creator_id, email, id);
CREATE UNIQUE INDEX customers_creator_id_external_customer_id ON customers (creator_id, external_customer_id);

-- +goose Down
DROP TABLE customers;
