-- +goose Up
-- Amounts that customers have prepaid for metered use. granted = used + returned + expired + what is left.
CREATE TABLE usage_credits (
    id                   TEXT    PRIMARY KEY,
    creator_id           TEXT    NOT NULL,
    customer_id          TEXT    NOT NULL,
    external_customer_id TEXT    NOT NULL,
    checkout_id          TEXT    NOT NULL,
    payment_id           TEXT    NOT NULL,    -- '' for a purchase of nothing
    paid                 BIGINT  NOT NULL,
    currency             TEXT    NOT NULL,
    meter                TEXT    NOT NULL,    -- '' = every meter
    granted              BIGINT  NOT NULL,
    used                 BIGINT  NOT NULL,
    returned             BIGINT  NOT NULL,
    expired              BIGINT  NOT NULL,
    disputed             BOOLEAN NOT NULL,
    expires_at           BIGINT,
    created_at           BIGINT  NOT NULL,
    end_reason           TEXT    NOT NULL,    -- '' while something is left
    ended_at             BIGINT,
    revision             BIGINT  NOT NULL
);
CREATE INDEX usage_credits_creator_id ON usage_credits (creator_id, id);
CREATE INDEX usage_credits_customer_id ON usage_credits (customer_id, id);
CREATE INDEX usage_credits_checkout_id ON usage_credits (checkout_id);

-- What invoices have used of them.
CREATE TABLE usage_credit_uses (
    credit_id  TEXT   NOT NULL,
    invoice_id TEXT   NOT NULL,
    creator_id TEXT   NOT NULL,
    amount     BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (credit_id, invoice_id)
);
CREATE INDEX usage_credit_uses_invoice_id ON usage_credit_uses (invoice_id);

-- +goose Down
DROP TABLE usage_credit_uses;
DROP TABLE usage_credits;
