package checkout_test

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"sundry/core/checkout"
	"sundry/core/customer"
	"sundry/core/discount"
	"sundry/core/event"
	"sundry/core/fault"
	"sundry/core/fault/faulttest"
	"sundry/core/intake"
	"sundry/core/money"
	"sundry/core/payment"
	"sundry/core/period"
	"sundry/core/plan"
	"sundry/core/secret"
)

var opened = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func session(status checkout.Status, livePayment string) *checkout.Session {
	s := checkout.New(checkout.State{
		ID: "cs_1", CreatorID: "crt_1", Email: "ada@example.com",
		Offer: plan.Offer{Price: money.Amount{Minor: 1200, Currency: "eur"}},
	}, opened).State()
	s.Status, s.LivePaymentID = status, livePayment
	return checkout.Restore(s)
}

// Each row is a (state, trigger) pair of the drawn machine; code "" means that the transition happens.
func TestEverySessionStateHandlesEveryTrigger(t *testing.T) {
	t.Parallel()
	triggers := map[string]func(*checkout.Session) error{
		"begin": func(c *checkout.Session) error { return c.StartPayment("pay_2", "", customer.Details{}, opened) },
		"late": func(c *checkout.Session) error {
			return c.StartPayment("pay_2", "", customer.Details{}, opened.Add(checkout.Lifetime))
		},
		"describe": func(c *checkout.Session) error { return c.UpdateBuyer("b@example.com", customer.Details{}, opened) },
		"pay": func(c *checkout.Session) error {
			_, err := c.Pay(checkout.Settlement{PaymentID: "pay_1"}, opened)
			return err
		},
		"expire": func(c *checkout.Session) error { _, err := c.Expire(); return err },
	}
	for name, c := range map[string]struct {
		status checkout.Status
		live   string
		codes  map[string]fault.Code
	}{
		"open": {checkout.StatusProcessing, "", map[string]fault.Code{"late": fault.SessionExpired}},
		"open with a live attempt": {checkout.StatusProcessing, "pay_1", map[string]fault.Code{
			"begin": fault.StateConflict, "late": fault.SessionExpired, "expire": fault.StateConflict,
			"describe": fault.StateConflict}},
		"paid": {checkout.StatusPaid, "", map[string]fault.Code{
			"begin": fault.SessionAlreadyPaid, "late": fault.SessionAlreadyPaid, "describe": fault.SessionAlreadyPaid,
			"pay": fault.SessionAlreadyPaid, "expire": fault.SessionAlreadyPaid}},
		"failed": {checkout.StatusFailed, "", map[string]fault.Code{
			"begin": fault.StateConflict, "late": fault.StateConflict, "describe": fault.StateConflict}},
		"expired": {checkout.StatusExpired, "", map[string]fault.Code{
			"begin": fault.SessionExpired, "late": fault.SessionExpired, "describe": fault.SessionExpired}},
	} {
		for trigger, pull := range triggers {
			t.Run(name+", "+trigger, func(t *testing.T) {
				t.Parallel()
				aggregate := session(c.status, c.live)
				before := aggregate.State()
				err := pull(aggregate)
				if got := fault.CodeOf(err); got != c.codes[trigger] {
					t.Fatalf("code %q, want %q", got, c.codes[trigger])
				}
				after := aggregate.State()
				if err != nil && (after.Revision != before.Revision || after.Status != before.Status ||
					after.LivePaymentID != before.LivePaymentID || after.Email != before.Email) {
					t.Fatalf("a refusal changed the session: %+v", after)
				}
			})
		}
	}
}

