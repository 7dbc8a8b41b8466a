package usage_test

import (
	"testing"

	"pgregory.net/rapid"

	"sundry/core/invoice"
	"sundry/core/usage"
)

func TestKnownMinimums(t *testing.T) {
	t.Parallel()
	start, end := at(t, "2026-01-01T00:00:00Z"), at(t, "2026-02-01T00:00:00Z")
	month := usage.Period{Start: start, End: end}
	for _, c := range []struct {
		name              string
		price             usage.Price
		quantity          string
		included, billed  int64
		period            usage.Period
		free              bool
		use, topUp, asked int64
	}{
		{"nothing was used", usage.Price{Tiers: tiers(t, "∞@2")}, "0", 0, 0, month, false, 0, 100, 100},
		{"less than nothing", usage.Price{Tiers: tiers(t, "∞@2")}, "-7", 0, 0, month, false, 0, 100, 100},
		{"a part of it", usage.Price{Tiers: tiers(t, "∞@2")}, "30", 0, 0, month, false, 60, 40, 100},
		{"rounded before", usage.Price{Tiers: tiers(t, "∞@0.5")}, "1", 0, 0, month, false, 1, 99, 100},
		{"all but a cent", usage.Price{Tiers: tiers(t, "∞@0.3")}, "330", 0, 0, month, false, 99, 1, 100},
		{"exactly", usage.Price{Tiers: tiers(t, "∞@2")}, "50", 0, 0, month, false, 100, 0, 100},
		{"more", usage.Price{Tiers: tiers(t, "∞@2")}, "51", 0, 0, month, false, 102, 0, 102},
		{"behind what is included", usage.Price{Tiers: tiers(t, "∞@2")}, "60", 50, 0, month, false, 20, 80, 100},
		{"of packages", packages(t, 10, "30"), "21", 0, 0, month, false, 90, 10, 100},
		{"of volume", usage.Price{TiersMode: usage.Volume, Tiers: tiers(t, "10@9 ∞@2")}, "11", 0, 0, month, false, 22, 78, 100},
		{"late use below it", usage.Price{Tiers: tiers(t, "∞@2")}, "49", 0, 100, month, false, 98, 2, 0},
		{"late use beyond it", usage.Price{Tiers: tiers(t, "∞@2")}, "80", 0, 100, month, false, 160, 0, 60},
		{"a correction to below it", usage.Price{Tiers: tiers(t, "∞@2")}, "20", 0, 160, month, false, 40, 60, -60},
		{"a trial", usage.Price{Tiers: tiers(t, "∞@2")}, "20", 0, 0, month, true, 0, 0, 0},
		{"a period cut short", usage.Price{Tiers: tiers(t, "∞@2")}, "1", 0, 0,
			usage.Period{Start: start, End: start.Add(1)}, false, 2, 98, 100},
		{"a period without length", usage.Price{Tiers: tiers(t, "∞@2")}, "0", 0, 0,
			usage.Period{Start: start, End: start}, false, 0, 0, 0},
		{"use in a period without length", usage.Price{Tiers: tiers(t, "∞@2")}, "3", 0, 0,
			usage.Period{Start: start, End: start}, false, 6, 0, 6},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			u := usage.Use{Price: c.price, Period: c.period, Quantity: quantity(t, c.quantity), Included: c.included,
				BilledMinor: c.billed}
			u.Price.MinimumMinor = 100
			if c.free {
				u.Plan.FreeUntil = c.period.End
			}
			r := u.Rate()
			if r.RatedMinor-r.TopUpMinor != c.use || r.TopUpMinor != c.topUp || r.AmountMinor != c.asked {
				t.Fatalf("%s units: %d and %d up to the minimum, %d asked for; want %d, %d, %d", c.quantity,
					r.RatedMinor-r.TopUpMinor, r.TopUpMinor, r.AmountMinor, c.use, c.topUp, c.asked)
			}
			lines := invoice.LinesOf([]usage.Rated{r})
			var sum int64
			for _, l := range lines {
				sum += l.AmountMinor
			}
			last := lines[len(lines)-1]
			if sum != c.asked || (last.Kind == invoice.Minimum) != (c.topUp > 0 && c.billed == 0) ||
				last.Kind == invoice.Minimum && (last.AmountMinor != c.topUp || last.Rated.RatedMinor != c.topUp ||
					lines[0].AmountMinor != c.use || lines[0].Rated.RatedMinor != c.use || lines[0].Rated.TopUpMinor != 0) {
				t.Errorf("the lines are %+v", lines)
			}
		})
	}
}

// TestAMinimumIsNeitherBilledTwiceNorLeftOut bills a period again and again, as late reports and corrections change what
// was used, on invoices that may be too small for a credit.
func TestAMinimumIsNeitherBilledTwiceNorLeftOut(outer *testing.T) {
	outer.Parallel()
	period := usage.Period{Start: at(outer, "2026-01-01T00:00:00Z"), End: at(outer, "2026-02-01T00:00:00Z")}
	rapid.Check(outer, func(t *rapid.T) {
		u := usage.Use{Price: usage.Price{Tiers: tiers(outer, "10@7 ∞@5")}, Period: period}
		u.Price.MinimumMinor = rapid.Int64Range(0, 200).Draw(t, "minimum")
		u.Included = rapid.Int64Range(0, 10).Draw(t, "included")
		for n := range rapid.IntRange(1, 6).Draw(t, "invoices") {
			u.Quantity = usage.Units(rapid.Int64Range(-5, 60).Draw(t, "quantity"))
			rest, _ := u.Quantity.Beyond(usage.Units(u.Included))
			cost, err := u.Price.Amount(rest)
			if err != nil {
				t.Fatal(err)
			}
			due := max(cost, u.Price.MinimumMinor)
			other := usage.Rated{AmountMinor: rapid.Int64Range(0, 100).Draw(t, "other")}
			lines := []usage.Rated{other, u.Rate()}
			lines[1].Late = n > 0
			usage.Fit(lines)
			var asked int64
			for _, l := range invoice.LinesOf(lines[1:]) {
				asked += l.AmountMinor
			}
			if asked != lines[1].AmountMinor {
				t.Fatalf("lines of %d for %d", asked, lines[1].AmountMinor)
			}
			u.BilledMinor += asked
			if u.BilledMinor < due || u.BilledMinor > due && lines[1].Settled() ||
				u.BilledMinor > due && asked != -other.AmountMinor {
				t.Fatalf("%d billed of %d", u.BilledMinor, due)
			}
		}
	})
}
