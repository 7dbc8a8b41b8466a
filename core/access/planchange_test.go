package access_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"sundry/core/access"
	"sundry/core/money"
	"sundry/core/period"
	"sundry/core/plan"
	"sundry/core/subscription"
)

// perCredit is the price of one credit in the plans below. Every share of it by days is a whole number: it is divisible
// by the days of each month and each year.
const perCredit = 28 * 29 * 15 * 31 * 73 * 61

// creditPlan sells renders for as much as they cost, and none of them for nothing.
func creditPlan(key string, interval period.Interval, credits int64, renews bool) plan.Offer {
	o := plan.Offer{
		CreatorID: "crt_1", ListingID: "lst_1", ListingKey: "app", PlanKey: key, PriceID: "pri_" + key + string(interval),
		Interval: interval, IntervalCount: 1, Price: money.Amount{Minor: credits * perCredit, Currency: "eur"},
	}
	if credits > 0 {
		o.Terms.Credits = []plan.Credit{{Key: "renders", Unit: "piece", Amount: credits, Renews: renews}}
	}
	return o
}

func order(t rapid.TB, o plan.Offer) (*subscription.Subscription, *access.Grant) {
	t.Helper()
	sub := subscription.New(subscription.Order{ID: "sub_1", CreatorID: "crt_1", CustomerID: "cus_1", Offer: o}, noon)
	if _, err := sub.Activate(noon); err != nil {
		t.Fatal(err)
	}
	return sub, access.NewForSubscription("grt_1", sub.State(), noon)
}

// change changes the plan now and returns what was charged.
func change(t rapid.TB, sub *subscription.Subscription, g *access.Grant, to plan.Offer, now time.Time) int64 {
	t.Helper()
	b, err := sub.ChangeBill(to, subscription.ChargeNow, now)
	if err == nil {
		_, err = sub.Apply(b)
	}
	if err != nil {
		t.Fatal(err)
	}
	g.Follow(sub.State(), now)
	return b.Due().Minor
}

func consume(t rapid.TB, g *access.Grant, amount int64) {
	t.Helper()
	if _, _, err := access.Consume([]*access.Grant{g}, access.ConsumeRequest{Key: "renders", Amount: amount}); err != nil {
		t.Fatal(err)
	}
}

// credit returns the renders of the snapshot; the zero value when it shows none.
func credit(g *access.Grant) access.Credit {
	for _, c := range access.Fold([]*access.Grant{g}).Credits {
		return c
	}
	return access.Credit{}
}

// Over any changes of plan without a renewal, at any times, the credits used are never worth more than the most that
// was paid at one of these times, less what stood to the customer's credit then.
func TestPlanChangesGiveNoUnpaidCredits(t *testing.T) {
	t.Parallel()
	plans := rapid.Custom(func(t *rapid.T) plan.Offer {
		interval := rapid.SampledFrom([]period.Interval{period.Month, period.Year}).Draw(t, "interval")
		return creditPlan("p", interval, rapid.Int64Range(0, 50).Draw(t, "credits"), true)
	})
	rapid.Check(t, func(t *rapid.T) {
		now := noon
		first := plans.Draw(t, "first")
		sub, g := order(t, first)
		cash, used := first.Price.Minor, int64(0)
		most := cash
		for i := range rapid.IntRange(1, 12).Draw(t, "changes") {
			if left := credit(g).Balance(); left > 0 {
				n := rapid.Int64Range(0, left).Draw(t, "used")
				if rapid.Bool().Draw(t, "all") {
					n = left
				}
				if n > 0 {
					consume(t, g, n)
					used += n
				}
			}
			if used*perCredit > most {
				t.Fatalf("%d credits were used for %d, worth %d", used, most, used*perCredit)
			}
			end := sub.State().CurrentPeriodEnd
			within := int64(end.Sub(now)/time.Hour) - 1
			now = now.Add(time.Duration(rapid.Int64Range(0, max(within, 0)).Draw(t, "hours")) * time.Hour)
			to := plans.Draw(t, "to")
			to.PriceID += string(rune('a' + i))
			cash += change(t, sub, g, to, now)
			most = max(most, cash-sub.State().Credit.Minor)
		}
		if all := used + credit(g).Balance(); all*perCredit > most {
			t.Fatalf("%d credits can be used for %d, worth %d", all, most, all*perCredit)
		}
	})
}

