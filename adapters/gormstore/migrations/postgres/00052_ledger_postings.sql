-- +goose Up

-- An account's entries are listed by this index, and its balances added up from it alone.
CREATE UNIQUE INDEX ledger_postings_creator_id ON ledger_postings (creator_id, id)
    INCLUDE (currency, creator_pending, creator_available, creator_reserved, creator_in_transit);
CREATE TRIGGER ledger_postings_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_postings
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_is_append_only();
DROP FUNCTION ledger_statement_balances();
