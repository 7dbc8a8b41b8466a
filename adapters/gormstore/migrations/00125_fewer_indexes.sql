-- +goose Up

-- A receipt's number is taken by its document (documents_creator_id_number), and found there.
DROP INDEX payments_creator_id_receipt_number;
-- Nothing reads the sandbox's charges by their checkout session.
DROP INDEX sandbox_charges_checkout_id;

-- +goose Down

CREATE INDEX sandbox_charges_checkout_id ON sandbox_charges (checkout_id);
CREATE UNIQUE INDEX payments_creator_id_receipt_number ON payments (creator_id, receipt_number) WHERE receipt_number <> '';
