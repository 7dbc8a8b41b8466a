package usage_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sundry/core/civil"
	"sundry/core/fault"
	"sundry/core/money"
	"sundry/core/period"
	"sundry/core/plan"
	"sundry/core/subscription"
	core "sundry/core/usage"
	"sundry/ports"
)

// subscribe makes another subscription of the customer.
func (f *fixture) subscribe(id string) {
	f.t.Helper()
	f.atomically(func(ctx context.Context, r ports.Repos) error {
		sub := subscription.New(subscription.Order{
			ID: id, CreatorID: creator, CustomerID: "cus_1", ExternalCustomerID: "ada", CheckoutID: "cs_" + id,
			Offer: plan.Offer{Interval: period.Month, IntervalCount: 1, Price: money.Amount{Minor: 900, Currency: "eur"}},
		}, noon)
		if _, err := sub.Activate(noon); err != nil {
			return err
		}
		return r.Subscriptions.Subscriptions.Insert(ctx, sub.State())
	})
}

// use returns the use of the fixture's meter by day, as "2026-03-08: 5 (2 reports)" in its order.
func (f *fixture) use() string {
	f.t.Helper()
	found, err := f.Figures(f.t.Context(), creator, "", civil.Days{
		From: civil.DateIn(time.UTC, noon), To: civil.DateIn(time.UTC, noon) + 30,
	})
	f.must(err)
	text := ""
	for _, m := range found.Meters {
		for _, d := range m.Days {
			text += fmt.Sprintf("%s: %s (%d reports)\n", d.Day, d.Quantity, d.Reports)
		}
	}
	return text
}

// sent is a report that the property test remembers.
type sent struct {
	key, subscription string
	at                time.Time
	quantity          int64
}

// useOf returns the text that use has to return after the reports.
func useOf(a core.Aggregation, reports []sent) string {
	days := map[civil.Date]int64{}
	counts := map[civil.Date]int64{}
	type stream struct {
		day civil.Date
		sub string
	}
	best := map[stream]sent{}
	for _, r := range reports {
		day := civil.DateIn(time.UTC, r.at)
		counts[day]++
		known, ok := best[stream{day, r.subscription}]
		switch {
		case a == core.Sum:
			days[day] += r.quantity
			continue
		case a == core.Max && (!ok || r.quantity > known.quantity), a == core.Last && (!ok || r.at.After(known.at)):
			best[stream{day, r.subscription}] = r
		}
	}
	for s, r := range best {
		days[s.day] += r.quantity
	}
	text := ""
	for day := civil.DateIn(time.UTC, noon); day < civil.DateIn(time.UTC, noon)+10; day++ {
		if counts[day] > 0 {
			text += fmt.Sprintf("%s: %d (%d reports)\n", day, days[day], counts[day])
		}
	}
	return text
}

func TestDaysHaveWhatTheirReportsSay(t *testing.T) {
	t.Parallel()
	for _, a := range []core.Aggregation{core.Sum, core.Max, core.Last} {
		t.Run(string(a), func(t *testing.T) {
			t.Parallel()
			forEachEngine(t, a, func(t *testing.T, f *fixture) {
				f.subscribe("sub_2")
				f.clock.Set(noon.AddDate(0, 0, 3))
				var live []sent
				reported := 0
				rapid.Check(t, func(rt *rapid.T) {
					for range rapid.IntRange(1, 3).Draw(rt, "steps") {
						if len(live) > 0 && rapid.IntRange(0, 2).Draw(rt, "void") == 0 {
							i := rapid.IntRange(0, len(live)-1).Draw(rt, "voided")
							_, err := f.Void(t.Context(), creator, live[i].key)
							f.must(err)
							live = append(live[:i], live[i+1:]...)
						} else {
							reported++
							one := sent{
								key: fmt.Sprintf("report-%05d", reported), quantity: int64(rapid.IntRange(1, 9).Draw(rt, "quantity")),
								subscription: rapid.SampledFrom([]string{"sub_1", "sub_2"}).Draw(rt, "subscription"),
								at: noon.Add(time.Duration(rapid.IntRange(0, 60).Draw(rt, "hours"))*time.Hour +
									time.Duration(reported)*time.Millisecond),
							}
							d := draft(one.key, fmt.Sprint(one.quantity), one.at)
							d.SubscriptionID = one.subscription
							f.report(d)
							live = append(live, one)
						}
						if rapid.Bool().Draw(rt, "flush") {
							f.must(f.Flush(t.Context()))
						}
					}
					if got, want := f.use(), useOf(a, live); got != want {
						rt.Fatalf("the days have\n%swant\n%s", got, want)
					}
				})
				f.must(f.Flush(t.Context()))
				f.wantVerified()
			})
		})
	}
}

