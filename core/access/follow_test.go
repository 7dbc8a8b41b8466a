package access_test

import (
	"testing"
	"time"

	"sundry/core/access"
	"sundry/core/payment"
	"sundry/core/plan"
	"sundry/core/subscription"
)

// subscribed is an active subscription whose plan gives credits that renew and credits that do not, and its grant.
func subscribed(t *testing.T) (*subscription.Subscription, *access.Grant) {
	t.Helper()
	o := offer
	o.Interval, o.IntervalCount, o.PriceID = "month", 1, "pri_1"
	o.Price.Currency, o.Price.Minor = "eur", 1000
	o.Terms.Credits = append(o.Terms.Credits, plan.Credit{Key: "welcome", Unit: "render", Amount: 10})
	sub := subscription.New(subscription.Order{ID: "sub_1", CreatorID: "crt_1", CustomerID: "cus_1",
		PaymentMethodID: "pm_1", Offer: o}, noon)
	if _, err := sub.Activate(noon); err != nil {
		t.Fatal(err)
	}
	return sub, access.NewForSubscription("grt_1", sub.State(), noon)
}

// bill starts the next charge.
func bill(t *testing.T, sub *subscription.Subscription) time.Time {
	t.Helper()
	end := sub.State().CurrentPeriodEnd
	b, err := sub.NextBill(end)
	if err == nil {
		err = sub.StartCharge("pay_1", b)
	}
	if err != nil {
		t.Fatal(err)
	}
	return end
}

func TestUnnamedCustomerHasAccessUnderOurID(t *testing.T) {
	t.Parallel()
	_, g := subscribed(t)
	if s := g.State(); s.ExternalCustomerID != "cus_1" || s.Revision != 1 {
		t.Errorf("%+v", s)
	}
}

func TestCreditsRenewWithThePeriodAndOthersDoNot(t *testing.T) {
	t.Parallel()
	sub, g := subscribed(t)
	for _, key := range []string{"renders", "welcome"} {
		if _, _, err := access.Consume([]*access.Grant{g}, access.ConsumeRequest{Key: key, Amount: 7}); err != nil {
			t.Fatal(err)
		}
	}
	followed := g.State()
	g.Follow(sub.State(), noon)
	if c := g.State().Credits; c[0].Used != 7 || c[1].Used != 7 || g.State().Revision != followed.Revision+1 {
		t.Fatalf("used credits came back within the period: %+v", g.State())
	}
	end := bill(t, sub)
	if _, err := sub.Paid("pay_1"); err != nil {
		t.Fatal(err)
	}
	before := g.State()
	g.Renew(sub.State(), end)
	after := g.State()
	if c := after.Credits; c[0].Used != 0 || c[1].Used != 7 || !after.Plan.CurrentPeriodStart.Equal(end) ||
		after.Revision != before.Revision+1 {
		t.Errorf("%+v", after)
	}
}

func TestGrantOutlastsGraceAndReturnsOncePaid(t *testing.T) {
	t.Parallel()
	sub, g := subscribed(t)
	end := bill(t, sub)
	if _, err := sub.Declined("pay_1", payment.DeclineReason{Code: "card_declined"}, end); err != nil {
		t.Fatal(err)
	}
	g.Follow(sub.State(), end)
	grace := end.Add(subscription.Grace)
	if s := g.State(); !g.Active() || s.Plan.Status != access.PastDue || !s.Plan.GraceEndsAt.Equal(grace) ||
		!s.ExpiresAt.Equal(grace) {
		t.Fatalf("%+v", s)
	}
	if err := g.Expire(grace); err != nil {
		t.Fatal(err)
	}
	g.Follow(sub.State(), grace)
	if g.Active() {
		t.Fatal("it outlasts the grace")
	}
	bill(t, sub)
	if _, err := sub.Paid("pay_1"); err != nil {
		t.Fatal(err)
	}
	g.Follow(sub.State(), grace.Add(time.Hour))
	if s := g.State(); !g.Active() || !s.EndedAt.IsZero() || !s.ExpiresAt.IsZero() || s.Plan.Status != access.Active {
		t.Fatalf("%+v", s)
	}
}

