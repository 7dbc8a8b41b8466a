package usage_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"sundry/core/fault"
	"sundry/core/fault/faulttest"
	"sundry/core/period"
	"sundry/core/usage"
)

func number(text string) *json.Number { return new(json.Number(text)) }

// wantFaults compares what a draft was refused with, as "field CODE, …".
func wantFaults(t *testing.T, err error, want string) {
	t.Helper()
	if got := strings.Join(faulttest.Lines(t, err), ", "); got != want {
		t.Errorf("faults %q, want %q", got, want)
	}
}

func TestMetersAreRefusedWithEveryFault(t *testing.T) {
	t.Parallel()
	well := usage.MeterDraft{Name: "Calls", EventName: "api.calls", Aggregation: "SUM"}
	for name, c := range map[string]struct {
		change func(*usage.MeterDraft)
		want   string
	}{
		"well":        {func(*usage.MeterDraft) {}, ""},
		"the largest": {func(d *usage.MeterDraft) { d.Aggregation = "MAX" }, ""},
		"the last":    {func(d *usage.MeterDraft) { d.Aggregation = "LAST" }, ""},
		"reports":     {func(d *usage.MeterDraft) { d.Aggregation = "COUNT" }, ""},
		"values": {func(d *usage.MeterDraft) {
			d.Aggregation, d.UniqueProperty = "UNIQUE", "userId"
		}, ""},
		"values of nothing": {func(d *usage.MeterDraft) { d.Aggregation = "UNIQUE" }, "uniqueProperty REQUIRED"},
		"values of too long a property": {func(d *usage.MeterDraft) {
			d.Aggregation, d.UniqueProperty = "UNIQUE", strings.Repeat("p", 41)
		}, "uniqueProperty TOO_LONG"},
		"a sum of values":  {func(d *usage.MeterDraft) { d.UniqueProperty = "userId" }, "uniqueProperty NOT_ALLOWED"},
		"the longest name": {func(d *usage.MeterDraft) { d.Name = strings.Repeat("n", 200) }, ""},
		"a name too long":  {func(d *usage.MeterDraft) { d.Name = strings.Repeat("n", 201) }, "name TOO_LONG"},
		"nothing": {func(d *usage.MeterDraft) {
			*d = usage.MeterDraft{}
		}, "name REQUIRED, eventName REQUIRED, aggregation REQUIRED"},
		"no event's name":     {func(d *usage.MeterDraft) { d.EventName = "api calls" }, "eventName INVALID"},
		"another aggregation": {func(d *usage.MeterDraft) { d.Aggregation = "MEDIAN" }, "aggregation NOT_ALLOWED"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := well
			c.change(&d)
			m, err := d.Parse()
			if wantFaults(t, err, c.want); err == nil && (m.Name != d.Name || m.EventName != d.EventName ||
				string(m.Aggregation) != d.Aggregation || m.UniqueProperty != d.UniqueProperty) {
				t.Errorf("%+v", m)
			}
		})
	}
}

func TestProductsAreRefusedWithEveryFault(t *testing.T) {
	t.Parallel()
	for d, want := range map[usage.ProductDraft]string{
		{Name: "API", Type: "SERVICE"}: "",
		{}:                             "name REQUIRED, type REQUIRED",
		{Name: "API", Type: "service"}: "type INVALID",
	} {
		p, err := d.Parse()
		if wantFaults(t, err, want); err == nil && (p.Name != d.Name || p.Type != d.Type) {
			t.Errorf("%+v", p)
		}
	}
}

func byPackage(size int64) func(*usage.PriceDraft) {
	return func(d *usage.PriceDraft) { d.TiersMode, d.PackageSize = new("package"), &size }
}

