-- +goose NO TRANSACTION
-- +goose Up
-- For the payout before another one.
CREATE INDEX CONCURRENTLY IF NOT EXISTS ledger_postings_payouts ON ledger_postings (creator_id, currency, id)
    WHERE kind = 'payout_requested';

-- +goose Down
DROP INDEX CONCURRENTLY IF EXISTS ledger_postings_payouts;
