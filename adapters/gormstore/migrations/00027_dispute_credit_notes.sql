-- +goose Up
-- The number of a lost dispute's credit note; '' for none.
ALTER TABLE disputes ADD COLUMN credit_note_number TEXT NOT NULL DEFAULT '';
UPDATE disputes SET credit_note_number = COALESCE(
    (SELECT number FROM documents WHERE documents.id = 'credit_note:' || SUBSTR(disputes.id, 5)), '');

-- +goose Down
ALTER TABLE disputes DROP COLUMN credit_note_number;