func TestPricesAreRefusedWithEveryFault(t *testing.T) {
	t.Parallel()
	well := usage.PriceDraft{
		ProductID: "prd_1", BillingScheme: "usage_based", Currency: "eur", Tiers: rising(1),
		Recurring: &usage.RecurringDraft{Interval: "month"},
	}
	for name, c := range map[string]struct {
		change func(*usage.PriceDraft)
		want   string
	}{
		"well":             {func(*usage.PriceDraft) {}, ""},
		"the other scheme": {func(d *usage.PriceDraft) { d.BillingScheme = "TIERED" }, ""},
		"graduated":        {func(d *usage.PriceDraft) { d.TiersMode = new(string(usage.Graduated)) }, ""},
		"volume":           {func(d *usage.PriceDraft) { d.TiersMode = new("volume") }, ""},
		"another mode":     {func(d *usage.PriceDraft) { d.TiersMode = new("stairs") }, "tiersMode NOT_ALLOWED"},
		"packages":         {byPackage(1000), ""},
		"packages of one":  {byPackage(1), ""},
		"the largest":      {byPackage(1_000_000_000_000), ""},
		"too large":        {byPackage(1_000_000_000_001), "packageSize OUT_OF_RANGE"},
		"packages of none": {byPackage(0), "packageSize OUT_OF_RANGE"},
		"less than none":   {byPackage(-1), "packageSize OUT_OF_RANGE"},
		"no size":          {func(d *usage.PriceDraft) { d.TiersMode = new("package") }, "packageSize REQUIRED"},
		"a size of tiers":  {func(d *usage.PriceDraft) { d.PackageSize = new(int64(5)) }, "packageSize NOT_ALLOWED"},
		"tiers of packages": {func(d *usage.PriceDraft) {
			byPackage(5)(d)
			d.Tiers = rising(2)
		}, "tiers NOT_ALLOWED"},
		"another scheme": {func(d *usage.PriceDraft) { d.BillingScheme = "per_unit" }, "billingScheme NOT_ALLOWED"},
		"another interval": {func(d *usage.PriceDraft) {
			d.Recurring = &usage.RecurringDraft{Interval: "moon"}
		}, "recurring.interval NOT_ALLOWED"},
		"not a currency": {func(d *usage.PriceDraft) { d.Currency = "euro" }, "currency INVALID"},
		"nothing": {func(d *usage.PriceDraft) {
			*d = usage.PriceDraft{}
		}, "productId REQUIRED, billingScheme REQUIRED, currency INVALID, tiers REQUIRED, recurring REQUIRED"},
		"a tier without price": {func(d *usage.PriceDraft) {
			d.Tiers = []usage.TierDraft{{}}
		}, "tiers[0].unitAmountInCents REQUIRED"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := well
			c.change(&d)
			p, err := d.Parse()
			if wantFaults(t, err, c.want); err == nil && (p.ProductID != "prd_1" || p.BillingScheme != d.BillingScheme ||
				p.Currency != "eur" || len(p.Tiers) != 1 || p.Interval != period.Month) {
				t.Errorf("%+v", p)
			}
		})
	}
}

func TestBillingPlansAreRefusedWithEveryFault(t *testing.T) {
	t.Parallel()
	for d, want := range map[usage.PlanDraft]string{
		{SubscriptionID: "sub_1", MeterID: "mtr_1", PriceID: "pri_1", BillingInterval: "week"}: "",
		{BillingInterval: "month"}: "subscriptionId REQUIRED, meterId REQUIRED, priceId REQUIRED",
		{SubscriptionID: "sub_1", MeterID: "mtr_1", PriceID: "pri_1", BillingInterval: "moon"}: "billingInterval NOT_ALLOWED",
	} {
		interval, err := d.Parse()
		if wantFaults(t, err, want); err == nil && interval != period.Week {
			t.Errorf("%+v: %s", d, interval)
		}
	}
}