// TestADayKeepsTheReportsOfItsEarlierPeriod: a period that begins at noon is not all of its day.
func TestADayKeepsTheReportsOfItsEarlierPeriod(t *testing.T) {
	t.Parallel()
	for _, a := range []core.Aggregation{core.Max, core.Last} {
		t.Run(string(a), func(t *testing.T) {
			t.Parallel()
			forEachEngine(t, a, func(t *testing.T, f *fixture) {
				f.clock.Set(noon.Add(20 * time.Hour))
				f.report(draft("morning", "9", f.clock.Real()))
				f.clock.Set(noon.Add(25 * time.Hour))
				f.report(draft("afternoon", "4", f.clock.Real()))
				f.must(f.Flush(t.Context()))
				_, err := f.Void(t.Context(), creator, "afternoon")
				f.must(err)
				if got, want := f.use(), "2026-03-09: 9 (1 reports)\n"; got != want {
					t.Errorf("got %q, want %q", got, want)
				}
				f.wantVerified()
			})
		})
	}
}

func TestAUniqueValueCountsOnTheDayOfItsReport(t *testing.T) {
	t.Parallel()
	forEachEngine(t, core.Unique, func(t *testing.T, f *fixture) {
		evening, morning := noon.Add(10*time.Hour), noon.Add(20*time.Hour) // of one period, on two days
		f.clock.Set(noon.AddDate(0, 0, 2))
		f.report(by("a", "ada", evening))
		f.report(by("b", "ada", morning), by("c", "bob", morning))
		for _, step := range []struct{ void, want string }{
			{"", "2026-03-08: 1 (1 reports)\n2026-03-09: 1 (2 reports)\n"},
			{"a", "2026-03-09: 2 (2 reports)\n"}, // ada passes on to the next day
			{"b", "2026-03-09: 1 (1 reports)\n"},
			{"c", ""},
		} {
			if step.void != "" {
				_, err := f.Void(t.Context(), creator, step.void)
				f.must(err)
			}
			if got := f.use(); got != step.want {
				t.Errorf("after %q, before it is counted: %s, want %s", step.void, got, step.want)
			}
			f.must(f.Flush(t.Context()))
			if got := f.use(); got != step.want {
				t.Errorf("after %q: %s, want %s", step.void, got, step.want)
			}
			f.wantVerified()
		}
	})
}

func TestDaysAreCountedAgainInPages(t *testing.T) {
	t.Parallel()
	forEachEngine(t, core.Sum, func(t *testing.T, f *fixture) {
		for i := range 9 {
			f.report(draft(fmt.Sprintf("report-%d", i), "2", noon))
		}
		f.must(f.Flush(t.Context()))
		const want = "2026-03-08: 18 (9 reports)\n"
		f.engine.Exec(t, f.url, "DELETE FROM usage_days")
		f.engine.Exec(t, f.url, "UPDATE usage_watermark SET daily = 0") // as after an upgrade
		if got := f.use(); got != want {
			t.Errorf("before they are counted: %s, want %s", got, want)
		}
		steps := 0
		for more := true; more; steps++ {
			f.atomically(func(ctx context.Context, r ports.Repos) (err error) {
				more, err = r.Usage.Rollups.CountDays(ctx, 2)
				return err
			})
		}
		if got := f.use(); got != want || steps < 3 {
			t.Errorf("after %d steps: %s, want %s", steps, got, want)
		}
		f.wantVerified()
		f.engine.Exec(t, f.url, "UPDATE usage_days SET quantity = '17'")
		found, err := f.Verify(t.Context())
		f.must(err)
		if len(found) != 1 {
			t.Errorf("a changed day: verify found %q", found)
		}
	})
}

func TestFiguresAreOfTheAccountsOwnMeters(t *testing.T) {
	t.Parallel()
	forEachEngine(t, core.Max, func(t *testing.T, f *fixture) {
		f.report(draft("a", "4", noon))
		f.clock.Set(noon.AddDate(0, 0, 1))
		f.report(draft("b", "7", f.clock.Real()), draft("c", "5", f.clock.Real()))
		own, err := f.Figures(t.Context(), creator, f.offer.MeterID, civil.Days{})
		f.must(err)
		if len(own.Meters) != 1 || own.Meters[0].Total.Quantity != core.Units(7) || own.Meters[0].Total.Reports != 3 ||
			own.To-own.From != 29 {
			t.Errorf("figures %+v", own)
		}
		others, err := f.Figures(t.Context(), "crt_2", "", civil.Days{})
		f.must(err)
		if len(others.Meters) != 0 {
			t.Errorf("another account reads %+v", others.Meters)
		}
		if _, err := f.Figures(t.Context(), "crt_2", f.offer.MeterID, civil.Days{}); !fault.Is(err, fault.NotFoundCode) {
			t.Errorf("another account's meter: %v", err)
		}
		before, err := f.Figures(t.Context(), creator, "", civil.Days{To: civil.DateIn(time.UTC, noon) - 1})
		f.must(err)
		if len(before.Meters) != 0 {
			t.Errorf("before the first report: %+v", before.Meters)
		}
	})
}
