package usage_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sundry/core/fault"
	"sundry/core/usage"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func total(t testing.TB, a usage.Aggregation, literals ...string) usage.Total {
	t.Helper()
	var sum usage.Total
	for i, literal := range literals {
		var ok bool
		if sum, ok = sum.Take(a, usage.Sample{ID: fmt.Sprint(i), At: start.Add(time.Duration(i) * time.Second),
			Quantity: quantity(t, literal)}); !ok {
			t.Fatal("overflow")
		}
	}
	return sum
}

func TestAggregations(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		aggregation usage.Aggregation
		reports     []string
		want        string
	}{
		"a sum":                       {usage.Sum, []string{"1.5", "2.25"}, "3.75"},
		"a sum below zero":            {usage.Sum, []string{"5", "-8"}, "-3"},
		"a sum of nothing":            {usage.Sum, nil, "0"},
		"the largest":                 {usage.Max, []string{"3", "9", "4"}, "9"},
		"the largest of one zero":     {usage.Max, []string{"0"}, "0"},
		"the last":                    {usage.Last, []string{"3", "9", "4"}, "4"},
		"the last of no reports is 0": {usage.Last, nil, "0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := total(t, c.aggregation, c.reports...).Quantity.String(); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
	if got := total(t, usage.Sum, "5", "-8").Quantity.Billable(); !got.IsZero() {
		t.Errorf("a negative sum is billed as %s", got)
	}
}

func TestSumOfTenthsIsExact(t *testing.T) {
	t.Parallel()
	var sum usage.Total
	for range 200 {
		for tenth := range 10 {
			sum, _ = sum.Take(usage.Sum, usage.Sample{Quantity: quantity(t, fmt.Sprintf("0.%d", tenth))})
		}
	}
	if sum.Quantity != usage.Units(900) || sum.Count != 2000 {
		t.Errorf("%s of %d", sum.Quantity, sum.Count)
	}
}

func TestTheLastIsByTimeAndThenByID(t *testing.T) {
	t.Parallel()
	var sum usage.Total
	for _, s := range []usage.Sample{
		{ID: "b", At: start, Quantity: usage.Units(2)}, {ID: "a", At: start, Quantity: usage.Units(1)},
		{ID: "z", At: start.Add(-1), Quantity: usage.Units(9)},
	} {
		sum, _ = sum.Take(usage.Last, s)
	}
	if sum.Quantity != usage.Units(2) || sum.LastID != "b" {
		t.Errorf("%+v", sum)
	}
}

func TestTotalsMergeInAnyGrouping(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.SampledFrom([]usage.Aggregation{usage.Sum, usage.Max, usage.Last}).Draw(t, "aggregation")
		count := rapid.IntRange(0, 20).Draw(t, "count")
		var whole usage.Total
		parts := [3]usage.Total{}
		for i := range count {
			s := usage.Sample{
				ID: fmt.Sprintf("%03d", i), At: start.Add(time.Duration(rapid.IntRange(0, 3).Draw(t, "at"))),
				Quantity: usage.Units(rapid.Int64Range(0, 9).Draw(t, "quantity")),
			}
			whole, _ = whole.Take(a, s)
			part := rapid.IntRange(0, 2).Draw(t, "part")
			parts[part], _ = parts[part].Take(a, s)
		}
		merged, ok := parts[2].Merge(a, parts[0])
		merged, ok2 := merged.Merge(a, parts[1])
		if !ok || !ok2 || merged != whole {
			t.Fatalf("merged %+v, whole %+v", merged, whole)
		}
	})
}

