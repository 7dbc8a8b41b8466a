-- +goose Up
-- The last number of each series of each account.
CREATE TABLE document_numbers (
    creator_id TEXT   NOT NULL,
    series     TEXT   NOT NULL,
    last       BIGINT NOT NULL,
    PRIMARY KEY (creator_id, series)
);

-- What receipts, invoices, credit notes and payout statements contain, frozen when they are issued. The columns beside the
-- snapshot repeat it for checks.
CREATE TABLE documents (
    id         TEXT   PRIMARY KEY, -- kind:body of the subject's id
    creator_id TEXT   NOT NULL,
    series     TEXT   NOT NULL,    -- R, I, C; '' for a payout statement
    number     TEXT   NOT NULL,
    subject_id TEXT   NOT NULL,    -- payment, invoice, refund, dispute or payout
    currency   TEXT   NOT NULL,
    total      BIGINT NOT NULL,
    tax        BIGINT NOT NULL,
    issued_at  BIGINT NOT NULL,
    snapshot   TEXT   NOT NULL     -- JSON
);
CREATE UNIQUE INDEX documents_creator_id_number ON documents (creator_id, number);
CREATE INDEX documents_subject_id ON documents (subject_id);
CREATE INDEX documents_issued_at ON documents (issued_at, id); -- for reports over all accounts

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
DROP TABLE documents;
DROP TABLE document_numbers;
