// Package usage measures and rates what customers consume: meters that aggregate reported quantities, prices with
// graduated tiers, the plans that bill a subscription's use of a meter period by period, and the arithmetic of all
// that, which is exact to the last decimal and rounds once.
package usage

import (
	"regexp"
	"slices"
	"time"

	"sundry/core/fault"
	"sundry/core/metadata"
	"sundry/core/money"
	"sundry/core/period"
	"sundry/core/text"
)

// Aggregation specifies how the reports of a period become one quantity.
type Aggregation string

// The aggregations. SUM takes negative reports as corrections; MAX and LAST are of quantities that are never negative.
// COUNT is the number of reports, and UNIQUE the number of values that a property of theirs has. A period without
// reports is 0.
const (
	Sum    Aggregation = "SUM"
	Max    Aggregation = "MAX"
	Last   Aggregation = "LAST"
	Count  Aggregation = "COUNT"
	Unique Aggregation = "UNIQUE"
)

// Counted returns the aggregation by which quantities are added up once they are stored. What COUNT and UNIQUE store is
// 1 for a report that counts and 0 for one whose value was counted before, so both are sums.
func (a Aggregation) Counted() Aggregation {
	if a == Count || a == Unique {
		return Sum
	}
	return a
}

// Meter counts one kind of event of an account. It never changes.
type Meter struct {
	ID          string
	CreatorID   string
	Name        string
	EventName   string // what reports name it by; unique per account
	Aggregation Aggregation
	// UniqueProperty is the property of reports whose values UNIQUE counts; "" for the others.
	UniqueProperty string
	// Dimensions are the properties of reports by whose values SUM and COUNT tell use apart, so that a price may depend
	// on them.
	Dimensions []string
	CreatedAt  time.Time
}

// Check records what the meter does not take of a report.
func (m Meter) Check(f *fault.Violations, r Report) {
	switch m.Aggregation {
	case Sum: // takes corrections
	case Max, Last:
		f.Check(!r.Quantity.isNegative(), "quantity", fault.DetailOutOfRange, "A "+string(m.Aggregation)+
			" meter takes no negative quantity.")
	case Count, Unique:
		f.Check(r.Quantity == Units(1), "quantity", fault.DetailOutOfRange, "A "+string(m.Aggregation)+
			" meter takes the quantity 1 only.")
	}
	if m.Aggregation == Unique {
		f.Nest("properties").Check(r.Properties[m.UniqueProperty] != "", m.UniqueProperty, fault.DetailRequired,
			"Expected the value that the meter counts.")
	}
}

// UniqueValue returns a hash of the value by which a UNIQUE meter tells the report from others, nil for other meters.
func (m Meter) UniqueValue(r Report) []byte {
	if m.Aggregation != Unique {
		return nil
	}
	hash := fingerprint(r.Properties[m.UniqueProperty])
	return hash[:]
}

// Product is the subject of usage prices. It never changes.
type Product struct {
	ID        string
	CreatorID string
	Name      string
	Type      string
	CreatedAt time.Time
}

// Price is a price of a product's units in tiers. It never changes.
type Price struct {
	ID            string
	CreatorID     string
	ProductID     string
	BillingScheme string
	Currency      money.Currency
	TiersMode     TiersMode
	Tiers         Tiers
	// PackageSize is the number of units in a package; 0 unless the mode is Package.
	PackageSize int64
	// MinimumMinor is the least that a period costs, whatever was used in it, in minor units; 0 for none.
	MinimumMinor int64
	// Rates bill use with certain values of the meter's dimensions: the first that matches does. Tiers bill the rest.
	Rates     []Rate
	Interval  period.Interval
	CreatedAt time.Time
}

// TiersMode is the way in which tiers are applied.
type TiersMode string

