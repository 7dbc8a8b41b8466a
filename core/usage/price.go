package usage

import "slices"

// Amount rates a quantity. The sum is rounded once, half away from zero, to what can be charged in its currency: whole
// minor units, or tens of thousandths. LIMIT_REACHED when it exceeds MaxAmount.
func (p Price) Amount(q Quantity) (int64, error) {
	tiers, _ := p.at(q)
	counted, ok := p.counted(q)
	if !ok {
		return 0, ErrTooMuch()
	}
	return tiers.Amount(counted, p.Currency.Step())
}

// Explain is Amount together with what each tier that was reached contributes.
func (p Price) Explain(q Quantity) ([]Charge, int64, error) {
	tiers, reached := p.at(q)
	counted, ok := p.counted(q)
	if !ok {
		return nil, 0, ErrTooMuch()
	}
	charges, amount, err := tiers.Explain(counted, p.Currency.Step())
	if reached != nil && len(charges) > 0 {
		charges[0].Tier = *reached
	}
	for i := range charges {
		charges[i].PackageSize = p.PackageSize
	}
	return charges, amount, err
}

// at returns the tiers by which a quantity is rated: with Volume one for all units, of the tier that is reached.
func (p Price) at(q Quantity) (tiers Tiers, reached *Tier) {
	if p.TiersMode != Volume {
		return p.Tiers, nil
	}
	for i := range p.Tiers {
		if t := &p.Tiers[i]; t.Unbounded || q.Compare(t.UpTo) <= 0 {
			return Tiers{{Unbounded: true, Unit: t.Unit}}, t
		}
	}
	return nil, nil
}

// counted returns what the tiers count of a quantity: units, or packages begun. ok is false when it has more digits
// than can be kept.
func (p Price) counted(q Quantity) (counted Quantity, ok bool) {
	if p.TiersMode != Package {
		return q, true
	}
	return q.packages(p.PackageSize)
}

// Large reports whether the period's amount must be checked before a report of this quantity is taken.
func (p Price) Large(q Quantity) bool {
	counted, ok := p.counted(q)
	if !ok || p.Tiers.Large(counted) {
		return true
	}
	return slices.ContainsFunc(p.Rates, func(r Rate) bool { return r.Tiers.Large(counted) })
}

// packages returns how many packages of size units are begun with q.
func (q Quantity) packages(size int64) (begun Quantity, ok bool) {
	units, fraction := q.Billable().value.divide(one)
	whole, rest := units.divide(uint64(size)) //nolint:gosec // at least 1
	if fraction > 0 || rest > 0 {
		whole, _ = whole.add(wide{1})
	}
	value, ok := whole.mulAdd(one, 0)
	return Quantity{value: value}, ok
}
