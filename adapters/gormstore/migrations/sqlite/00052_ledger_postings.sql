-- +goose Up

CREATE UNIQUE INDEX ledger_postings_creator_id ON ledger_postings (creator_id, id);
-- +goose StatementBegin
CREATE TRIGGER ledger_postings_no_update BEFORE UPDATE ON ledger_postings
BEGIN
    SELECT RAISE(ABORT, 'the ledger is append-only');
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER ledger_postings_no_delete BEFORE DELETE ON ledger_postings
BEGIN
    SELECT RAISE(ABORT, 'the ledger is append-only');
END;
-- +goose StatementEnd