func TestAlertsAreRefusedWithEveryFault(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		threshold *json.Number
		percent   *int
		want      string
	}{
		"a quantity":          {number("12.5"), nil, ""},
		"the least quantity":  {number("0.000000000001"), nil, ""},
		"one percent":         {nil, new(1), ""},
		"ten thousand":        {nil, new(10_000), ""},
		"neither":             {nil, nil, "threshold REQUIRED"},
		"both":                {number("1"), new(1), "thresholdPercent NOT_ALLOWED"},
		"a quantity of none":  {number("0"), nil, "threshold OUT_OF_RANGE"},
		"a negative quantity": {number("-1"), nil, "threshold OUT_OF_RANGE"},
		"no number":           {number("x"), nil, "threshold INVALID"},
		"no percent":          {nil, new(0), "thresholdPercent OUT_OF_RANGE"},
		"too many percent":    {nil, new(10_001), "thresholdPercent OUT_OF_RANGE"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, err := usage.AlertDraft{SubscriptionID: "sub_1", MeterID: "mtr_1", Threshold: c.threshold,
				ThresholdPercent: c.percent}.Parse()
			wantFaults(t, err, c.want)
			switch {
			case err != nil:
			case a.SubscriptionID != "sub_1" || a.MeterID != "mtr_1":
				t.Errorf("%+v", a)
			case c.threshold != nil && (a.Threshold != quantity(t, c.threshold.String()) || a.Percent != 0), c.percent != nil &&
				a.Percent != *c.percent:
				t.Errorf("%+v", a)
			}
		})
	}
	_, err := usage.AlertDraft{Threshold: number("1")}.Parse()
	wantFaults(t, err, "subscriptionId REQUIRED, meterId REQUIRED")
}

func TestAnAlertOfAQuantityIsReachedAtIt(t *testing.T) {
	t.Parallel()
	alert := usage.Alert{Threshold: quantity(t, "2.5")}
	for literal, want := range map[string]bool{"2.499999999999": false, "2.5": true, "3": true} {
		if got := alert.Reached(quantity(t, literal), 0); got != want {
			t.Errorf("%s: %v", literal, got)
		}
	}
	if !(usage.Alert{Percent: 1}).Reached(quantity(t, "0.01"), 1) ||
		(usage.Alert{Percent: 1}).Reached(quantity(t, "0.009"), 1) {
		t.Error("a percent of one unit is not a hundredth of it")
	}
}

func TestReportsAreRefusedWithEveryFault(t *testing.T) {
	t.Parallel()
	now := at(t, "2026-03-01T12:00:00.0007Z")
	well := usage.ReportDraft{SubscriptionID: "sub_1", Meter: "calls", Quantity: number("2.5"), IdempotencyKey: "k"}
	for name, c := range map[string]struct {
		change func(*usage.ReportDraft)
		want   string
		timely string // what only the account's time refuses
	}{
		"well":            {func(*usage.ReportDraft) {}, "", ""},
		"the longest key": {func(d *usage.ReportDraft) { d.IdempotencyKey = strings.Repeat("ö", 255) }, "", ""},
		"a key too long": {func(d *usage.ReportDraft) {
			d.IdempotencyKey = strings.Repeat("ö", 256)
		}, "idempotencyKey TOO_LONG", ""},
		"a key of two lines": {func(d *usage.ReportDraft) { d.IdempotencyKey = "a\nb" }, "idempotencyKey INVALID", ""},
		"nothing": {func(d *usage.ReportDraft) {
			*d = usage.ReportDraft{}
		}, "subscriptionId REQUIRED, meter REQUIRED, idempotencyKey REQUIRED, quantity REQUIRED", ""},
		"no number":   {func(d *usage.ReportDraft) { d.Quantity = number("x") }, "quantity INVALID", ""},
		"no time":     {func(d *usage.ReportDraft) { d.Timestamp = new("yesterday") }, "timestamp INVALID", ""},
		"35 days ago": {func(d *usage.ReportDraft) { d.Timestamp = new("2026-01-25T12:00:00.001Z") }, "", ""},
		"more than 35 days ago": {func(d *usage.ReportDraft) {
			d.Timestamp = new("2026-01-25T12:00:00Z")
		}, "", "timestamp OUT_OF_RANGE"},
		"in 5 minutes": {func(d *usage.ReportDraft) { d.Timestamp = new("2026-03-01T12:05:00Z") }, "", ""},
		"in more than 5 minutes": {func(d *usage.ReportDraft) {
			d.Timestamp = new("2026-03-01T12:05:00.001Z")
		}, "", "timestamp OUT_OF_RANGE"},
		"of two at once": {func(d *usage.ReportDraft) {
			d.ExternalCustomerID = "user-1"
		}, "externalCustomerId NOT_ALLOWED", ""},
		"of a customer's id too long": {func(d *usage.ReportDraft) {
			d.SubscriptionID, d.ExternalCustomerID = "", strings.Repeat("u", 256)
		}, "externalCustomerId TOO_LONG", ""},
		"properties too many": {func(d *usage.ReportDraft) {
			d.Properties = map[string]string{}
			for i := range 21 {
				d.Properties[fmt.Sprint("key-", i)] = "value"
			}
		}, "properties TOO_LONG", ""},
		"with a time of its zone": {func(d *usage.ReportDraft) { d.Timestamp = new("2026-03-01T13:00:00+01:00") }, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := well
			c.change(&d)
			wantFaults(t, d.Check(), c.want)
			var f fault.Violations
			r := d.Parse(&f, now)
			wantFaults(t, f.Err(), c.want+c.timely)
			if f.Err() == nil && (r.SubscriptionID != "sub_1" || r.EventName != "calls" || r.Key != d.IdempotencyKey ||
				r.Quantity != quantity(t, "2.5")) {
				t.Errorf("%+v", r)
			}
		})
	}
}

