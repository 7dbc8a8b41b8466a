-- +goose Up

-- The figures of each day of a creator (core/ledger.Figures): the sums of the postings up to ledger_days_until.
CREATE TABLE ledger_days (
    creator_id TEXT   NOT NULL,
    currency   TEXT   NOT NULL,
    day        BIGINT NOT NULL, -- since 1970-01-01, UTC
    sales      BIGINT NOT NULL,
    gross      BIGINT NOT NULL,
    refunds    BIGINT NOT NULL,
    disputes   BIGINT NOT NULL,
    tax        BIGINT NOT NULL,
    fees       BIGINT NOT NULL,
    PRIMARY KEY (creator_id, day, currency)
);

-- The greatest id of a posting that ledger_days counts.
CREATE TABLE ledger_days_until (
    creator_id TEXT PRIMARY KEY,
    until      TEXT NOT NULL
);

-- +goose Down
DROP TABLE ledger_days_until;
DROP TABLE ledger_days;
