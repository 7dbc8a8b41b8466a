-- +goose Up

-- What is left of each payment in the value of the period and in the credit; '[]' = not told apart.
ALTER TABLE subscriptions ADD COLUMN funds TEXT NOT NULL DEFAULT '[]';           -- JSON
ALTER TABLE subscriptions ADD COLUMN disputes TEXT NOT NULL DEFAULT '[]';        -- JSON: those that are open
ALTER TABLE subscriptions ADD COLUMN held BOOLEAN NOT NULL DEFAULT FALSE;        -- a renewal may have waited for a dispute
ALTER TABLE subscriptions ADD COLUMN withdrawn BOOLEAN NOT NULL DEFAULT FALSE;   -- the money of the period went back, and its access
ALTER TABLE subscriptions ADD COLUMN cancel_reason TEXT NOT NULL DEFAULT '';     -- '' = not canceled, or not recorded

-- What was refunded or is in dispute already: the grants show whether that took the access of the current period.
UPDATE subscriptions SET withdrawn = TRUE WHERE EXISTS (
    SELECT 1 FROM grants g WHERE g.source = 'subscription' AND g.source_id = subscriptions.id AND g.end_reason = 'refunded');
UPDATE subscriptions SET held = TRUE, disputes = (
    SELECT '[{"id":"' || MIN(d.id) || '","paymentId":"' || MIN(d.payment_id) || '","paidFrom":"0001-01-01T00:00:00Z"}]'
    FROM disputes d WHERE d.status IN ('needs_response', 'under_review')
    AND (d.subscription_id = subscriptions.id OR d.checkout_id = subscriptions.checkout_id AND d.checkout_id <> ''))
WHERE status IN ('trialing', 'active', 'past_due', 'paused') AND EXISTS (
    SELECT 1 FROM disputes d WHERE d.status IN ('needs_response', 'under_review')
    AND (d.subscription_id = subscriptions.id OR d.checkout_id = subscriptions.checkout_id AND d.checkout_id <> ''));
UPDATE subscriptions SET funds = (
    SELECT '[{"paymentId":"' || MIN(d.payment_id) || '","value":' || subscriptions.period_value || ',"credit":' || subscriptions.credit || '}]'
    FROM disputes d WHERE d.status IN ('needs_response', 'under_review')
    AND (d.subscription_id = subscriptions.id OR d.checkout_id = subscriptions.checkout_id AND d.checkout_id <> ''))
WHERE disputes <> '[]' AND EXISTS (
    SELECT 1 FROM grants g WHERE g.source = 'subscription' AND g.source_id = subscriptions.id AND g.end_reason = 'disputed');

-- What a refund does to the subscription of its payment; '' = what it does by default.
ALTER TABLE refunds ADD COLUMN subscription TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE refunds DROP COLUMN subscription;
ALTER TABLE subscriptions DROP COLUMN cancel_reason;
ALTER TABLE subscriptions DROP COLUMN withdrawn;
ALTER TABLE subscriptions DROP COLUMN held;
ALTER TABLE subscriptions DROP COLUMN disputes;
ALTER TABLE subscriptions DROP COLUMN funds;
