package subscriptions

import (
	"context"

	"sundry/adapters/gormstore/repo"
	"sundry/core/id"
)

type audit struct{ *repo.Base }

// Stalled implements ports.SubscriptionAudit. An unsettled charge has no task while its request makes it, and none
// until the next search for those whose request died.
func (t audit) Stalled(_ context.Context, limit int) ([]string, error) {
	return t.QueryIDs("audit steps of subscriptions",
		`SELECT s.id FROM subscriptions s WHERE s.status IN ('trialing', 'active', 'past_due') AND s.disputes = '[]'
		AND NOT EXISTS (SELECT 1 FROM tasks WHERE tasks.id = 'subscription.due:' || s.id)
		AND NOT EXISTS (SELECT 1 FROM payments p
			WHERE p.purpose = 'subscription' AND p.subject_id = s.id AND p.settled_at IS NULL) ORDER BY s.id LIMIT ?`, limit)
}

// LostCharges implements ports.SubscriptionAudit.
func (t audit) LostCharges(_ context.Context, limit int) ([]string, error) {
	return t.QueryIDs("audit charges of subscriptions",
		`SELECT p.id FROM payments p WHERE `+t.Made("p.id", id.Payment)+` AND p.purpose = 'subscription'
		AND p.status = 'succeeded'
		AND p.refunded <> p.amount AND p.amount > 0
		AND NOT EXISTS (SELECT 1 FROM subscription_periods b WHERE b.payment_id = p.id)
		AND NOT EXISTS (SELECT 1 FROM disputes d WHERE d.payment_id = p.id AND d.status = 'lost')
		AND NOT EXISTS (SELECT 1 FROM refunds f WHERE f.payment_id = p.id AND f.automatic AND f.status = 'failed')
		AND NOT EXISTS (SELECT 1 FROM tasks WHERE tasks.id = 'payment.refund:' || p.id) ORDER BY p.id LIMIT ?`, limit)
}

// WithoutGrant implements ports.SubscriptionAudit.
func (t audit) WithoutGrant(_ context.Context, limit int) ([]string, error) {
	return t.QueryIDs("audit grants of subscriptions",
		`SELECT s.id FROM subscriptions s WHERE s.status IN ('trialing', 'active') AND s.disputes = '[]' AND NOT s.withdrawn
		AND NOT EXISTS (SELECT 1 FROM grants g WHERE g.creator_id = s.creator_id AND g.source = 'subscription'
		AND g.source_id = s.id AND g.end_reason = '')
		ORDER BY s.id LIMIT ?`, limit)
}
