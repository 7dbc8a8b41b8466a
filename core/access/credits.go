package access

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"sundry/core/fault"
)

// CreditUse is one consumption of credits and the response it was given. It is never deleted, so that a repeated
// request gets the same response.
type CreditUse struct {
	CreatorID          string
	ExternalCustomerID string
	IdempotencyKey     string // unique per customer
	Request            ConsumeRequest
	Result             Balance
	At                 time.Time
}

// ConsumeRequest names a credit and the units to consume.
type ConsumeRequest struct {
	Key string
	// Unit may be empty when the key's credits are all in one unit.
	Unit   string
	Amount int64 // at least 1
}

// Balance is one credit right after a use.
type Balance struct {
	Key, Unit              string
	Amount                 int64 // what this use took
	Granted, Used, Balance int64
	Version                int64
}

// portion is one block that can be drawn from.
type portion struct {
	grant *Grant
	block int
}

// Consume draws the units from the running grants, those that expire soonest first, and returns the grants it changed
// and the unit. INSUFFICIENT_BALANCE when they hold too little: then nothing is changed. VALIDATION_FAILED when the
// key's credits are in several units and none was named.
func Consume(grants []*Grant, d ConsumeRequest) (changed []*Grant, unit string, err error) {
	unit, err = unitOf(grants, d)
	if err != nil {
		return nil, "", err
	}
	var portions []portion
	var balance int64
	for _, g := range grants {
		for i, l := range g.s.Credits {
			if g.Active() && l.Key == d.Key && l.Unit == unit && l.Left() > 0 {
				portions = append(portions, portion{g, i})
				balance += l.Left()
			}
		}
	}
	if balance < d.Amount {
		return nil, "", fault.Newf(fault.InsufficientBalance, "The balance of %s is %d, less than the %d asked for.", d.Key,
			balance, d.Amount)
	}
	slices.SortFunc(portions, soonestFirst)
	left := d.Amount
	for _, p := range portions {
		if left == 0 {
			break
		}
		taken := p.grant.consume(p.block, left)
		left -= taken
		if !slices.Contains(changed, p.grant) {
			p.grant.s.Revision++
			changed = append(changed, p.grant)
		}
	}
	return changed, unit, nil
}

// unitOf resolves the unit to draw: the one named, else the only one there is.
func unitOf(grants []*Grant, d ConsumeRequest) (string, error) {
	if d.Unit != "" {
		return d.Unit, nil
	}
	var units []string
	for _, g := range grants {
		for _, l := range g.s.Credits {
			if g.Active() && l.Key == d.Key && !l.Hidden() && !slices.Contains(units, l.Unit) {
				units = append(units, l.Unit)
			}
		}
	}
	if len(units) > 1 {
		slices.Sort(units)
		return "", fault.Invalid(fault.Detail{Field: "unit", Code: fault.DetailRequired,
			Message: "The credits of this key are in several units, so name one of: " + strings.Join(units, ", ") + "."})
	}
	return strings.Join(units, ""), nil
}

// consume takes up to n units from a block and returns how many it took. The slice is copied: a State handed out stays
// as it was.
func (g *Grant) consume(block int, n int64) int64 {
	g.s.Credits = slices.Clone(g.s.Credits)
	l := &g.s.Credits[block]
	taken := min(n, l.Left())
	l.Used += taken
	return taken
}

// soonestFirst orders by expiry (what never expires last), then by age.
func soonestFirst(a, b portion) int {
	expiryA, expiryB := a.grant.CreditExpiry(a.grant.s.Credits[a.block]), b.grant.CreditExpiry(b.grant.s.Credits[b.block])
	if expiryA.IsZero() != expiryB.IsZero() {
		if expiryA.IsZero() {
			return 1
		}
		return -1
	}
	return cmp.Or(expiryA.Compare(expiryB), older(a.grant, b.grant), cmp.Compare(a.block, b.block))
}

// older orders grants by when they began and, where that is equal, by id: a total order that no list order can change.
func older(a, b *Grant) int {
	return cmp.Or(a.s.StartedAt.Compare(b.s.StartedAt), cmp.Compare(a.s.ID, b.s.ID))
}
