-- +goose Up
-- What a customer bought and is billed for is listed under the external id that they have now.
UPDATE sessions SET external_customer_id = c.external_customer_id FROM customers c
    WHERE c.creator_id = sessions.creator_id AND c.id = sessions.customer_id
        AND c.external_customer_id <> sessions.external_customer_id;
UPDATE invoices SET external_customer_id = c.external_customer_id FROM customers c
    WHERE c.creator_id = invoices.creator_id AND c.id = invoices.customer_id
        AND c.external_customer_id <> invoices.external_customer_id;

-- +goose Down
-- The names before are not kept.
SELECT 1;