func TestOnlyTheLiveAttemptMayDeclineOrBeCleared(t *testing.T) {
	t.Parallel()
	for name, call := range map[string]func(*checkout.Session, string) bool{
		"decline": func(c *checkout.Session, id string) bool {
			return c.Decline(id, payment.DeclineReason{Code: "card_declined"})
		},
		"clear": func(c *checkout.Session, id string) bool {
			return c.ClearPayment(id, payment.DeclineReason{Code: "processing_error"})
		},
	} {
		c := session(checkout.StatusProcessing, "pay_1")
		before := c.State().Revision
		if call(c, "pay_0") || c.State().Revision != before {
			t.Errorf("%s by another attempt changed the session", name)
		}
		changed := call(c, "pay_1")
		if s := c.State(); !changed || s.LivePaymentID != "" || s.LastError.Code == "" ||
			s.Status != checkout.StatusProcessing {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

func TestThePageFollowsFromTheSessionAlone(t *testing.T) {
	t.Parallel()
	declined := session(checkout.StatusProcessing, "").State()
	declined.LastError = payment.DeclineReason{Code: "card_declined"}
	for name, c := range map[string]struct {
		state checkout.State
		live  payment.Status
		at    time.Time
		want  checkout.PageState
	}{
		"fresh":    {session(checkout.StatusProcessing, "").State(), "", opened, checkout.PagePay},
		"declined": {declined, "", opened, checkout.PagePaymentFailed},
		"asked": {session(checkout.StatusProcessing, "pay_1").State(), payment.RequiresAction, opened,
			checkout.PageAuthenticating},
		"pending": {session(checkout.StatusProcessing, "pay_1").State(), payment.Pending, opened,
			checkout.PageProcessing},
		"pending at dusk": {session(checkout.StatusProcessing, "pay_1").State(), payment.Pending,
			opened.Add(checkout.Lifetime), checkout.PageProcessing},
		"over, not swept": {session(checkout.StatusProcessing, "").State(), "", opened.Add(checkout.Lifetime),
			checkout.PageExpired},
		"paid":    {session(checkout.StatusPaid, "").State(), payment.Succeeded, opened, checkout.PagePaid},
		"failed":  {session(checkout.StatusFailed, "").State(), "", opened, checkout.PageFailed},
		"expired": {session(checkout.StatusExpired, "").State(), "", opened, checkout.PageExpired},
	} {
		if got := c.state.Page(c.live, 1, c.at); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func appointmentSession(modes ...string) checkout.State {
	return checkout.New(checkout.State{ID: "cs_1", CreatorID: "crt_1", Offer: plan.Offer{
		Price: money.Amount{Minor: 1200, Currency: "eur"}, VariantID: "var_1", DurationMinutes: 60, SessionCount: 2,
		DeliveryModes: modes,
	}}, opened).State()
}

func TestThePageOfAnAppointmentFollowsFromItsTimes(t *testing.T) {
	t.Parallel()
	chosen := appointmentSession("virtual")
	chosen.Slots = make([]checkout.AppointmentSlot, 2)
	expiry := opened.Add(checkout.AppointmentLifetime)
	for name, c := range map[string]struct {
		state checkout.State
		held  int
		at    time.Time
		want  checkout.PageState
	}{
		"where and when":          {appointmentSession("virtual", "in_person"), 0, opened, checkout.PageChooseMode},
		"when":                    {appointmentSession("virtual"), 0, opened, checkout.PageChooseTime},
		"chosen":                  {chosen, 2, opened, checkout.PagePay},
		"one of two lost":         {chosen, 1, opened, checkout.PageSlotUnavailable},
		"held to the last":        {chosen, 2, expiry.Add(-time.Millisecond), checkout.PagePay},
		"over after half an hour": {chosen, 2, expiry, checkout.PageExpired},
	} {
		if got := c.state.Page("", c.held, c.at); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestAnAppointmentIsPaidOnlyWithAllItsTimes(t *testing.T) {
	t.Parallel()
	c := checkout.Restore(appointmentSession("virtual"))
	begin := func() error { return c.StartPayment("pay_1", "ada@example.com", customer.Details{}, opened) }
	if err := begin(); !fault.Is(err, fault.SlotCountMismatch) || c.State().LivePaymentID != "" {
		t.Fatalf("without times: %v", err)
	}
	if err := c.SelectSlots(make([]checkout.AppointmentSlot, 2), opened); err != nil {
		t.Fatal(err)
	}
	if err := begin(); err != nil {
		t.Fatal(err)
	}
	if err := c.SelectSlots(nil, opened); !fault.Is(err, fault.StateConflict) || len(c.State().Slots) != 2 {
		t.Errorf("times changed while a payment was under way: %v", err)
	}
	if err := session(checkout.StatusProcessing, "").CanSelectSlots(opened); !fault.Is(err, fault.ValidationFailed) {
		t.Errorf("times for what is not booked: %v", err)
	}
	for status, want := range map[checkout.Status]fault.Code{
		checkout.StatusPaid: fault.SessionAlreadyPaid, checkout.StatusFailed: fault.StateConflict,
		checkout.StatusExpired: fault.SessionExpired,
	} {
		s := appointmentSession("virtual")
		s.Status = status
		if err := checkout.Restore(s).SelectSlots(nil, opened); fault.CodeOf(err) != want {
			t.Errorf("%s: %v, want %s", status, err, want)
		}
	}
}

func TestMoneyThatIsGivenBackEndsTheSessionUnpaid(t *testing.T) {
	t.Parallel()
	for status, want := range map[checkout.Status]checkout.Status{
		checkout.StatusProcessing: checkout.StatusExpired, checkout.StatusExpired: checkout.StatusExpired,
		checkout.StatusFailed: checkout.StatusFailed,
	} {
		c := session(status, "pay_1")
		c.CloseRefunded()
		if s := c.State(); s.Status != want || s.LivePaymentID != "" || s.Revision != 2 {
			t.Errorf("%s: %+v", status, s)
		}
	}
}

func FuzzSecretsOpenOnlyWhatTheySealed(f *testing.F) {
	secrets := checkout.Secrets{
		Keys:    secret.Fixed([]byte("0123456789abcdef0123456789abcdef")),
		Lasting: []byte("0123456789abcdef0123456789abcdef"),
	}
	const sessionID = "cs_01h00000000000000000000000"
	f.Add(secrets.Checkout(sessionID))
	f.Add(secrets.Receipt(sessionID))
	f.Add("")
	f.Fuzz(func(t *testing.T, secret string) {
		if id, ok := secrets.OpenCheckout(secret); ok && secrets.Checkout(id) != secret {
			t.Fatalf("%q opened %q", secret, id)
		}
		if secrets.CheckReturnToken(sessionID, secret, opened) {
			t.Fatalf("%q passed for a return token", secret)
		}
	})
}

func TestACheckoutSecretIsNotAReceiptSecret(t *testing.T) {
	t.Parallel()
	secrets := checkout.Secrets{
		Keys:    secret.Fixed([]byte("0123456789abcdef0123456789abcdef")),
		Lasting: []byte("0123456789abcdef0123456789abcdef"),
	}
	const sessionID = "cs_01h00000000000000000000000"
	if id, ok := secrets.OpenCheckout(secrets.Checkout(sessionID)); !ok || id != sessionID {
		t.Fatal("its own secret does not open the session")
	}
	if _, ok := secrets.OpenCheckout(secrets.Receipt(sessionID)); ok {
		t.Fatal("a receipt secret opens the checkout")
	}
	if _, ok := secrets.OpenReceipt(secrets.Checkout(sessionID)); ok {
		t.Fatal("a checkout secret opens the receipt")
	}
}

func TestADiscountComesOffAnOpenSessionOnly(t *testing.T) {
	t.Parallel()
	fifth := &discount.Terms{DiscountID: "dsc_1", Code: "FIFTH", PercentOff: 20, Duration: discount.Once}
	five := &discount.Terms{DiscountID: "dsc_2", Code: "FIVE", AmountOff: money.Amount{Minor: 500, Currency: "eur"},
		Duration: discount.Once}
	c := session(checkout.StatusProcessing, "")
	for _, step := range []struct {
		terms           *discount.Terms
		discount, total int64
	}{{fifth, 240, 960}, {five, 500, 700}, {nil, 0, 1200}, {fifth, 240, 960}} {
		before := c.State().Revision
		if err := c.ApplyDiscount(step.terms, opened); err != nil {
			t.Fatal(err)
		}
		s := c.State()
		if s.DiscountTerms != step.terms || s.Subtotal.Minor != 1200 || s.Discount.Minor != step.discount ||
			s.Discount.Currency != "eur" ||
			s.Total.Minor != step.total || s.Revision != before+1 {
			t.Errorf("with %+v: %+v", step.terms, s)
		}
	}
	paid, err := c.Pay(checkout.Settlement{PaymentID: "pay_1"}, opened)
	if err != nil || paid.DiscountTerms != fifth || paid.Discount.Minor != 240 || paid.Total.Minor != 960 {
		t.Errorf("paid %+v, %v", paid, err)
	}
	for name, c := range map[string]struct {
		session *checkout.Session
		at      time.Time
		want    fault.Code
	}{
		"while a payment is under way": {session(checkout.StatusProcessing, "pay_1"), opened, fault.StateConflict},
		"once paid":                    {session(checkout.StatusPaid, ""), opened, fault.SessionAlreadyPaid},
		"once failed":                  {session(checkout.StatusFailed, ""), opened, fault.StateConflict},
		"once over": {session(checkout.StatusProcessing, ""), opened.Add(checkout.Lifetime),
			fault.SessionExpired},
	} {
		before := c.session.State()
		if err := c.session.ApplyDiscount(five, c.at); fault.CodeOf(err) != c.want ||
			!reflect.DeepEqual(c.session.State(), before) {
			t.Errorf("%s: %v, want %s and no change", name, err, c.want)
		}
	}
}

func TestAChangeOfTheOfferChangesWhatIsDue(t *testing.T) {
	t.Parallel()
	amount := func(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: "eur"} }
	monthly := plan.Offer{PriceID: "pri_month", Interval: period.Month, IntervalCount: 1, Price: amount(1000)}
	offer, err := monthly.Adjustable(plan.Changes{Interval: true, Quantity: true}, []plan.Price{
		{ID: "pri_month", Interval: period.Month, IntervalCount: 1, Amount: amount(1000)},
		{ID: "pri_year", Interval: period.Year, IntervalCount: 1, Amount: amount(10_000)},
	})
	if err != nil {
		t.Fatal(err)
	}
	c := checkout.New(checkout.State{ID: "cs_1", CreatorID: "crt_1", Offer: offer}, opened)
	if err := c.ApplyDiscount(&discount.Terms{PercentOff: 20}, opened); err != nil {
		t.Fatal(err)
	}
	before := c.State()
	if err := c.Change("day", nil, opened); !fault.Is(err, fault.ValidationFailed) ||
		!reflect.DeepEqual(c.State(), before) {
		t.Errorf("a change that is refused: %v, %+v", err, c.State())
	}
	if err := c.Change("year", new(3), opened); err != nil {
		t.Fatal(err)
	}
	after := c.State()
	if after.Subtotal != amount(30_000) || after.Discount != amount(6000) || after.Total != amount(24_000) ||
		after.Revision != before.Revision+1 || after.Offer.PriceID != "pri_year" {
		t.Errorf("by the year: %+v", after)
	}
	if err := c.StartPayment("pay_1", "", customer.Details{}, opened); err != nil {
		t.Fatal(err)
	}
	if err := c.Change("month", nil, opened); !fault.Is(err, fault.StateConflict) {
		t.Errorf("while it is paid: %v", err)
	}
	paid, err := c.Pay(checkout.Settlement{PaymentID: "pay_1"}, opened)
	if err != nil || paid.Offer.Intervals != nil || paid.Offer.MayChange != (plan.Changes{}) ||
		paid.Offer.Price != amount(30_000) {
		t.Errorf("paid: %+v, %v", paid, err)
	}
}

func TestADiscountOnATrialTakesNothingOffToday(t *testing.T) {
	t.Parallel()
	c := checkout.New(checkout.State{Offer: plan.Offer{
		Price: money.Amount{Minor: 1200, Currency: "eur"}, Interval: "month", IntervalCount: 1, TrialDays: 7,
	}}, opened)
	terms := &discount.Terms{PercentOff: 50, Duration: discount.Forever}
	if err := c.ApplyDiscount(terms, opened); err != nil {
		t.Fatal(err)
	}
	if s := c.State(); s.Total.Minor != 0 || s.Discount.Minor != 0 || s.DiscountTerms != terms || !s.NeedsCard() {
		t.Errorf("%+v", s)
	}
}

func TestDropTrial_MakesTheFirstPeriodDue(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		terms           *discount.Terms
		discount, total int64
	}{
		"at its price":    {nil, 0, 1200},
		"with a discount": {&discount.Terms{PercentOff: 25, Duration: discount.Once}, 300, 900},
	} {
		session := checkout.New(checkout.State{Offer: plan.Offer{
			Price: money.Amount{Minor: 1200, Currency: "eur"}, Interval: "month", IntervalCount: 1, TrialDays: 7,
		}}, opened)
		if err := session.ApplyDiscount(c.terms, opened); err != nil {
			t.Fatal(err)
		}
		want := session.State()
		want.Offer.TrialDays, want.TrialDropped, want.Subtotal.Minor = 0, true, 1200
		want.Discount.Minor, want.Total.Minor = c.discount, c.total
		if err := session.DropTrial(); err != nil || !reflect.DeepEqual(session.State(), want) {
			t.Errorf("%s: %v, %+v, want %+v", name, err, session.State(), want)
		}
	}
}

func TestLimitsSubscription_ToBuyersWithAName(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		one   bool
		buyer string
		want  bool
	}{
		"one each, a named buyer":   {true, "ada", true},
		"one each, an unknown one":  {true, "", false},
		"any number, a named buyer": {false, "ada", false},
	} {
		s := checkout.State{Offer: plan.Offer{OneSubscription: c.one}, ExternalCustomerID: c.buyer}
		if got := s.LimitsSubscription(); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestTakeIntake_OfAppointmentsOnly(t *testing.T) {
	t.Parallel()
	product := plan.Offer{Price: money.Amount{Minor: 1200, Currency: "eur"}}
	appointment := product
	appointment.VariantID = "var_1"
	appointment.Intake = intake.Form{MaxGuests: 1, Questions: []intake.Question{
		{Key: "topic", Label: "Topic", Type: intake.Line, Required: true},
	}}
	var none intake.Response
	answers, guests := map[string]string{"topic": "Go"}, []string{"bob@example.com"}
	answered := intake.Response{Answers: []intake.Answer{{Key: "topic", Label: "Topic", Type: intake.Line, Value: "Go"}}}
	for name, c := range map[string]struct {
		offer plan.Offer
		given intake.Given
		final bool
		want  intake.Response
		fault string
	}{
		"a product, nothing":            {product, intake.Given{}, true, none, ""},
		"a product, answers":            {product, intake.Given{Answers: answers}, false, none, "answers NOT_ALLOWED"},
		"a product, a note":             {product, intake.Given{Notes: new("x")}, false, none, "notes NOT_ALLOWED"},
		"a product, guests":             {product, intake.Given{Guests: &guests}, false, none, "guests NOT_ALLOWED"},
		"an appointment, nothing yet":   {appointment, intake.Given{}, false, none, ""},
		"an appointment, never":         {appointment, intake.Given{}, true, none, "answers.topic REQUIRED"},
		"an appointment, answers":       {appointment, intake.Given{Answers: answers}, true, answered, ""},
		"an appointment, a note before": {appointment, intake.Given{Notes: new("x")}, false, intake.Response{Notes: "x"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			session := checkout.New(checkout.State{Offer: c.offer}, opened)
			want := session.State()
			want.Intake = c.want
			err := session.TakeIntake(c.given, c.final)
			if got := strings.Join(faulttest.Lines(t, err), ", "); got != c.fault {
				t.Errorf("refused for %q, want %q", got, c.fault)
			}
			if !reflect.DeepEqual(session.State(), want) {
				t.Errorf("%+v, want %+v", session.State(), want)
			}
		})
	}
}

func TestANewSessionIsOpenAndOwesItsPrice(t *testing.T) {
	t.Parallel()
	eur := func(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: "eur"} }
	for name, c := range map[string]struct {
		offer plan.Offer
		ends  time.Duration
	}{
		"a product":      {plan.Offer{Price: eur(1200)}, 86400 * time.Second},
		"an appointment": {plan.Offer{Price: eur(1200), VariantID: "var_1"}, 1800 * time.Second},
	} {
		got := checkout.New(checkout.State{ID: "cs_1", Offer: c.offer}, opened).State()
		want := checkout.State{
			ID: "cs_1", Offer: c.offer, Status: checkout.StatusProcessing, Subtotal: eur(1200), Discount: eur(0), Tax: eur(0),
			Total:     eur(1200),
			CreatedAt: opened, ExpiresAt: opened.Add(c.ends), Revision: 1,
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}

func TestACardIsNeededForMoneyNowOrLater(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		total, price int64
		interval     period.Interval
		needs, saves bool
	}{
		"nothing, once":              {0, 0, "", false, false},
		"one cent, once":             {1, 1, "", true, false},
		"nothing now, one cent each": {0, 1, period.Month, true, true},
		"nothing each":               {0, 0, period.Month, false, false},
		"a discount to nothing":      {0, 1200, "", false, false},
	} {
		s := checkout.State{
			Total: money.Amount{Minor: c.total, Currency: "eur"},
			Offer: plan.Offer{Price: money.Amount{Minor: c.price, Currency: "eur"}, Interval: c.interval},
		}
		if s.NeedsCard() != c.needs || s.SavesCard() != c.saves {
			t.Errorf("%s: needs %v, saves %v", name, s.NeedsCard(), s.SavesCard())
		}
	}
}

// Each transition changes exactly what its row lists.
func TestATransitionChangesWhatItSays(t *testing.T) {
	t.Parallel()
	declined := payment.DeclineReason{Code: "card_declined"}
	open, live := session(checkout.StatusProcessing, "").State(), session(checkout.StatusProcessing, "pay_1").State()
	open.Buyer, open.LastError = customer.Details{Name: "Ada", Address: customer.Address{Country: "IE"}}, declined
	live.LastError = declined
	ninth := live
	ninth.Attempts = checkout.MaxAttempts - 1
	slots := []checkout.AppointmentSlot{{Timezone: "Europe/Dublin"}}
	appointment := appointmentSession("virtual")
	for name, c := range map[string]struct {
		from checkout.State
		do   func(*checkout.Session) error
		want func(*checkout.State)
	}{
		"the buyer's address and country": {
			open, func(c *checkout.Session) error {
				return c.UpdateBuyer("b@example.com", customer.Details{Address: customer.Address{Country: "FR"}}, opened)
			},
			func(s *checkout.State) { s.Email, s.Buyer.Country = "b@example.com", "FR" },
		},
		"no address": {
			open, func(c *checkout.Session) error { return c.UpdateBuyer("", customer.Details{Name: "Grace"}, opened) },
			func(s *checkout.State) { s.Buyer.Name = "Grace" },
		},
		"times": {
			appointment, func(c *checkout.Session) error { return c.SelectSlots(slots, opened) },
			func(s *checkout.State) { s.Slots = slots },
		},
		"a payment begins": {
			open, func(c *checkout.Session) error {
				return c.StartPayment("pay_2", "b@example.com", customer.Details{Address: customer.Address{Country: "FR"}}, opened)
			},
			func(s *checkout.State) {
				s.Email, s.Buyer.Country, s.LivePaymentID, s.LastError = "b@example.com", "FR", "pay_2", payment.DeclineReason{}
			},
		},
		"money": {
			live, func(c *checkout.Session) error {
				_, err := c.Pay(checkout.Settlement{PaymentID: "pay_1", CustomerID: "cus_1", SubscriptionID: "sub_1",
					ReceiptNumber: "A-R-000001"}, opened)
				return err
			},
			func(s *checkout.State) {
				s.Status, s.PaidAt, s.LivePaymentID, s.LastError = checkout.StatusPaid, opened, "", payment.DeclineReason{}
				s.PaymentID, s.CustomerID, s.SubscriptionID, s.ReceiptNumber = "pay_1", "cus_1", "sub_1", "A-R-000001"
			},
		},
		"a decline": {
			live, func(c *checkout.Session) error { c.Decline("pay_1", declined); return nil },
			func(s *checkout.State) { s.LivePaymentID, s.Attempts = "", 1 },
		},
		"the tenth decline": {
			ninth, func(c *checkout.Session) error { c.Decline("pay_1", declined); return nil },
			func(s *checkout.State) { s.LivePaymentID, s.Attempts, s.Status = "", 10, checkout.StatusFailed },
		},
		"a payment is canceled": {
			live, func(c *checkout.Session) error { c.ClearPayment("pay_1", payment.DeclineReason{}); return nil },
			func(s *checkout.State) { s.LivePaymentID, s.LastError = "", payment.DeclineReason{} },
		},
		"time is over": {
			open, func(c *checkout.Session) error { _, err := c.Expire(); return err },
			func(s *checkout.State) { s.Status = checkout.StatusExpired },
		},
	} {
		aggregate, want := checkout.Restore(c.from), c.from
		c.want(&want)
		want.Revision++
		if err := c.do(aggregate); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := aggregate.State(); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}

func TestOnlyAnOpenSessionExpires(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		session *checkout.Session
		changed bool
		code    fault.Code
	}{
		"open":       {session(checkout.StatusProcessing, ""), true, ""},
		"being paid": {session(checkout.StatusProcessing, "pay_1"), false, fault.StateConflict},
		"paid":       {session(checkout.StatusPaid, ""), false, fault.SessionAlreadyPaid},
		"expired":    {session(checkout.StatusExpired, ""), false, ""},
		"failed":     {session(checkout.StatusFailed, ""), false, ""},
	} {
		before := c.session.State()
		changed, err := c.session.Expire()
		if changed != c.changed || fault.CodeOf(err) != c.code {
			t.Errorf("%s: %v, %v", name, changed, err)
		}
		if after := c.session.State(); !changed && !reflect.DeepEqual(after, before) {
			t.Errorf("%s: changed to %+v", name, after)
		}
	}
}

func TestAPageIsReplacedWhenNothingCanFollow(t *testing.T) {
	t.Parallel()
	for state, want := range map[checkout.PageState]bool{
		checkout.PageExpired: true, checkout.PageFailed: true, checkout.PageSlotUnavailable: true,
		checkout.PagePaid: false, checkout.PagePay: false, checkout.PagePaymentFailed: false, checkout.PageProcessing: false,
		checkout.PageAuthenticating: false, checkout.PageChooseMode: false, checkout.PageChooseTime: false,
	} {
		if state.Terminal() != want {
			t.Errorf("%s is terminal: %v", state, !want)
		}
	}
}

func TestADiscountThatCannotBeCountedChangesNothing(t *testing.T) {
	t.Parallel()
	c := checkout.New(checkout.State{Offer: plan.Offer{Price: money.Amount{Minor: math.MaxInt64, Currency: "eur"}}},
		opened)
	before := c.State()
	if err := c.ApplyDiscount(&discount.Terms{PercentOff: 200}, opened); !errors.Is(err, money.ErrOverflow) ||
		!reflect.DeepEqual(c.State(), before) {
		t.Errorf("%v, %+v", err, c.State())
	}
	monthly := plan.Offer{Price: money.Amount{Minor: 1000, Currency: "eur"}, Interval: period.Month, IntervalCount: 1}
	offer, err := monthly.Adjustable(plan.Changes{Quantity: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	before = checkout.New(checkout.State{Offer: offer}, opened).State()
	before.DiscountTerms = &discount.Terms{PercentOff: math.MaxInt}
	c = checkout.Restore(before)
	if err := c.Change("", new(2), opened); !errors.Is(err, money.ErrOverflow) || !reflect.DeepEqual(c.State(), before) {
		t.Errorf("a change: %v, %+v", err, c.State())
	}
}

func TestEventsAreNamed(t *testing.T) {
	t.Parallel()
	for want, e := range map[string]event.Event{
		"checkout.paid": checkout.Paid{}, "checkout.opened": checkout.Opened{},
		"checkout.session_expired": checkout.Expired{},
	} {
		if got := e.EventName(); got != want {
			t.Errorf("%T is named %s, want %s", e, got, want)
		}
	}
}
