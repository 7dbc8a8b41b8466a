-- +goose Up
-- Checked at commit, when all legs of a posting are there.
-- +goose StatementBegin
CREATE FUNCTION ledger_posting_balances() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM ledger_entries WHERE source_id = NEW.source_id AND kind = NEW.kind GROUP BY currency HAVING sum(amount) <> 0) THEN
        RAISE EXCEPTION 'posting % of % does not sum to zero', NEW.kind, NEW.source_id USING ERRCODE = 'check_violation';
    END IF;
    RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE CONSTRAINT TRIGGER ledger_entries_balance AFTER INSERT ON ledger_entries
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION ledger_posting_balances();

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
DROP FUNCTION ledger_posting_balances();
