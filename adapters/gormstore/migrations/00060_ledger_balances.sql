-- +goose Up

-- The sums of a creator's postings up to the greatest id in until, of whatever currency: a balance is read from here
-- and from the postings after it.
CREATE TABLE ledger_balances (
    creator_id TEXT   NOT NULL,
    currency   TEXT   NOT NULL,
    until      TEXT   NOT NULL, -- id of a posting
    pending    BIGINT NOT NULL,
    available  BIGINT NOT NULL,
    reserved   BIGINT NOT NULL,
    in_transit BIGINT NOT NULL,
    PRIMARY KEY (creator_id, currency)
);

-- +goose Down
DROP TABLE ledger_balances;