func TestAReportIsOfItsTimeElseOfNow(t *testing.T) {
	t.Parallel()
	now := at(t, "2026-03-01T12:00:00.0007Z")
	for given, want := range map[string]time.Time{
		"":                              now.Truncate(time.Millisecond),
		"2026-03-01T11:00:00.1239Z":     at(t, "2026-03-01T11:00:00.123Z"),
		"2026-03-01T12:00:00.123+01:00": at(t, "2026-03-01T11:00:00.123Z"),
		"yesterday":                     now,
	} {
		d := usage.ReportDraft{SubscriptionID: "sub_1", Meter: "calls", Quantity: number("1"), IdempotencyKey: "k"}
		if given != "" {
			d.Timestamp = &given
		}
		var f fault.Violations
		if got := d.Parse(&f, now).At; !got.Equal(want) || got.Location() != time.UTC {
			t.Errorf("%q is of %s, want %s", given, got, want)
		}
	}
}

// Fingerprints are stored: what they are of a report may not change from one version to the next.
func TestFingerprintsDistinguishReportsOfOneKey(t *testing.T) {
	t.Parallel()
	now := at(t, "2026-03-01T12:00:00Z")
	fingerprint := func(subscription, meter, quantity, timestamp string) [16]byte {
		d := usage.ReportDraft{SubscriptionID: subscription, Meter: meter, Quantity: number(quantity), IdempotencyKey: "k"}
		if timestamp != "" {
			d.Timestamp = &timestamp
		}
		var f fault.Violations
		r := d.Parse(&f, now)
		if err := f.Err(); err != nil {
			t.Fatal(err)
		}
		return r.Fingerprint
	}
	one := fingerprint("sub_1", "calls", "2.50", "")
	if fingerprint("sub_1", "calls", "2.5", "") != one {
		t.Error("the same quantity makes another report")
	}
	seen := map[[16]byte]bool{one: true}
	for _, other := range [][16]byte{
		fingerprint("sub_2", "calls", "2.5", ""), fingerprint("sub_1", "call", "2.5", ""),
		fingerprint("sub_1", "calls", "2", ""),
		fingerprint("sub_1", "calls", "2.5", "2026-03-01T12:00:00Z"), fingerprint("sub_1c", "alls", "2.5", ""),
	} {
		if seen[other] {
			t.Error("two reports have one fingerprint")
		}
		seen[other] = true
	}
	withMore := func(change func(*usage.ReportDraft)) [16]byte {
		d := usage.ReportDraft{SubscriptionID: "sub_1", Meter: "calls", Quantity: number("2.5"), IdempotencyKey: "k"}
		change(&d)
		var f fault.Violations
		return d.Parse(&f, now).Fingerprint
	}
	for _, other := range [][16]byte{
		withMore(func(d *usage.ReportDraft) { d.SubscriptionID, d.ExternalCustomerID = "", "sub_1" }),
		withMore(func(d *usage.ReportDraft) { d.SubscriptionID, d.ExternalCustomerID = "", "sub_2" }),
		withMore(func(d *usage.ReportDraft) { d.Properties = map[string]string{"model": "small"} }),
		withMore(func(d *usage.ReportDraft) { d.Properties = map[string]string{"model": "large"} }),
	} {
		if seen[other] {
			t.Error("a customer or properties are not told apart")
		}
		seen[other] = true
	}
	if withMore(func(d *usage.ReportDraft) { d.Properties = map[string]string{} }) != one {
		t.Error("no properties make another report")
	}
	if stored := [16]byte{74, 72, 63, 156, 26, 18, 56, 87, 203, 152, 164, 67, 153, 137, 188, 251}; one != stored {
		t.Errorf("a stored fingerprint is now %v", one)
	}
}

