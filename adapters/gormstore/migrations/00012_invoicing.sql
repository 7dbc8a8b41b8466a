-- +goose Up

-- The last number of each series of each account.
CREATE TABLE document_numbers (
    creator_id TEXT   NOT NULL,
    series     TEXT   NOT NULL,
    last       BIGINT NOT NULL,
    PRIMARY KEY (creator_id, series)
);

-- What receipts, invoices, credit notes and payout statements contain, frozen when they are issued. The columns beside the
-- snapshot repeat it for checks.
CREATE TABLE documents (
    id         TEXT   PRIMARY KEY, -- kind:body of the subject's id
    creator_id TEXT   NOT NULL,
    series     TEXT   NOT NULL,    -- R, I, C; '' for a payout statement
    number     TEXT   NOT NULL,
    subject_id TEXT   NOT NULL,    -- payment, invoice, refund, dispute or payout
    currency   TEXT   NOT NULL,
    total      BIGINT NOT NULL,
    tax        BIGINT NOT NULL,
    issued_at  BIGINT NOT NULL,
    snapshot   TEXT   NOT NULL     -- JSON
);
CREATE UNIQUE INDEX documents_creator_id_number ON documents (creator_id, number);
CREATE INDEX documents_subject_id ON documents (subject_id);
CREATE INDEX documents_issued_at ON documents (issued_at, id); -- for reports over all accounts

-- +goose Down
DROP TABLE documents;
DROP TABLE document_numbers;