func TestAGrantPausesAndEndsWithItsSubscription(t *testing.T) {
	t.Parallel()
	sub, g := subscribed(t)
	if _, err := sub.Pause(noon); err != nil {
		t.Fatal(err)
	}
	g.Follow(sub.State(), noon)
	if s := g.State(); s.EndReason != access.SourceEnded || !s.EndedAt.Equal(noon) {
		t.Fatalf("paused: %+v", s)
	}
	if _, err := sub.Resume(noon.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	g.Follow(sub.State(), noon.Add(time.Hour))
	if !g.Active() {
		t.Fatal("resumed without access")
	}
	if _, err := sub.Cancel(subscription.CancelRequested, noon.Add(2*time.Hour)); err != nil {
		t.Fatal(err)
	}
	g.Follow(sub.State(), noon.Add(3*time.Hour))
	if s := g.State(); s.EndReason != access.SourceEnded || !s.EndedAt.Equal(noon.Add(2*time.Hour)) {
		t.Fatalf("canceled: %+v", s)
	}
}

func TestAGrantThatEndedForAnotherReasonStaysEnded(t *testing.T) {
	t.Parallel()
	sub, g := subscribed(t)
	s := g.State()
	s.EndReason, s.EndedAt = access.Revoked, noon
	g = access.Restore(s)
	g.Follow(sub.State(), noon)
	if g.Active() {
		t.Error("a revoked grant came back")
	}
	g.Follow(next(t, sub), noon)
	if g.Active() {
		t.Error("a revoked grant came back with the next period")
	}
	if _, err := sub.Cancel(subscription.CancelRequested, noon.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if g.Follow(sub.State(), noon.Add(time.Hour)); g.State().EndReason != access.Revoked ||
		!g.State().EndedAt.Equal(noon) {
		t.Errorf("the end of the subscription overwrote its own: %+v", g.State())
	}
}

// next pays the next period.
func next(t *testing.T, sub *subscription.Subscription) subscription.State {
	t.Helper()
	bill(t, sub)
	if _, err := sub.Paid("pay_1"); err != nil {
		t.Fatal(err)
	}
	return sub.State()
}

func TestWhatWasUsedInOneUnitIsNotUsedInAnother(t *testing.T) {
	t.Parallel()
	sub, g := subscribed(t)
	if _, _, err := access.Consume([]*access.Grant{g}, access.ConsumeRequest{Key: "renders", Amount: 7}); err != nil {
		t.Fatal(err)
	}
	s := sub.State()
	s.Offer.Terms.Credits = []plan.Credit{{Key: "renders", Unit: "minute", Amount: 50}}
	g.Follow(s, noon)
	if c := access.Fold([]*access.Grant{g}).Credits; len(c) != 1 || c[0].Unit != "minute" || c[0].Used != 0 {
		t.Errorf("%+v", c)
	}
}

func TestWhatWasUsedOfOneKeyIsNotUsedOfAnother(t *testing.T) {
	t.Parallel()
	sub, g := subscribed(t)
	if _, _, err := access.Consume([]*access.Grant{g}, access.ConsumeRequest{Key: "renders", Amount: 7}); err != nil {
		t.Fatal(err)
	}
	s := sub.State()
	s.Offer.Terms.Credits = []plan.Credit{{Key: "welcome", Unit: "render", Amount: 10}}
	g.Follow(s, noon)
	if c := access.Fold([]*access.Grant{g}).Credits; len(c) != 1 || c[0].Key != "welcome" || c[0].Used != 0 {
		t.Errorf("%+v", c)
	}
}

func TestAChangeOfPlanChangesWhatIsGiven(t *testing.T) {
	t.Parallel()
	sub, g := subscribed(t)
	to := sub.State().Offer
	to.PlanKey, to.PriceID = "max", "pri_2"
	to.Terms = plan.Terms{Entitlements: []plan.Entitlement{limit(50)},
		Credits: []plan.Credit{{Key: "renders", Unit: "render", Amount: 500, Renews: true}}}
	if _, _, err := access.Consume([]*access.Grant{g}, access.ConsumeRequest{Key: "renders", Amount: 7}); err != nil {
		t.Fatal(err)
	}
	b, err := sub.ChangeBill(to, subscription.ChargeNow, noon)
	if err == nil {
		_, err = sub.Apply(b)
	}
	if err != nil {
		t.Fatal(err)
	}
	g.Follow(sub.State(), noon)
	if s := g.State(); s.Plan.Key != "max" || len(s.Entitlements) != 1 || len(s.Credits) != 1 ||
		s.Credits[0].Granted != 500 || s.Credits[0].Used != 7 {
		t.Errorf("%+v", s)
	}
}
