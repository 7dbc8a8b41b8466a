package usage

import (
	"encoding/json"
	"fmt"
	"strconv"

	"sundry/core/fault"
)

// MaxAmount bounds one line of an invoice, in minor units: no card takes more.
const MaxAmount = 99_999_999_999

const maxTiers = 100

// UnitAmount is the price of one unit in minor units of a currency: at most 99,999,999,999, with up to 12 decimals.
type UnitAmount struct{ value wide }

// ParseUnitAmount reads a price as its JSON string or integer writes it. Its error is a VALIDATION_FAILED fault without
// a field.
func ParseUnitAmount(text string) (UnitAmount, error) {
	n, ok := parseNumber(text)
	switch {
	case !ok:
		return UnitAmount{}, invalid(fault.DetailInvalid, "Expected a decimal number of minor units, such as 0.35.")
	case n.negative:
		return UnitAmount{}, invalid(fault.DetailOutOfRange, "Expected a price of 0 or more.")
	case n.decimals() > maxDecimals:
		return UnitAmount{}, invalid(fault.DetailOutOfRange, "Expected at most 12 decimals.")
	}
	value, fits := n.scaled()
	if limit, _ := (wide{MaxAmount}).mulAdd(one, 0); !fits || value.compare(limit) > 0 {
		return UnitAmount{}, invalid(fault.DetailOutOfRange, "Expected at most 99999999999 minor units.")
	}
	return UnitAmount{value}, nil
}

// String writes the price in minor units, without superfluous zeros.
func (u UnitAmount) String() string { return u.value.decimal(scale) }

// Tier is one step of a price: its unit price holds above the tier before it, up to and including UpTo.
type Tier struct {
	UpTo      Quantity
	Unbounded bool // the last tier has no UpTo
	Unit      UnitAmount
}

type tierJSON struct {
	UpTo *Quantity `json:"upTo"`
	Unit string    `json:"unitAmountDecimal"`
}

