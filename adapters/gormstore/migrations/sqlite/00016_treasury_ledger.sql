-- SQLite has no trigger at commit: the store checks that a posting sums to zero before it writes it.
-- +goose Up
-- +goose StatementBegin
CREATE TRIGGER ledger_entries_no_update BEFORE UPDATE ON ledger_entries
BEGIN
    SELECT RAISE(ABORT, 'the ledger is append-only');
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER ledger_entries_no_delete BEFORE DELETE ON ledger_entries
BEGIN
    SELECT RAISE(ABORT, 'the ledger is append-only');
END;
-- +goose StatementEnd

-- +goose Down
DROP TRIGGER ledger_entries_no_delete;
DROP TRIGGER ledger_entries_no_update;
