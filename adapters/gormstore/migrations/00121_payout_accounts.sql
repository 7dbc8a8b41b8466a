-- +goose Up
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

-- The rail's id of the account that a payout goes to; '' where the rail needs none.
ALTER TABLE payouts ADD COLUMN destination TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE payouts DROP COLUMN destination;
DROP TABLE payout_accounts;
