package access

import "time"

// The ends of a grant whose money went back.
const (
	Refunded EndReason = "refunded" // all of its payment was refunded; it counts again when the money comes back
	Disputed EndReason = "disputed" // the buyer's bank took its payment back; a won dispute makes it count again
)

// What changes a snapshot when money goes back.
const (
	PaymentRefunded CauseKind = "payment_refunded" // id of the refund
	RefundFailed    CauseKind = "refund_failed"    // id of the refund, which had taken access away
	DisputeOpened   CauseKind = "dispute_opened"   // id of the dispute
	DisputeWon      CauseKind = "dispute_won"      // id of the dispute
)

// EndRefunded ends the grant of a payment that was refunded in full. changed is false for a grant that has ended.
func (g *Grant) EndRefunded(at time.Time) (changed bool) { return g.end(at, Refunded) == nil }

// Suspend ends the grant of a payment in dispute. changed is false when it had ended.
func (g *Grant) Suspend(at time.Time) (changed bool) {
	return g.end(at, Disputed) == nil
}

// Suspended reports whether the grant counts again once its dispute is won, or its refund fails after all.
func (g *Grant) Suspended() bool { return g.s.EndReason == Disputed || g.s.EndReason == Refunded }

// Resume makes a grant count again whose dispute was won. changed is false for one that ended otherwise, and for one
// whose time was over meanwhile.
func (g *Grant) Resume(now time.Time) (changed bool) { return g.resume(Disputed, now) }

// ResumeRefunded is Resume of a grant whose refund came back. While its payment is disputed, the grant waits for that.
func (g *Grant) ResumeRefunded(disputed bool, now time.Time) (changed bool) {
	if disputed && g.s.EndReason == Refunded {
		g.s.EndReason = Disputed
		g.s.Revision++
		return true
	}
	return g.resume(Refunded, now)
}

func (g *Grant) resume(from EndReason, now time.Time) (changed bool) {
	if g.s.EndReason != from || (!g.s.ExpiresAt.IsZero() && !now.Before(g.s.ExpiresAt)) {
		return false
	}
	g.s.EndReason, g.s.EndedAt = NotEnded, time.Time{}
	g.s.Revision++
	return true
}
