-- +goose Up
ALTER TABLE refunds ADD COLUMN automatic BOOLEAN NOT NULL DEFAULT FALSE; -- made by the service itself, of all of a payment

-- Money that went back before such refunds were listed.
INSERT INTO refunds (id, creator_id, payment_id, checkout_id, customer_id, subscription_id, currency, amount, tax, reason,
    keep_access, status, failure_reason, credit_note_number, request_key, is_full, created_at, settled_at, revision,
    processor_id, subscription, automatic)
SELECT 'ref_' || SUBSTR(p.id, 5), p.creator_id, p.id, CASE WHEN p.purpose = 'checkout' THEN p.subject_id ELSE '' END,
    p.customer_id, CASE WHEN p.purpose = 'subscription' THEN p.subject_id ELSE '' END, p.currency, p.amount,
    COALESCE((SELECT t.amount FROM ledger_entries t WHERE t.source_id = p.id AND t.kind = 'sale_reversal'
        AND t.account = 'tax_payable'), 0),
    'not_delivered', FALSE, 'succeeded', '',
    COALESCE((SELECT d.number FROM documents d WHERE d.id = 'credit_note:' || SUBSTR(p.id, 5)), ''),
    '', TRUE, e.created_at, e.created_at, 2, '', '', TRUE
FROM payments p JOIN ledger_entries e ON e.source_id = p.id AND e.kind = 'sale_reversal'
    AND e.account = 'processor_clearing';

-- +goose Down
DELETE FROM refunds WHERE automatic;
ALTER TABLE refunds DROP COLUMN automatic;
