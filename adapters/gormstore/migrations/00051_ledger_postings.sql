-- +goose Up

-- The ledger: one row per posting, with its legs in a column for each account; debits are positive, credits negative.
-- It is only ever added to, which the engines' own files enforce.
CREATE TABLE ledger_postings (
    id                 TEXT   NOT NULL,      -- led_…0; an entry has the place of its account instead of the zero
    creator_id         TEXT   NOT NULL,
    source_type        TEXT   NOT NULL,      -- payment, refund, dispute, payout
    source_id          TEXT   NOT NULL,
    kind               TEXT   NOT NULL,
    currency           TEXT   NOT NULL,
    processor_clearing BIGINT NOT NULL,
    disputed_funds     BIGINT NOT NULL,
    processor_fee      BIGINT NOT NULL,
    tax_payable        BIGINT NOT NULL,
    platform_fee       BIGINT NOT NULL,
    creator_pending    BIGINT NOT NULL,
    creator_available  BIGINT NOT NULL,
    creator_reserved   BIGINT NOT NULL,
    creator_in_transit BIGINT NOT NULL,
    created_at         BIGINT NOT NULL,
    -- A source has at most one posting of each kind.
    CONSTRAINT ledger_postings_source_id_kind PRIMARY KEY (source_id, kind),
    CONSTRAINT ledger_postings_sum_to_zero CHECK (processor_clearing + disputed_funds + processor_fee + tax_payable
        + platform_fee + creator_pending + creator_available + creator_reserved + creator_in_transit = 0)
);

INSERT INTO ledger_postings
SELECT SUBSTR(posting_id, 1, LENGTH(posting_id) - 1) || '0', creator_id, source_type, source_id, kind, currency,
    SUM(CASE WHEN account = 'processor_clearing' THEN amount ELSE 0 END),
    SUM(CASE WHEN account = 'disputed_funds' THEN amount ELSE 0 END),
    SUM(CASE WHEN account = 'processor_fee' THEN amount ELSE 0 END),
    SUM(CASE WHEN account = 'tax_payable' THEN amount ELSE 0 END),
    SUM(CASE WHEN account = 'platform_fee' THEN amount ELSE 0 END),
    SUM(CASE WHEN account = 'creator_pending' THEN amount ELSE 0 END),
    SUM(CASE WHEN account = 'creator_available' THEN amount ELSE 0 END),
    SUM(CASE WHEN account = 'creator_reserved' THEN amount ELSE 0 END),
    SUM(CASE WHEN account = 'creator_in_transit' THEN amount ELSE 0 END),
    MIN(created_at)
FROM ledger_entries GROUP BY posting_id, creator_id, source_type, source_id, kind, currency;

-- What moves the balance that is paid out; a statement adds it up from this index alone.
CREATE INDEX ledger_postings_available ON ledger_postings (creator_id, currency, id, creator_available)
    WHERE creator_available <> 0;

DROP TABLE ledger_entries;
-- There is no way back: what was posted since has no legs of its own.
