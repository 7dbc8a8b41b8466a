package access

import (
	"slices"
	"time"

	"sundry/core/plan"
	"sundry/core/subscription"
)

// CreditBlock is a number of units to use up. Granted - Used are left of it; nothing is while Used is more, as it may
// be after a change to a plan that grants less.
type CreditBlock struct {
	Key     string `json:"key"`
	Unit    string `json:"unit"`
	Granted int64  `json:"granted"`
	Used    int64  `json:"used"`
	// Renews means that the block belongs to the plan's current period and ends with it.
	Renews bool `json:"renews"`
	// Amount is the number that the present plan grants for a whole period; 0 when it has no such credit.
	Amount int64 `json:"amount,omitempty"`
	// Shares is Granted times the days of the period, to the day, of a block that renews.
	Shares int64 `json:"shares,omitempty"`
	// Spent is the number used while it did not renew: no renewal gives that back.
	Spent int64 `json:"spent,omitempty"`
}

// Left returns the units left to use.
func (b CreditBlock) Left() int64 { return max(b.Granted-b.Used, 0) }

// Hidden reports whether the block only remembers what was used under an earlier plan.
func (b CreditBlock) Hidden() bool { return b.Granted == 0 && b.Amount == 0 }

// renewedCredits returns the blocks of a period that begins with a renewal: credits that renew are full, and others
// keep what was used of them.
func renewedCredits(old []CreditBlock, sub subscription.State) []CreditBlock {
	_, days := daysOf(sub.CurrentPeriodStart, sub.CurrentPeriodEnd, sub.CurrentPeriodStart)
	return eachCredit(old, sub, func(b CreditBlock, c plan.Credit) CreditBlock {
		spent := b.spent()
		b = CreditBlock{Key: b.Key, Unit: b.Unit, Granted: c.Amount, Amount: c.Amount, Renews: c.Renews, Spent: spent}
		if c.Renews {
			b.Shares = c.Amount * days
		} else {
			b.Used = spent
		}
		return b
	})
}

// changedCredits returns the blocks after a change of plan without a renewal. Of a credit that renews the rest of the
// period is exchanged by days, as the price is: the old plan's share goes and the new plan's comes, all of it where a
// period begins. Other credits are exchanged whole. What was used stays used.
func changedCredits(old []CreditBlock, was Plan, sub subscription.State, now time.Time) []CreditBlock {
	left, days := daysOf(was.CurrentPeriodStart, was.CurrentPeriodEnd, now)
	nextLeft, nextDays := left, days
	begins := !was.CurrentPeriodStart.Equal(sub.CurrentPeriodStart) || !was.CurrentPeriodEnd.Equal(sub.CurrentPeriodEnd)
	if begins {
		_, nextDays = daysOf(sub.CurrentPeriodStart, sub.CurrentPeriodEnd, now)
		nextLeft = nextDays
	}
	return eachCredit(old, sub, func(b CreditBlock, c plan.Credit) CreditBlock {
		if b.Shares == 0 { // written before there were shares
			b.Amount, b.Shares = b.Granted, b.Granted*days
		}
		var over int64 // the shares of the days that are over
		if b.Renews {
			over = b.Shares - b.Amount*left
		}
		b.Spent = b.spent()
		if c.Key != "" && !c.Renews {
			return CreditBlock{Key: c.Key, Unit: c.Unit, Granted: c.Amount, Used: max(b.Used, b.Spent), Amount: c.Amount,
				Spent: b.Spent}
		}
		if begins {
			over = over / days * nextDays
		}
		b.Renews = b.Renews || c.Renews
		b.Amount, b.Shares = c.Amount, over+c.Amount*nextLeft
		b.Granted = b.Shares / nextDays
		return b
	})
}

// daysOf is subscription.DaysLeft for divisions.
func daysOf(start, end, now time.Time) (left, total int64) {
	left, total = subscription.DaysLeft(start, end, now)
	return left, max(total, 1)
}

// spent returns what no renewal gives back of the block.
func (b CreditBlock) spent() int64 {
	if b.Renews {
		return b.Spent
	}
	return max(b.Spent, b.Used)
}

// eachCredit calls next with every credit of the subscription's plan and the block that there was of it, and then with
// every other block and no credit. Blocks in which nothing is left to remember go.
func eachCredit(old []CreditBlock, sub subscription.State,
	next func(CreditBlock, plan.Credit) CreditBlock) (blocks []CreditBlock) {
	rest := slices.Clone(old)
	for _, c := range sub.Offer.Terms.Credits {
		b := CreditBlock{Key: c.Key, Unit: c.Unit, Renews: c.Renews}
		if i := slices.IndexFunc(rest, func(o CreditBlock) bool { return o.Key == c.Key && o.Unit == c.Unit }); i >= 0 {
			b = rest[i]
			rest = slices.Delete(rest, i, i+1)
		}
		blocks = append(blocks, next(b, c))
	}
	for _, b := range rest {
		if b = next(b, plan.Credit{}); b.Granted > 0 || b.Used > 0 || b.Spent > 0 {
			blocks = append(blocks, b)
		}
	}
	return blocks
}