// The modes: each unit at the price of the tier that it falls into, or all of them at the price of the tier that the
// whole quantity falls into. By package the only tier has the price of a package, and every package begun is billed.
const (
	Graduated TiersMode = "graduated"
	Volume    TiersMode = "volume"
	Package   TiersMode = "package"
)

// maxPackage bounds the units of a package.
const maxPackage = 1_000_000_000_000

const maxName = 200

// eventName matches the names that plans allow for meter events too.
var (
	eventName   = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.:-]{0,99}$`)
	productType = regexp.MustCompile(`^[A-Z][A-Z0-9_]{0,49}$`)
)

// MeterDraft is a meter as a request writes it.
type MeterDraft struct {
	Name        string `json:"name"`
	EventName   string `json:"eventName"`
	Aggregation string `json:"aggregation"`
	// UniqueProperty is given with the aggregation UNIQUE, and only with it.
	UniqueProperty string `json:"uniqueProperty,omitempty"`
	// Dimensions are given with the aggregations SUM and COUNT only.
	Dimensions []string `json:"dimensions,omitempty"`
}

// Equal reports whether two drafts are of meters that are alike.
func (d MeterDraft) Equal(other MeterDraft) bool {
	return d.Name == other.Name && d.EventName == other.EventName && d.Aggregation == other.Aggregation &&
		d.UniqueProperty == other.UniqueProperty && slices.Equal(d.Dimensions, other.Dimensions)
}

// Parse checks the draft and lists every fault, as one VALIDATION_FAILED error.
func (d MeterDraft) Parse() (Meter, error) {
	var f fault.Violations
	checkName(&f, d.Name)
	f.Check(eventName.MatchString(d.EventName), "eventName", requiredOr(d.EventName, fault.DetailInvalid),
		"Expected 1 to 100 letters, digits, hyphens, underscores, dots or colons, starting with a letter or digit.")
	switch Aggregation(d.Aggregation) {
	case Sum, Max, Last, Count:
		f.Check(d.UniqueProperty == "", "uniqueProperty", fault.DetailNotAllowed, "Only a UNIQUE meter has a property.")
	case Unique:
		if f.Check(d.UniqueProperty != "", "uniqueProperty", fault.DetailRequired,
			"Expected the property of reports whose values are counted, such as userId.") {
			metadata.CheckText("uniqueProperty", d.UniqueProperty, metadata.MaxKey, &f)
		}
	default:
		f.Add("aggregation", requiredOr(d.Aggregation, fault.DetailNotAllowed),
			fault.ExpectedOneOf(d.Aggregation, string(Sum), string(Max), string(Last), string(Count), string(Unique)))
	}
	divisible := Aggregation(d.Aggregation) == Sum || Aggregation(d.Aggregation) == Count
	if f.Check(len(d.Dimensions) == 0 || divisible, "dimensions", fault.DetailNotAllowed,
		"Only a SUM or COUNT meter has dimensions.") {
		checkDimensions(&f, d.Dimensions)
	}
	return Meter{
		Name: d.Name, EventName: d.EventName, Aggregation: Aggregation(d.Aggregation), UniqueProperty: d.UniqueProperty,
		Dimensions: slices.Clone(d.Dimensions),
	}, f.Err()
}

// ProductDraft is a product as a request writes it.
type ProductDraft struct {
	Name string `json:"name"`
	Type string `json:"type"`
}

// Parse checks the draft and lists every fault.
func (d ProductDraft) Parse() (Product, error) {
	var f fault.Violations
	checkName(&f, d.Name)
	f.Check(productType.MatchString(d.Type), "type", requiredOr(d.Type, fault.DetailInvalid),
		"Expected a type in capitals such as SERVICE.")
	return Product{Name: d.Name, Type: d.Type}, f.Err()
}

// PriceDraft is a price as a request writes it.
type PriceDraft struct {
	ProductID     string          `json:"productId"`
	BillingScheme string          `json:"billingScheme"`
	Currency      string          `json:"currency"`
	TiersMode     *string         `json:"tiersMode"`
	Tiers         []TierDraft     `json:"tiers"`
	PackageSize   *int64          `json:"packageSize"` // with the mode package, and only with it
	Minimum       *int64          `json:"minimumAmountInCents"`
	Rates         []RateDraft     `json:"rates"`
	Recurring     *RecurringDraft `json:"recurring"`
}

// RecurringDraft specifies how often a price is billed.
type RecurringDraft struct {
	Interval string `json:"interval"`
}

// Parse checks the draft and lists every fault. Whether the product exists is for the caller to see.
func (d PriceDraft) Parse() (Price, error) {
	var f fault.Violations
	f.Check(d.ProductID != "", "productId", fault.DetailRequired, "Expected the id of a product.")
	f.Check(d.BillingScheme == "usage_based" || d.BillingScheme == "TIERED", "billingScheme",
		requiredOr(d.BillingScheme, fault.DetailNotAllowed),
		fault.ExpectedOneOf(d.BillingScheme, "usage_based", "TIERED"))
	currency, err := money.ParseCurrency(d.Currency)
	_ = f.Nest("currency").Merge(err) // its only error is a fault of the request
	mode := Graduated
	if d.TiersMode != nil {
		mode = TiersMode(*d.TiersMode)
		f.OneOf("tiersMode", *d.TiersMode, string(Graduated), string(Volume), string(Package))
	}
	p := Price{ProductID: d.ProductID, BillingScheme: d.BillingScheme, Currency: currency,
		TiersMode: mode, Tiers: ParseTiers(&f, "tiers", d.Tiers), PackageSize: d.packageSize(&f, mode),
		Rates: parseRates(&f, d.Rates, mode)}
	checkOneTier(&f, d.Tiers, mode)
	if d.Minimum != nil && f.Check(*d.Minimum >= 1 && *d.Minimum <= MaxAmount, "minimumAmountInCents",
		fault.DetailOutOfRange, "Expected 1 to 99999999999 minor units.") {
		p.MinimumMinor = *d.Minimum
		currency.CheckStep(&f, "minimumAmountInCents", p.MinimumMinor)
	}
	if f.Check(d.Recurring != nil, "recurring", fault.DetailRequired, "Expected {\"interval\": \"month\"} or another "+
		"interval.") {
		p.Interval = parseInterval(&f, "recurring.interval", d.Recurring.Interval)
	}
	return p, f.Err()
}

// checkOneTier checks that what has its price by package has one tier.
func checkOneTier(f *fault.Violations, tiers []TierDraft, mode TiersMode) {
	f.Check(mode != Package || len(tiers) <= 1, "tiers", fault.DetailNotAllowed,
		"A price by package has one tier: the price of a package.")
}

// packageSize checks that a price by package, and no other, has a size.
func (d PriceDraft) packageSize(f *fault.Violations, mode TiersMode) int64 {
	const field = "packageSize"
	if mode != Package {
		f.Check(d.PackageSize == nil, field, fault.DetailNotAllowed, "Only a price with tiersMode package has a size.")
		return 0
	}
	if !f.Check(d.PackageSize != nil, field, fault.DetailRequired, "Expected the number of units in a package.") {
		return 0
	}
	f.Check(*d.PackageSize >= 1 && *d.PackageSize <= maxPackage, field, fault.DetailOutOfRange,
		"Expected 1 to 1000000000000 units.")
	return *d.PackageSize
}

func parseInterval(f *fault.Violations, field, text string) period.Interval {
	interval, err := period.ParseInterval(text)
	_ = f.Nest(field).Merge(err) // its only error is a fault of the request
	return interval
}

func checkName(f *fault.Violations, name string) {
	text.CheckName(f, "name", name, maxName)
}

// requiredOr is the code of a fault: REQUIRED for what was not given at all.
func requiredOr(given, code string) string {
	if given == "" {
		return fault.DetailRequired
	}
	return code
}
