package identity

import (
	"context"
	"time"

	"sundry/adapters/gormstore/repo"
)

type refundPolicies struct{ *repo.Base }

// Insert implements ports.RefundPolicies.
func (t refundPolicies) Insert(_ context.Context, creatorID, hash, policy string, at time.Time) error {
	return t.Exec("insert refund policy of "+creatorID, `INSERT INTO refund_policies (creator_id, hash, policy, created_at)
		VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`, creatorID, hash, policy, at.UnixMilli())
}

// Get implements ports.RefundPolicies.
func (t refundPolicies) Get(_ context.Context, creatorID, hash string) (policy string, err error) {
	err = t.QueryRow("get refund policy of "+creatorID,
		"SELECT policy FROM refund_policies WHERE creator_id = ? AND hash = ?", []any{creatorID, hash}, &policy)
	return policy, err
}
