package usage

// Amount rates a quantity. The sum is rounded once, half away from zero, to whole minor units. LIMIT_REACHED when it
// exceeds MaxAmount.
func (p Price) Amount(q Quantity) (int64, error) {
	tiers, _ := p.at(q)
	return tiers.Amount(q)
}

// Explain is Amount together with what each tier that was reached contributes.
func (p Price) Explain(q Quantity) ([]Charge, int64, error) {
	tiers, reached := p.at(q)
	charges, amount, err := tiers.Explain(q)
	if reached != nil && len(charges) > 0 {
		charges[0].Tier = *reached
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
