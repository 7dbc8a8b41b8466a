package sandbox

import (
	"context"

	"sundry/adapters/gormstore/repo"
	"sundry/core/id"
	"sundry/core/payment"
	"sundry/core/refund"
	"sundry/ports"
)

// NewAudit returns the comparison over one connection.
func NewAudit(b *repo.Base) ports.SandboxAudit { return audit{b} }

type audit struct{ *repo.Base }

// UnmatchedCharges implements ports.SandboxAudit. An outcome's JSON begins with its status. A payment of zero is never
// charged. A card that is saved is a charge of its setup, which no payment belongs to.
func (t audit) UnmatchedCharges(_ context.Context, limit int) ([]string, error) {
	const charged = `c.outcome LIKE '{"Status":"succeeded"%'`
	const sameFee = `c.outcome LIKE '%"Fee":{"Minor":' || p.processor_fee || ',"Currency":"' || p.currency || '"}%'`
	return t.QueryIDs("audit sandbox charges", `SELECT id FROM (
			SELECT p.id FROM payments p LEFT JOIN sandbox_charges c ON c.payment_id = p.id
			WHERE `+t.Made("p.id", id.Payment)+`
				AND p.provider = 'sandbox' AND p.settled_at IS NOT NULL AND p.amount > 0 AND CASE WHEN p.status = ?
				THEN c.payment_id IS NULL OR NOT (`+charged+` AND `+sameFee+`)
				ELSE c.payment_id IS NOT NULL AND `+charged+` END
			UNION
			SELECT c.payment_id FROM sandbox_charges c LEFT JOIN payments p ON p.id = c.payment_id
			LEFT JOIN card_setups s ON s.id = c.checkout_id
			WHERE `+t.Made("c.payment_id", id.Payment)+` AND p.id IS NULL AND s.id IS NULL AND `+charged+`
		) AS unmatched ORDER BY id LIMIT ?`, payment.Succeeded, limit)
}

// UnmatchedRefunds implements ports.SandboxAudit.
func (t audit) UnmatchedRefunds(_ context.Context, limit int) ([]string, error) {
	return t.QueryIDs("audit sandbox refunds", `SELECT r.id FROM refunds r
		JOIN payments p ON p.id = r.payment_id AND p.provider = 'sandbox'
		LEFT JOIN sandbox_refunds s ON s.refund_id = r.id AND s.payment_id = r.payment_id AND s.currency = r.currency
		AND s.amount = r.amount
		WHERE `+t.Made("r.id", id.Refund)+`
			AND r.status = ? AND r.amount > 0 AND s.refund_id IS NULL ORDER BY r.id LIMIT ?`, refund.Succeeded, limit)
}