// MarshalJSON writes {upTo, unitAmountDecimal}; upTo is null in the last tier.
func (t Tier) MarshalJSON() ([]byte, error) {
	out := tierJSON{Unit: t.Unit.String()}
	if !t.Unbounded {
		out.UpTo = &t.UpTo
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (t *Tier) UnmarshalJSON(raw []byte) error {
	var in tierJSON
	if err := json.Unmarshal(raw, &in); err != nil {
		return err
	}
	unit, err := ParseUnitAmount(in.Unit)
	if err != nil {
		return fmt.Errorf("usage: stored unit price %q: %w", in.Unit, err)
	}
	*t = Tier{Unbounded: in.UpTo == nil, Unit: unit}
	if in.UpTo != nil {
		t.UpTo = *in.UpTo
	}
	return nil
}

// Tiers are the steps of a price: UpTo rises strictly, and the last tier, and only the last, is unbounded.
type Tiers []Tier

// Charge is the contribution of one tier to a line.
type Charge struct {
	Tier Tier
	// Quantity is in units, or in packages of PackageSize units where that is not 0.
	Quantity    Quantity
	PackageSize int64 `json:",omitzero"`
	// Amount is exact, in minor units: only the sum of a line is rounded.
	Amount string
}

// Counted writes the quantity, with the size of its packages if it counts such.
func (c Charge) Counted() string {
	switch {
	case c.PackageSize == 0:
		return c.Quantity.String()
	case c.Quantity == Units(1):
		return fmt.Sprintf("1 package of %d", c.PackageSize)
	}
	return fmt.Sprintf("%s packages of %d", c.Quantity, c.PackageSize)
}

// Amount rates a quantity by graduated tiers: each unit at the price of the tier it falls into. The sum is rounded
// once, half away from zero, to a multiple of step minor units (money.Currency.Step). LIMIT_REACHED when it exceeds
// MaxAmount.
func (ts Tiers) Amount(q Quantity, step int64) (int64, error) {
	exact, ok := ts.exact(q, nil)
	if !ok {
		return 0, ErrTooMuch()
	}
	return roundHalfAwayFromZero(exact, step)
}

// Explain is Amount together with what each tier that was reached contributes.
func (ts Tiers) Explain(q Quantity, step int64) ([]Charge, int64, error) {
	charges := make([]Charge, 0, len(ts))
	exact, ok := ts.exact(q, func(t Tier, part, amount wide) {
		charges = append(charges, Charge{Tier: t, Quantity: Quantity{value: part}, Amount: amount.decimal(2 * scale)})
	})
	if !ok {
		return nil, 0, ErrTooMuch()
	}
	amount, err := roundHalfAwayFromZero(exact, step)
	return charges, amount, err
}

// exact is the amount at 24 decimals. visit, unless nil, sees each tier that was reached.
func (ts Tiers) exact(q Quantity, visit func(t Tier, part, amount wide)) (total wide, ok bool) {
	left, from := q.Billable().value, wide{}
	for i := range ts {
		if left.isZero() {
			break
		}
		part := left
		if !ts[i].Unbounded {
			if width := ts[i].UpTo.value.sub(from); width.compare(left) < 0 {
				part = width
			}
			from = ts[i].UpTo.value
		}
		left = left.sub(part)
		amount, fits := part.times(ts[i].Unit.value)
		if !fits {
			return wide{}, false
		}
		if total, fits = total.add(amount); !fits {
			return wide{}, false
		}
		if visit != nil {
			visit(ts[i], part, amount)
		}
	}
	return total, true
}

// roundHalfAwayFromZero turns an exact amount at 24 decimals into a multiple of step minor units. Amounts are never
// negative here.
func roundHalfAwayFromZero(exact wide, step int64) (int64, error) {
	size := uint64(step) * one //nolint:gosec // 1 or 10
	atUnit, _ := exact.divide(one)
	steps, rest := atUnit.divide(size)
	// What is left is rest*10^12 and less than 10^12 more; half a step is decided by rest alone.
	if rest >= size/2 {
		steps, _ = steps.add(wide{1})
	}
	if steps.compare(wide{uint64(MaxAmount / step)}) > 0 { //nolint:gosec // not negative
		return 0, ErrTooMuch()
	}
	return int64(steps[0]) * step, nil //nolint:gosec // at most MaxAmount
}

// ErrTooMuch returns the LIMIT_REACHED of use that costs more than an invoice can charge.
func ErrTooMuch() error {
	return fault.New(fault.LimitReached, "The usage of this period costs more than 99999999999 minor units, which is "+
		"the most that an invoice can charge. Void the reports whose quantity is wrong.")
}

// largePart is the part of MaxAmount up to which one report is not checked: a millionth.
const largePart = 1_000_000

// Large reports whether a quantity, all of it at the price of the dearest tier, costs so much that the amount of its
// period has to be checked.
func (ts Tiers) Large(q Quantity) bool {
	var dearest wide
	for i := range ts {
		if ts[i].Unit.value.compare(dearest) > 0 {
			dearest = ts[i].Unit.value
		}
	}
	exact, ok := q.Billable().value.times(dearest)
	if !ok {
		return true
	}
	minor, err := roundHalfAwayFromZero(exact, 1)
	return err != nil || minor > MaxAmount/largePart
}

// TierDraft is a tier as a request writes it.
type TierDraft struct {
	UpTo              *json.Number `json:"upTo"` // nil for the last
	UnitAmountInCents *int64       `json:"unitAmountInCents"`
	UnitAmountDecimal *string      `json:"unitAmountDecimal"`
}

// ParseTiers checks the tiers of a price and records every fault below field.
func ParseTiers(f *fault.Violations, field string, drafts []TierDraft) Tiers {
	f.Check(len(drafts) > 0, field, fault.DetailRequired, "Expected at least one tier; the last has upTo null.")
	f.Check(len(drafts) <= maxTiers, field, fault.DetailTooLong, "A price may have at most 100 tiers.")
	tiers := make(Tiers, len(drafts))
	var previous Quantity
	for i, d := range drafts {
		at, last := f.Item(field, i), i == len(drafts)-1
		tiers[i].Unit = d.unit(at)
		if d.UpTo == nil {
			tiers[i].Unbounded = true
			at.Check(last, "upTo", fault.DetailInvalid, "Only the last tier is without an end (upTo null).")
			continue
		}
		at.Check(!last, "upTo", fault.DetailInvalid, "The last tier must be without an end (upTo null).")
		upTo, err := ParseQuantity(d.UpTo.String())
		if err != nil {
			_ = at.Nest("upTo").Merge(err) // its only error is a fault of the request
			continue
		}
		at.Check(upTo.Compare(previous) > 0, "upTo", fault.DetailOutOfRange, "Expected more than "+previous.String()+
			": the tiers must rise.")
		tiers[i].UpTo, previous = upTo, upTo
	}
	return tiers
}

// unit reads whichever of the two members is given; exactly one must be.
func (d TierDraft) unit(f *fault.Violations) UnitAmount {
	const integer, decimal = "unitAmountInCents", "unitAmountDecimal"
	text, member := "", decimal
	switch {
	case d.UnitAmountDecimal != nil:
		text = *d.UnitAmountDecimal
		f.Check(d.UnitAmountInCents == nil, member, fault.DetailNotAllowed, "Expected either unitAmountInCents or "+
			"unitAmountDecimal.")
	case d.UnitAmountInCents != nil:
		text, member = strconv.FormatInt(*d.UnitAmountInCents, 10), integer
	default:
		f.Add(integer, fault.DetailRequired, "Expected a price in minor units, or unitAmountDecimal with its decimals.")
		return UnitAmount{}
	}
	amount, err := ParseUnitAmount(text)
	_ = f.Nest(member).Merge(err) // its only error is a fault of the request
	return amount
}

// Minor returns the price as an integer of minor units; whole is false when it has decimals.
func (u UnitAmount) Minor() (minor int64, whole bool) {
	units, rest := u.value.divide(one)
	return int64(units[0]), rest == 0 //nolint:gosec // at most MaxAmount
}