func TestMetersAreEqualByAllOfTheirMembers(t *testing.T) {
	t.Parallel()
	meter := usage.MeterDraft{Name: "Calls", EventName: "calls", Aggregation: "UNIQUE", UniqueProperty: "user"}
	for member, change := range map[string]func(*usage.MeterDraft){
		"name":           func(d *usage.MeterDraft) { d.Name = "Call" },
		"eventName":      func(d *usage.MeterDraft) { d.EventName = "call" },
		"aggregation":    func(d *usage.MeterDraft) { d.Aggregation = "SUM" },
		"uniqueProperty": func(d *usage.MeterDraft) { d.UniqueProperty = "account" },
		"dimensions":     func(d *usage.MeterDraft) { d.Dimensions = []string{"model"} },
	} {
		other := meter
		if change(&other); meter.Equal(other) || !other.Equal(other) {
			t.Errorf("another %s makes an equal meter", member)
		}
	}
}

func TestAPricesMinimumIsAnAmountThatCanBeCharged(t *testing.T) {
	t.Parallel()
	for minimum, want := range map[int64]string{
		-1: "minimumAmountInCents OUT_OF_RANGE", 0: "minimumAmountInCents OUT_OF_RANGE", 1: "", usage.MaxAmount: "",
		usage.MaxAmount + 1: "minimumAmountInCents OUT_OF_RANGE",
	} {
		d := usage.PriceDraft{
			ProductID: "upd_1", BillingScheme: "usage_based", Currency: "eur", Minimum: &minimum,
			Tiers: []usage.TierDraft{{UnitAmountDecimal: new("1")}}, Recurring: &usage.RecurringDraft{Interval: "month"},
		}
		p, err := d.Parse()
		if wantFaults(t, err, want); err == nil && p.MinimumMinor != minimum {
			t.Errorf("a minimum of %d is read as %d", minimum, p.MinimumMinor)
		}
		if err == nil && *usage.NewPriceFile(p).Minimum != minimum {
			t.Errorf("a minimum of %d is not in the catalog file", minimum)
		}
		if p.PackageSize != 0 {
			t.Errorf("a price without packages has packages of %d", p.PackageSize)
		}
	}
	for minimum, want := range map[int64]string{1500: "", 1505: "minimumAmountInCents NOT_ALLOWED"} {
		d := usage.PriceDraft{
			ProductID: "upd_1", BillingScheme: "usage_based", Currency: "kwd", Minimum: &minimum,
			Tiers: []usage.TierDraft{{UnitAmountDecimal: new("1")}}, Recurring: &usage.RecurringDraft{Interval: "month"},
		}
		_, err := d.Parse()
		wantFaults(t, err, want)
	}
}

func TestAPriceByPackageNeedsTheSize(t *testing.T) {
	t.Parallel()
	d := usage.PriceDraft{
		ProductID: "upd_1", BillingScheme: "usage_based", Currency: "eur", TiersMode: new("package"),
		Tiers: []usage.TierDraft{{UnitAmountDecimal: new("1")}}, Recurring: &usage.RecurringDraft{Interval: "month"},
	}
	p, err := d.Parse()
	if wantFaults(t, err, "packageSize REQUIRED"); p.PackageSize != 0 {
		t.Errorf("packages of %d", p.PackageSize)
	}
}

func TestACatalogFileLeavesOutWhatIsUsual(t *testing.T) {
	t.Parallel()
	if f := usage.NewPriceFile(usage.Price{TiersMode: usage.Graduated}); f.TiersMode != "" || f.Minimum != nil ||
		f.PackageSize != nil {
		t.Errorf("%+v", f)
	}
	if f := usage.NewPriceFile(usage.Price{TiersMode: usage.Volume}); f.TiersMode != "volume" {
		t.Errorf("%+v", f)
	}
}
