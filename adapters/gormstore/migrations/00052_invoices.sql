-- +goose Up
CREATE TABLE invoices (
    id                   TEXT   PRIMARY KEY,
    creator_id           TEXT   NOT NULL,
    customer_id          TEXT   NOT NULL,
    external_customer_id TEXT   NOT NULL,
    number               TEXT   NOT NULL,
    status               TEXT   NOT NULL,
    currency             TEXT   NOT NULL,
    lines                TEXT   NOT NULL, -- JSON, with the arithmetic of each
    subtotal             BIGINT NOT NULL,
    tax                  BIGINT NOT NULL,
    tax_details          TEXT   NOT NULL, -- JSON: why the tax is what it is
    total                BIGINT NOT NULL,
    period_start         TEXT   NOT NULL,
    period_end           TEXT   NOT NULL,
    subscription_id      TEXT   NOT NULL,
    billing_plan_id      TEXT   NOT NULL, -- '' unless it bills usage
    key                  TEXT   NOT NULL, -- of the integrator; '' when it bills usage
    fingerprint          TEXT   NOT NULL,
    attempt_count        BIGINT NOT NULL,
    first_failed_at      BIGINT,
    next_attempt_at      BIGINT,
    decline_code         TEXT   NOT NULL,
    payment_id           TEXT   NOT NULL,
    created_at           BIGINT NOT NULL,
    finalized_at         BIGINT NOT NULL,
    paid_at              BIGINT,
    revision             BIGINT NOT NULL
);
CREATE UNIQUE INDEX invoices_creator_id_key ON invoices (creator_id, key) WHERE key <> '';
CREATE UNIQUE INDEX invoices_creator_id_billing_plan_id_period_start ON invoices (creator_id, billing_plan_id, period_start) WHERE billing_plan_id <> '';
CREATE UNIQUE INDEX invoices_creator_id_number ON invoices (creator_id, number);
CREATE INDEX invoices_creator_id ON invoices (creator_id, id);
CREATE INDEX invoices_customer ON invoices (creator_id, customer_id, id);

-- +goose Down
DROP TABLE invoices;