func TestMetersTakeTheirReportsOnly(t *testing.T) {
	t.Parallel()
	user := map[string]string{"userId": "ada", "plan": ""}
	for name, c := range map[string]struct {
		meter      usage.Meter
		quantity   string
		properties map[string]string
		want       string
	}{
		"a negative sum":     {usage.Meter{Aggregation: usage.Sum}, "-1", nil, ""},
		"a negative maximum": {usage.Meter{Aggregation: usage.Max}, "-1", nil, "quantity OUT_OF_RANGE"},
		"a maximum":          {usage.Meter{Aggregation: usage.Max}, "1.5", nil, ""},
		"a negative last":    {usage.Meter{Aggregation: usage.Last}, "-1", nil, "quantity OUT_OF_RANGE"},
		"a last":             {usage.Meter{Aggregation: usage.Last}, "1.5", user, ""},
		"one":                {usage.Meter{Aggregation: usage.Count}, "1.0", nil, ""},
		"two":                {usage.Meter{Aggregation: usage.Count}, "2", nil, "quantity OUT_OF_RANGE"},
		"a value":            {usage.Meter{Aggregation: usage.Unique, UniqueProperty: "userId"}, "1", user, ""},
		"an empty value": {
			usage.Meter{Aggregation: usage.Unique, UniqueProperty: "plan"}, "0", user,
			"quantity OUT_OF_RANGE, properties.plan REQUIRED",
		},
		"no value": {usage.Meter{Aggregation: usage.Unique, UniqueProperty: "userId"}, "1", nil, "properties.userId REQUIRED"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var f fault.Violations
			c.meter.Check(&f, usage.Report{Quantity: quantity(t, c.quantity), Properties: c.properties})
			wantFaults(t, f.Err(), c.want)
		})
	}
}

func TestUniqueValues(t *testing.T) {
	t.Parallel()
	value := func(a usage.Aggregation, userID string) string {
		m := usage.Meter{Aggregation: a, UniqueProperty: "userId"}
		return string(m.UniqueValue(usage.Report{Properties: map[string]string{"userId": userID}}))
	}
	ada := value(usage.Unique, "ada")
	if ada == "" || ada != value(usage.Unique, "ada") || ada == value(usage.Unique, "Ada") {
		t.Errorf("the value of ada is %x, of Ada %x", ada, value(usage.Unique, "Ada"))
	}
	if sum := value(usage.Sum, "ada"); sum != "" {
		t.Errorf("a sum has the value %x", sum)
	}
}

func TestDaysAreSummarizedByTheirAggregation(t *testing.T) {
	t.Parallel()
	days := []usage.DayUse{
		{Quantity: usage.Units(3), Reports: 1}, {Quantity: usage.Units(7), Reports: 2}, {Quantity: usage.Units(5), Reports: 4},
	}
	for aggregation, want := range map[usage.Aggregation]int64{
		usage.Sum: 15, usage.Count: 15, usage.Unique: 15, usage.Max: 7, usage.Last: 5,
	} {
		if got, ok := aggregation.Over(days); !ok || got.Quantity != usage.Units(want) || got.Reports != 7 {
			t.Errorf("%s: %v of %d reports, %t; want %d of 7", aggregation, got.Quantity, got.Reports, ok, want)
		}
	}
	most, err := usage.RestoreQuantity(largestQuantity)
	if err != nil {
		t.Fatal(err)
	}
	tooMuch := []usage.DayUse{{Quantity: most}, {Quantity: usage.Units(1)}, {Quantity: usage.Units(-1)}}
	if _, ok := usage.Sum.Over(tooMuch); ok {
		t.Error("a sum that has too many digits in between is taken for one that fits")
	}
	if got, ok := usage.Max.Over(tooMuch); !ok || got.Quantity != most {
		t.Errorf("the highest value is %v, %t", got.Quantity, ok)
	}
}

func TestCountsAreStoredAsSums(t *testing.T) {
	t.Parallel()
	for aggregation, want := range map[usage.Aggregation]usage.Aggregation{
		usage.Sum: usage.Sum, usage.Count: usage.Sum, usage.Unique: usage.Sum, usage.Max: usage.Max, usage.Last: usage.Last,
	} {
		if got := aggregation.Counted(); got != want {
			t.Errorf("%s counts as %s, want %s", aggregation, got, want)
		}
	}
}
