-- +goose Up

CREATE TABLE payments (
    id                TEXT    PRIMARY KEY,
    creator_id        TEXT    NOT NULL,
    purpose           TEXT    NOT NULL,         -- checkout, subscription, invoice
    subject_id        TEXT    NOT NULL,         -- of the session, subscription or invoice
    customer_id       TEXT    NOT NULL,         -- '' until a checkout is paid
    payment_method_id TEXT    NOT NULL,         -- '' unless a saved card is charged
    receipt_number    TEXT    NOT NULL,         -- '' until it has one; of the sale
    sale              TEXT    NOT NULL,         -- JSON: how the amount comes about
    off_session       BOOLEAN NOT NULL,
    currency          TEXT    NOT NULL,
    amount            BIGINT  NOT NULL,
    status            TEXT    NOT NULL,
    decline           TEXT    NOT NULL,         -- JSON: why it was declined
    provider          TEXT    NOT NULL,         -- who takes the money
    processor_id      TEXT    NOT NULL,         -- the processor's own id; '' until it has responded
    method            TEXT    NOT NULL,
    brand             TEXT    NOT NULL,
    last4             TEXT    NOT NULL,
    save_card         BOOLEAN NOT NULL,
    created_at        BIGINT  NOT NULL,
    settled_at        BIGINT,
    processor_fee     BIGINT  NOT NULL,         -- what the processor kept
    refunded          BIGINT  NOT NULL DEFAULT 0,
    revision          BIGINT  NOT NULL,
    mandate           TEXT    NOT NULL DEFAULT '' -- what the customer agreed to with a card that is charged and saved
);
CREATE INDEX payments_creator_id ON payments (creator_id, id);
CREATE INDEX payments_subject ON payments (purpose, subject_id, id);
CREATE UNIQUE INDEX payments_creator_id_receipt_number ON payments (creator_id, receipt_number) WHERE receipt_number <> '';
CREATE INDEX payments_customer ON payments (customer_id, id);
CREATE INDEX payments_unsettled ON payments (creator_id, id) WHERE settled_at IS NULL;
-- At most one attempt for a subject is not settled.
CREATE UNIQUE INDEX payments_purpose_subject_id ON payments (purpose, subject_id) WHERE settled_at IS NULL;

CREATE TABLE payment_methods (
    id          TEXT   PRIMARY KEY,
    creator_id  TEXT   NOT NULL,
    customer_id TEXT   NOT NULL,
    provider    TEXT   NOT NULL,             -- who knows the card
    token       TEXT   NOT NULL,             -- the provider's name of the card
    brand       TEXT   NOT NULL,
    last4       TEXT   NOT NULL,
    exp_month   BIGINT NOT NULL,             -- 0 = unknown
    exp_year    BIGINT NOT NULL,
    mandate     TEXT   NOT NULL,             -- JSON: the text and its acceptance
    created_at  BIGINT NOT NULL,
    removed_at  BIGINT,
    revision    BIGINT NOT NULL
);
CREATE INDEX payment_methods_customer ON payment_methods (customer_id, id);

CREATE TABLE card_setups (
    id                TEXT   PRIMARY KEY,
    creator_id        TEXT   NOT NULL,
    customer_id       TEXT   NOT NULL,
    return_url        TEXT   NOT NULL,       -- '' when no page awaits the customer
    status            TEXT   NOT NULL,
    attempt_id        TEXT   NOT NULL,       -- '' before the first card
    processor_id      TEXT   NOT NULL,       -- the processor's own id of the attempt; '' until it has responded
    last_error        TEXT   NOT NULL,       -- JSON
    payment_method_id TEXT   NOT NULL,       -- '' until a card is saved
    created_at        BIGINT NOT NULL,
    expires_at        BIGINT NOT NULL,
    revision          BIGINT NOT NULL,
    mandate           TEXT   NOT NULL DEFAULT '' -- what the customer agrees to, as the page showed it
);

CREATE TABLE refunds (
    id                 TEXT    PRIMARY KEY,
    creator_id         TEXT    NOT NULL,
    payment_id         TEXT    NOT NULL,
    checkout_id        TEXT    NOT NULL,     -- '' for a payment outside a checkout
    customer_id        TEXT    NOT NULL,
    subscription_id    TEXT    NOT NULL,     -- '' unless the payment renewed one
    currency           TEXT    NOT NULL,
    amount             BIGINT  NOT NULL CHECK (amount > 0),
    tax                BIGINT  NOT NULL,     -- contained in the amount
    reason             TEXT    NOT NULL,
    keep_access        BOOLEAN NOT NULL,
    status             TEXT    NOT NULL,
    failure_reason     TEXT    NOT NULL,
    credit_note_number TEXT    NOT NULL,     -- '' until it succeeds
    request_key        TEXT    NOT NULL,     -- the caller's idempotency key; '' for none
    is_full            BOOLEAN NOT NULL,
    created_at         BIGINT  NOT NULL,
    settled_at         BIGINT,
    revision           BIGINT  NOT NULL,
    processor_id       TEXT    NOT NULL DEFAULT '' -- the processor's own id of a refund that was made there without us
);
CREATE INDEX refunds_creator_id ON refunds (creator_id, id);
CREATE INDEX refunds_request_key ON refunds (creator_id, request_key);
CREATE UNIQUE INDEX refunds_creator_id_credit_note_number ON refunds (creator_id, credit_note_number) WHERE credit_note_number <> '';
CREATE INDEX refunds_payment_id ON refunds (payment_id, id);
CREATE UNIQUE INDEX refunds_processor_id ON refunds (processor_id) WHERE processor_id <> '';

CREATE TABLE disputes (
    id           TEXT   PRIMARY KEY,
    creator_id   TEXT   NOT NULL,
    payment_id   TEXT   NOT NULL,
    checkout_id  TEXT   NOT NULL,            -- '' for a payment outside a checkout
    customer_id  TEXT   NOT NULL,
    subscription_id TEXT NOT NULL,           -- '' unless the payment renewed one
    processor_id TEXT   NOT NULL,
    currency     TEXT   NOT NULL,
    amount       BIGINT NOT NULL,            -- what is held
    tax          BIGINT NOT NULL,            -- contained in the amount
    reason       TEXT   NOT NULL,
    status       TEXT   NOT NULL,
    response     TEXT   NOT NULL,            -- what was asked to be sent and is not known to have arrived
    evidence     TEXT   NOT NULL,            -- JSON
    respond_by   BIGINT NOT NULL,
    created_at   BIGINT NOT NULL,
    closed_at    BIGINT,
    revision     BIGINT NOT NULL
);
CREATE UNIQUE INDEX disputes_processor_id ON disputes (processor_id);
CREATE INDEX disputes_creator_id ON disputes (creator_id, id);
CREATE INDEX disputes_payment_id ON disputes (payment_id, id);

-- What the processor reported: each event once, however often it is sent.
CREATE TABLE processor_events (
    id          TEXT   PRIMARY KEY,
    provider    TEXT   NOT NULL,             -- who reported it
    kind        TEXT   NOT NULL,             -- payment, setup, refund, dispute, payout
    object_id   TEXT   NOT NULL,
    creator_id  TEXT   NOT NULL,             -- '' where the processor doesn't report it
    received_at BIGINT NOT NULL
);

-- +goose Down
DROP TABLE processor_events;
DROP TABLE disputes;
DROP TABLE refunds;
DROP TABLE card_setups;
DROP TABLE payment_methods;
DROP TABLE payments;