func TestUsedCreditsStayUsedAcrossPlans(t *testing.T) {
	t.Parallel()
	pro, basic := creditPlan("pro", period.Month, 100, true), creditPlan("basic", period.Month, 1, true)
	none, proYear := creditPlan("none", period.Month, 0, true), creditPlan("pro", period.Year, 100, true)
	once, lessOnce := creditPlan("once", period.Month, 100, false), creditPlan("less", period.Month, 1, false)
	few, weekly := creditPlan("few", period.Month, 3, true), creditPlan("pro", period.Week, 100, true)
	daily, lessDaily := creditPlan("pro", period.Day, 100, true), creditPlan("basic", period.Day, 50, true)
	lastWeek := 24 * 24 * time.Hour
	half := 15 * 24 * time.Hour // of the 31 days of March: 16 are left
	for name, c := range map[string]struct {
		first   plan.Offer
		use     int64
		to      []plan.Offer
		after   time.Duration
		granted int64
		used    int64
	}{
		"a smaller plan":                  {pro, 100, []plan.Offer{basic}, 0, 1, 100},
		"there and back":                  {pro, 100, []plan.Offer{basic, pro}, 0, 100, 100},
		"by a plan without":               {pro, 60, []plan.Offer{none, pro}, 0, 100, 60},
		"a plan without":                  {pro, 60, []plan.Offer{none}, 0, 0, 0},
		"a year and back":                 {pro, 100, []plan.Offer{proYear, pro, proYear}, 0, 100, 100},
		"the day share of a larger plan":  {basic, 1, []plan.Offer{pro}, half, 52, 1}, // (15 + 16 × 100) / 31
		"the day share of a smaller plan": {pro, 10, []plan.Offer{basic}, half, 48, 10},
		"the days that were held":         {pro, 0, []plan.Offer{none}, half, 48, 0},
		"a year in the middle":            {pro, 100, []plan.Offer{proYear}, half, 148, 100},
		"the one that was held":           {few, 0, []plan.Offer{none}, half, 1, 0},
		"a week that ends with the month": {pro, 0, []plan.Offer{weekly}, lastWeek, 177, 0}, // 24 × 100 / 31 and 100
		"a smaller plan of a day":         {daily, 0, []plan.Offer{lessDaily}, 0, 50, 0},
		"one, by a plan without":          {pro, 1, []plan.Offer{none, pro}, 0, 100, 1},
		"once, a year in the middle":      {once, 5, []plan.Offer{proYear}, half, 100, 5},
		"once, smaller":                   {once, 100, []plan.Offer{lessOnce}, 0, 1, 100},
		"once, there and back":            {once, 100, []plan.Offer{lessOnce, none, once}, half, 100, 100},
		"once, a year":                    {once, 100, []plan.Offer{proYear}, 0, 100, 100},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sub, g := order(t, c.first)
			if c.use > 0 {
				consume(t, g, c.use)
			}
			for _, to := range c.to {
				change(t, sub, g, to, noon.Add(c.after))
			}
			if got := credit(g); got.Granted != c.granted || got.Used != c.used || got.Balance() != max(c.granted-c.used, 0) {
				t.Errorf("granted %d, used %d, balance %d; want %d, %d", got.Granted, got.Used, got.Balance(), c.granted, c.used)
			}
		})
	}
}

func TestARenewalFillsCreditsUpAgain(t *testing.T) {
	t.Parallel()
	pro, basic := creditPlan("pro", period.Month, 100, true), creditPlan("basic", period.Month, 10, true)
	none, once := creditPlan("none", period.Month, 0, true), creditPlan("once", period.Month, 1, false)
	renew := func(t *testing.T, sub *subscription.Subscription, g *access.Grant) {
		t.Helper()
		end := sub.State().CurrentPeriodEnd
		b, err := sub.NextBill(end)
		if err == nil {
			_, err = sub.Apply(b)
		}
		if err != nil {
			t.Fatal(err)
		}
		g.Renew(sub.State(), end)
	}
	sub, g := order(t, pro)
	consume(t, g, 100)
	change(t, sub, g, basic, noon)
	renew(t, sub, g)
	if got := credit(g); got.Granted != 10 || got.Used != 0 {
		t.Errorf("after the renewal %+v, want 10 unused", got)
	}
	sub, g = order(t, once)
	consume(t, g, 1)
	change(t, sub, g, basic, noon)
	consume(t, g, 5)
	renew(t, sub, g)
	if got := credit(g); got.Granted != 10 || got.Used != 0 {
		t.Errorf("after the renewal of another plan %+v, want 10 unused", got)
	}
	for _, to := range []plan.Offer{none, once} {
		change(t, sub, g, to, sub.State().CurrentPeriodStart)
	}
	if got := credit(g); got.Granted != 1 || got.Used != 1 {
		t.Errorf("%+v, want the one used that is granted once", got)
	}
	sub, g = order(t, pro)
	consume(t, g, 60)
	change(t, sub, g, none, noon)
	renew(t, sub, g)
	change(t, sub, g, once, sub.State().CurrentPeriodStart)
	if got := credit(g); got.Granted != 1 || got.Used != 0 {
		t.Errorf("%+v: what renews stayed used", got)
	}
}

