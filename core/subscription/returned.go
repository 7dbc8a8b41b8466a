package subscription

import "sundry/core/money"

// ValueOf returns the part of its period's value that a bill's charge pays for. A change of plan within a period pays
// for the remaining days, so that it adds more to the value of the whole period than its price.
func (s State) ValueOf(b Bill) (money.Amount, error) {
	if b.Kind != PlanChange || !b.PeriodStart.Equal(s.CurrentPeriodStart) || b.Subtotal.Minor == 0 {
		return b.Due(), nil
	}
	gained, err := b.PeriodValue.Sub(s.PeriodValue)
	if err != nil {
		return money.Amount{}, err
	}
	return gained.RatioHalfUp(b.Due().Minor, b.Subtotal.Minor)
}

// Returned takes what went back to the customer off the value of the current period, so that a change of plan does not
// credit it a second time. What was credited before, it takes off the credit. The event is nil when nobody can see a
// change.
func (sub *Subscription) Returned(value money.Amount) (event Transition, changed bool, err error) {
	before := sub.s
	if before.Status.Terminal() || value.Minor <= 0 || before.PeriodValue.Minor+before.Credit.Minor == 0 {
		return nil, false, nil
	}
	s := &sub.s
	s.PeriodValue.Minor = max(before.PeriodValue.Minor-value.Minor, 0)
	rest := value.Minor - (before.PeriodValue.Minor - s.PeriodValue.Minor)
	s.Credit.Minor = max(before.Credit.Minor-rest, 0)
	if s.Credit == before.Credit {
		sub.s.Revision++
		return nil, true, nil
	}
	return sub.updated(before), true, nil
}
