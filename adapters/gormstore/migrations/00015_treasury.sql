-- +goose Up
-- The ledger: one row per leg. It is only ever added to; the engines' own files, which follow, enforce that and that every
-- posting sums to zero.
CREATE TABLE ledger_entries (
    id          TEXT   PRIMARY KEY,
    posting_id  TEXT   NOT NULL,
    creator_id  TEXT   NOT NULL,
    source_type TEXT   NOT NULL,             -- payment, refund, dispute, payout
    source_id   TEXT   NOT NULL,
    kind        TEXT   NOT NULL,
    account     TEXT   NOT NULL,
    currency    TEXT   NOT NULL,
    amount      BIGINT NOT NULL CHECK (amount <> 0), -- debits positive, credits negative
    created_at  BIGINT NOT NULL
);
-- A source has at most one posting of each kind, with one leg per account.
CREATE UNIQUE INDEX ledger_entries_source_id_kind_account ON ledger_entries (source_id, kind, account);
CREATE INDEX ledger_entries_creator_id ON ledger_entries (creator_id, id);
-- Balances are read from this index alone.
CREATE INDEX ledger_entries_balance ON ledger_entries (creator_id, account, currency, amount);

-- Where the money of each payment is.
CREATE TABLE sales (
    id            TEXT    PRIMARY KEY,       -- of the payment
    creator_id    TEXT    NOT NULL,
    currency      TEXT    NOT NULL,
    total         BIGINT  NOT NULL,
    tax           BIGINT  NOT NULL,
    platform_fee  BIGINT  NOT NULL,
    processor_fee BIGINT  NOT NULL,
    pending       BIGINT  NOT NULL,
    returned      BIGINT  NOT NULL,          -- refunds, those under way included, and disputes
    returned_tax  BIGINT  NOT NULL,
    refunded      BIGINT  NOT NULL,
    lost          BIGINT  NOT NULL,
    dispute_id    TEXT    NOT NULL,          -- '' unless one is open
    disputed      BIGINT  NOT NULL,
    disputed_tax  BIGINT  NOT NULL,
    available_at  BIGINT  NOT NULL,
    released      BOOLEAN NOT NULL,
    created_at    BIGINT  NOT NULL,
    revision      BIGINT  NOT NULL,
    CHECK (returned >= 0 AND returned <= total AND returned_tax >= 0 AND returned_tax <= tax)
);
CREATE INDEX sales_creator_id ON sales (creator_id, id);
-- A range of days is added up from this index alone.
CREATE INDEX sales_created_at ON sales (creator_id, created_at, currency, total, refunded);

CREATE TABLE payouts (
    id             TEXT   PRIMARY KEY,
    creator_id     TEXT   NOT NULL,
    currency       TEXT   NOT NULL,
    amount         BIGINT NOT NULL CHECK (amount > 0),
    status         TEXT   NOT NULL,
    failure_reason TEXT   NOT NULL,
    request_key    TEXT   NOT NULL,          -- the caller's idempotency key; '' for none
    created_at     BIGINT NOT NULL,
    paid_at        BIGINT,
    failed_at      BIGINT,
    revision       BIGINT NOT NULL,
    destination    TEXT   NOT NULL DEFAULT '' -- the rail's id of the account that it goes to; '' where the rail needs none
);
CREATE INDEX payouts_creator_id ON payouts (creator_id, id);
CREATE INDEX payouts_request_key ON payouts (creator_id, request_key);

-- Where the payouts of a creator go, as the payout rail reports it.
CREATE TABLE payout_accounts (
    id               TEXT   PRIMARY KEY,      -- of the creator
    creator_id       TEXT   NOT NULL,
    rail_id          TEXT   NOT NULL,         -- the rail's id of the account, such as Stripe's acct_…
    country          TEXT   NOT NULL,         -- ISO 3166-1 alpha-2; '' where the rail does not report it
    status           TEXT   NOT NULL,         -- pending, ready, restricted
    requirements_due TEXT   NOT NULL,         -- JSON: what the rail still needs, by its own names
    disabled_reason  TEXT   NOT NULL,         -- '' for none
    created_at       BIGINT NOT NULL,
    updated_at       BIGINT NOT NULL,
    revision         BIGINT NOT NULL
);
CREATE UNIQUE INDEX payout_accounts_creator_id ON payout_accounts (creator_id);
CREATE UNIQUE INDEX payout_accounts_rail_id ON payout_accounts (rail_id);

-- +goose Down
DROP TABLE payout_accounts;
DROP TABLE payouts;
DROP TABLE sales;
DROP TABLE ledger_entries;
