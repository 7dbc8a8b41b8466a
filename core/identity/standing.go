package identity

import (
	"time"

	"sundry/core/fault"
)

// Suspend keeps the creator from signing in and from selling. A new reason replaces that of a suspension, which goes on
// since then. It reports false, and changes nothing, for one who is suspended for this reason already.
func (c *Creator) Suspend(reason string, now time.Time) bool {
	if c.Suspended() && c.s.SuspensionReason == reason {
		return false
	}
	if !c.Suspended() {
		c.s.SuspendedAt = now
	}
	c.s.SuspensionReason = reason
	c.s.Revision++
	return true
}

// Resume ends a suspension. It reports false, and changes nothing, where there is none.
func (c *Creator) Resume() bool {
	if !c.Suspended() {
		return false
	}
	c.s.SuspendedAt, c.s.SuspensionReason = time.Time{}, ""
	c.s.Revision++
	return true
}

// Suspended reports whether an operator has suspended the creator.
func (c *Creator) Suspended() bool { return !c.s.SuspendedAt.IsZero() }

// CheckOpen refuses the owner of a suspended account. FORBIDDEN.
func (c *Creator) CheckOpen() error {
	if !c.Suspended() {
		return nil
	}
	return fault.New(fault.Forbidden, "This account is suspended. Ask the operator of this service.")
}

// CheckSales refuses a new sale and to publish. FORBIDDEN, in words that buyers may read: without a confirmed address
// nothing is public yet.
func (c *Creator) CheckSales() error {
	switch {
	case c.s.EmailUnconfirmed:
		return fault.New(fault.Forbidden, "Confirm your email address before you sell: open the link that was mailed to you, "+
			"or have another one sent from the dashboard.")
	case !c.Suspended():
		return nil
	}
	return fault.New(fault.Forbidden, "This seller takes no new orders at the moment.")
}