func TestCreditsAreStoredWithTheirShares(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		offer plan.Offer
		want  access.CreditBlock
	}{
		"renewing": {creditPlan("pro", period.Month, 100, true),
			access.CreditBlock{Granted: 100, Amount: 100, Renews: true, Shares: 3100}},
		"once": {creditPlan("once", period.Month, 100, false), access.CreditBlock{Granted: 100, Amount: 100}},
	} {
		_, g := order(t, c.offer)
		c.want.Key, c.want.Unit = "renders", "piece"
		if got := g.State().Credits; len(got) != 1 || got[0] != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// Blocks that were stored before there were shares have what was granted alone.
func TestACreditWithoutSharesIsExchangedByDays(t *testing.T) {
	t.Parallel()
	half := noon.Add(15 * 24 * time.Hour)
	pro, basic := creditPlan("pro", period.Month, 100, true), creditPlan("basic", period.Month, 1, true)
	sub, g := order(t, pro)
	old := g.State()
	old.Credits[0].Amount, old.Credits[0].Shares = 0, 0
	g = access.Restore(old)
	change(t, sub, g, basic, half)
	if got := credit(g); got.Granted != 48 {
		t.Errorf("%d are granted, want the 48 of 15 days of 100 and 16 days of 1", got.Granted)
	}
}

func TestWhatWasHeldOfAPlanStaysHeld(t *testing.T) {
	t.Parallel()
	pro, none := creditPlan("pro", period.Month, 100, true), creditPlan("none", period.Month, 0, true)
	sub, g := order(t, pro)
	for _, step := range []struct {
		days    int
		to      plan.Offer
		granted int64
	}{{15, none, 48}, {20, pro, 83}} { // 15 × 100 / 31, then (15 + 11) × 100 / 31
		change(t, sub, g, step.to, noon.AddDate(0, 0, step.days))
		if got := credit(g); got.Granted != step.granted || !got.ExpiresAt.Equal(sub.State().CurrentPeriodEnd) {
			t.Errorf("after %d days %+v, want %d until %v", step.days, got, step.granted, sub.State().CurrentPeriodEnd)
		}
	}
}

func TestAnOverdraftTakesNothingFromOthers(t *testing.T) {
	t.Parallel()
	pro, basic := creditPlan("pro", period.Month, 100, true), creditPlan("basic", period.Month, 1, true)
	sub, g := order(t, pro)
	consume(t, g, 100)
	change(t, sub, g, basic, noon)
	gift := access.NewManual("grt_2", "crt_1", "cus_1", access.ManualGrant{
		Terms: plan.Terms{Credits: []plan.Credit{{Key: "renders", Unit: "piece", Amount: 50}}},
	}, noon)
	one := access.NewManual("grt_3", "crt_1", "cus_1", access.ManualGrant{
		Terms: plan.Terms{Credits: []plan.Credit{{Key: "renders", Unit: "piece", Amount: 1}}},
	}, noon)
	if got := access.Fold([]*access.Grant{g, one}).Credits; got[0].Granted != 2 || got[0].Balance() != 1 {
		t.Errorf("%+v, want 2 granted and 1 left", got)
	}
	all := []*access.Grant{g, gift}
	if got := access.Fold(all).Credits; len(got) != 1 || got[0].Granted != 51 || got[0].Balance() != 50 {
		t.Errorf("%+v, want 51 granted and 50 left", got)
	}
	if _, _, err := access.Consume(all, access.ConsumeRequest{Key: "renders", Amount: 51}); err == nil {
		t.Error("51 of 50 were consumed")
	}
	if _, _, err := access.Consume(all, access.ConsumeRequest{Key: "renders", Amount: 50}); err != nil {
		t.Error(err)
	}
}
