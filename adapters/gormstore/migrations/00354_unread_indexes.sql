-- +goose Up
-- Nothing looks for these, and each payment wrote to both: its number is unique among its documents.
DROP INDEX payments_creator_id_receipt_number;
DROP INDEX sandbox_charges_checkout_id;

-- +goose Down
CREATE UNIQUE INDEX payments_creator_id_receipt_number ON payments (creator_id, receipt_number)
    WHERE receipt_number <> '';
CREATE INDEX sandbox_charges_checkout_id ON sandbox_charges (checkout_id);
