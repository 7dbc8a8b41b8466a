-- +goose Up
-- A posting is one INSERT, so its balance is checked once, when that has run, instead of once an entry at the commit.
-- +goose StatementBegin
CREATE FUNCTION ledger_statement_balances() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    wrong record;
BEGIN
    SELECT source_id, kind INTO wrong FROM added GROUP BY source_id, kind, currency HAVING sum(amount) <> 0 LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'posting % of % does not sum to zero', wrong.kind, wrong.source_id USING ERRCODE = 'check_violation';
    END IF;
    RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER ledger_entries_balance AFTER INSERT ON ledger_entries REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_statement_balances();

-- +goose StatementBegin
CREATE FUNCTION ledger_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the ledger is append-only' USING ERRCODE = 'restrict_violation';
END $$;
-- +goose StatementEnd
CREATE TRIGGER ledger_entries_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_entries
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_is_append_only();

-- +goose Down
DROP TRIGGER ledger_entries_append_only ON ledger_entries;
DROP TRIGGER ledger_entries_balance ON ledger_entries;
DROP FUNCTION ledger_is_append_only();
DROP FUNCTION ledger_statement_balances();
