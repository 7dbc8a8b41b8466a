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
DROP TRIGGER ledger_entries_balance ON ledger_entries;
CREATE TRIGGER ledger_entries_balance AFTER INSERT ON ledger_entries REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_statement_balances();
DROP FUNCTION ledger_posting_balances();

-- +goose Down
-- +goose StatementBegin
CREATE FUNCTION ledger_posting_balances() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM ledger_entries WHERE source_id = NEW.source_id AND kind = NEW.kind GROUP BY currency HAVING sum(amount) <> 0) THEN
        RAISE EXCEPTION 'posting % of % does not sum to zero', NEW.kind, NEW.source_id USING ERRCODE = 'check_violation';
    END IF;
    RETURN NULL;
END $$;
-- +goose StatementEnd
DROP TRIGGER ledger_entries_balance ON ledger_entries;
CREATE CONSTRAINT TRIGGER ledger_entries_balance AFTER INSERT ON ledger_entries
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION ledger_posting_balances();
DROP FUNCTION ledger_statement_balances();
