package e2e_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sundry/tests/harness"
)

// offer is a variant that buyers of a bookingLife may take: a time of their own, a pack, or a seat of a group.
type offer struct {
	listing         harness.Listing
	variant         string
	sessions, seats int
}

// bookingLife is that of a creator's calendar.
type bookingLife struct {
	*life
	offers []offer
	// seen are starts that were once offered, free or not by now.
	seen []string
}

// TestAnyInterleavingOfBookings_SellsNoTimeTwice does random things to a calendar, one after another and several at
// once. After each, `sundry verify` looks at all of it, and what the calendar offers is compared with what is booked.
func TestAnyInterleavingOfBookings_SellsNoTimeTwice(t *testing.T) {
	t.Parallel()
	eachLife(t, func(one *life) {
		l := newBookingLife(one)
		l.live(map[string]func() wish{
			"hours": l.hours, "minutes": l.minutes, "book": l.book, "book another": l.book, "book one more": l.book,
			"open": l.open, "open another": l.open, "pay": l.pay, "pay another": l.pay, "expire": l.expire,
			"begin again": l.again, "move": l.move, "buyer moves": l.buyerMoves, "cancel": l.cancel,
			"buyer cancels": l.buyerCancels, "outcome": l.outcome, "refund": l.refund, "dispute": l.answerDispute,
			"seats": l.changeSeats, "working hours": l.changeHours, "choose": l.choose,
		}, map[string]func(*rapid.T){
			"": func(*rapid.T) {
				l.verify()
				l.compareTimes()
				l.compareAccess()
			},
		})
	})
}

func newBookingLife(one *life) *bookingLife {
	l := &bookingLife{life: one}
	s, t := newStudio(l.T, l.a.App), l.T
	l.a = s.Account
	own := s.sells(t, "virtual", harness.JSON{"bufferAfterMinutes": 30, "fullRefundHours": 24, "dailyCap": 4})
	class := s.sells(t, "virtual", harness.JSON{"bufferBeforeMinutes": 15, "slotIntervalMinutes": 30})
	var made struct{ VariantID string }
	s.AsCreator(t, post, "/v1/listings/"+class.ID+"/variants",
		harness.JSON{"durationMinutes": 60, "seats": 3, "priceInCents": 1500}).Want(t, 201).Into(t, &made)
	l.offers = []offer{
		{own, "", 1, 1}, {own, s.pack(t, own, 2, 5001), 2, 1}, {class, made.VariantID, 1, 3},
	}
	return l
}

// offered are the starts that an offer's calendar shows from today on.
func (l *bookingLife) offered(o offer) (starts []time.Time) {
	from := clockOf(l.T, l.a)
	path := "/v1/listings/" + o.listing.ID + "/slots/range?from=" + from.Format(time.DateOnly) + "&to=" +
		from.AddDate(0, 0, 3).Format(time.DateOnly)
	if o.variant != "" {
		path += "&variantId=" + o.variant
	}
	var shown struct {
		Days []struct {
			Slots []struct{ StartsAt time.Time }
		}
	}
	l.a.AsBackend(l, get, path, nil).Want(l, 200).Into(l, &shown)
	for _, day := range shown.Days {
		for _, slot := range day.Slots {
			starts = append(starts, slot.StartsAt)
		}
	}
	return starts
}

// start draws a start of an offer that is free, or one that was so once.
func (l *bookingLife) start(o offer) string {
	if len(l.seen) > 0 && rapid.IntRange(0, 2).Draw(l.r, "seen") > 0 {
		return rapid.SampledFrom(l.seen).Draw(l.r, "start")
	}
	free := l.offered(o)
	if len(free) == 0 {
		return clockOf(l.T, l.a).AddDate(0, 0, 1).Truncate(time.Hour).Format(time.RFC3339)
	}
	start := free[rapid.IntRange(0, len(free)-1).Draw(l.r, "start")].Format("2006-01-02T15:04:05.000Z")
	l.seen = append(l.seen, start)
	return start
}

func (l *bookingLife) slots(o offer) (slots []harness.JSON) {
	for range o.sessions {
		slots = append(slots, harness.JSON{"startsAt": l.start(o), "timezone": "Asia/Tokyo"})
	}
	return slots
}

func (l *bookingLife) hours() wish {
	return l.wait(time.Duration(rapid.IntRange(1, 2*24).Draw(l.r, "hours")) * time.Hour)
}

func (l *bookingLife) minutes() wish {
	return l.wait(time.Duration(rapid.IntRange(1, 20).Draw(l.r, "minutes")) * time.Minute)
}

func (l *bookingLife) open() wish {
	body, _ := l.drawSession()
	return func() { l.opens(body) }
}

// book opens a session and pays for it.
func (l *bookingLife) book() wish {
	body, chosen := l.drawSession()
	card := rapid.SampledFrom([]string{harness.CardSucceeds, harness.CardSucceeds, harness.CardDisputed}).Draw(l.r, "card")
	return func() {
		if session, ok := l.opens(body); ok && chosen {
			l.payWith(session, card, "ada@buyer.example")
		}
	}
}

// drawSession draws what to open, and whether its times are chosen beforehand.
func (l *bookingLife) drawSession() (body harness.JSON, chosen bool) {
	o := rapid.SampledFrom(l.offers).Draw(l.r, "offer")
	body = harness.JSON{"listingId": o.listing.ID, "successUrl": "https://shop.example/thanks",
		"externalCustomerId": rapid.SampledFrom([]string{"ada", "bob"}).Draw(l.r, "customer")}
	if o.variant != "" {
		body["variantId"] = o.variant
	}
	if chosen = rapid.IntRange(0, 4).Draw(l.r, "chosen") > 0; chosen {
		body["appointmentSlots"] = l.slots(o)
	}
	return body, chosen
}

func (l *bookingLife) choose() wish {
	session, ok := l.session()
	if !ok {
		return nothing
	}
	slots := l.slots(rapid.SampledFrom(l.offers).Draw(l.r, "offer"))
	return func() {
		l.allowed(l.a.Ask(l, harness.Request{Method: post, Path: "/c/" + session.Secret() + "/slots",
			Body: harness.JSON{"appointmentSlots": slots}}))
	}
}

func (l *bookingLife) again() wish {
	session, ok := l.session()
	if !ok {
		return nothing
	}
	return func() {
		response := l.a.Ask(l, harness.Request{Method: get, Path: "/c/" + session.Secret() + "/again"})
		if response.Status != http.StatusSeeOther && response.Status != http.StatusTooManyRequests {
			l.allowed(response)
		}
	}
}

func (l *bookingLife) booked() []bookedTime {
	return allAs[bookedTime](l.T, l.a, "/v1/appointments", url.Values{})
}

// appointment draws one, and is false where none was booked.
func (l *bookingLife) appointment() (bookedTime, bool) {
	booked := l.booked()
	if len(booked) == 0 {
		return bookedTime{}, false
	}
	return booked[rapid.IntRange(0, len(booked)-1).Draw(l.r, "appointment")], true
}

func (l *bookingLife) offerOf(variant string) offer {
	for _, o := range l.offers[1:] {
		if o.variant == variant {
			return o
		}
	}
	return l.offers[0]
}

func (l *bookingLife) move() wish {
	a, ok := l.appointment()
	if !ok {
		return nothing
	}
	return l.post("/v1/appointments/"+a.ID+"/reschedule", slotBody(l.start(l.offerOf(a.VariantID)), nil))
}

func (l *bookingLife) cancel() wish {
	a, ok := l.appointment()
	if !ok {
		return nothing
	}
	return l.post("/v1/appointments/"+a.ID+"/cancel", harness.JSON{
		"reason": "ill", "refund": rapid.Bool().Draw(l.r, "refund"), "wholeTime": rapid.Bool().Draw(l.r, "whole time"),
	})
}

func (l *bookingLife) outcome() wish {
	a, ok := l.appointment()
	if !ok {
		return nothing
	}
	return l.post("/v1/appointments/"+a.ID+"/outcome", harness.JSON{
		"outcome": rapid.SampledFrom([]any{"completed", "no_show", nil}).Draw(l.r, "outcome"),
	})
}

// byLink sends a form of the buyer's page.
func (l *bookingLife) byLink(a bookedTime, path string, form url.Values) wish {
	return func() {
		if response := (&fixture{Account: l.a}).send(l.T, a, path, form); response.Status != http.StatusSeeOther {
			l.allowed(response)
		}
	}
}

func (l *bookingLife) buyerMoves() wish {
	a, ok := l.appointment()
	if !ok {
		return nothing
	}
	return l.byLink(a, "/reschedule", url.Values{"startsAt": {l.start(l.offerOf(a.VariantID))}})
}

var promisedRefund = regexp.MustCompile(`name="refund" value="([0-9]+)"`)

func (l *bookingLife) buyerCancels() wish {
	a, ok := l.appointment()
	if !ok {
		return nothing
	}
	page := (&fixture{Account: l.a}).page(l.T, a, "/cancel")
	form := url.Values{}
	if promised := promisedRefund.FindStringSubmatch(string(page.Body)); promised != nil {
		form.Set("refund", promised[1])
	}
	return l.byLink(a, "/cancel", form)
}

func (l *bookingLife) changeSeats() wish {
	class := l.offers[2]
	path, body := "/v1/listings/"+class.listing.ID+"/variants/"+class.variant,
		harness.JSON{"seats": rapid.IntRange(1, class.seats).Draw(l.r, "seats")}
	return func() { l.allowed(l.a.AsCreator(l, http.MethodPatch, path, body)) }
}

func (l *bookingLife) changeHours() wish {
	start := fmt.Sprintf("%02d:00", rapid.IntRange(7, 12).Draw(l.r, "from"))
	zone := rapid.SampledFrom([]string{"Europe/Paris", "America/New_York"}).Draw(l.r, "zone")
	return func() {
		l.allowed(l.a.AsCreator(l, put, "/v1/scheduling/availability", everyDay(zone, start, "17:00")))
	}
}

// takenTime is an hour that a confirmed appointment or an open session has.
type takenTime struct {
	by, variant string
	from        time.Time
}

func (t takenTime) overlaps(start time.Time) bool { return t.from.Sub(start).Abs() < time.Hour }

// taken are the times of confirmed appointments, and those that open sessions hold.
func (l *bookingLife) taken() (taken []takenTime) {
	for _, a := range l.booked() {
		if a.Status == "confirmed" {
			taken = append(taken, takenTime{a.ID, a.VariantID, l.instant(a.StartsAt)})
		}
	}
	for _, opened := range l.opened {
		var session struct {
			ID, VariantID, Status string
			AppointmentSlots      []struct{ StartsAt string }
		}
		l.a.AsBackend(l, get, "/v1/checkout-sessions/"+opened.ID, nil).Want(l, 200).Into(l, &session)
		if session.Status != "open" || session.VariantID == l.offers[2].variant { // a whole time that is canceled frees it
			continue
		}
		for _, slot := range session.AppointmentSlots {
			taken = append(taken, takenTime{session.ID, session.VariantID, l.instant(slot.StartsAt)})
		}
	}
	return taken
}

func (l *life) instant(text string) time.Time {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		l.Fatal(err)
	}
	return at
}

// compareTimes fails for times that overlap, for groups beyond their seats, and for offers of what is taken.
func (l *bookingLife) compareTimes() {
	taken, class := l.taken(), l.offers[2]
	for i, a := range taken {
		sharing := 1
		for _, b := range taken[i+1:] {
			if a.variant == class.variant && b.variant == class.variant && a.from.Equal(b.from) {
				sharing++
			} else if a.overlaps(b.from) {
				l.r.Fatalf("%s and %s overlap: %s and %s", a.by, b.by, a.from, b.from)
			}
		}
		if sharing > class.seats {
			l.r.Fatalf("%d buyers share %s", sharing, a.from)
		}
	}
	for _, o := range l.offers {
		for _, start := range l.offered(o) {
			for _, a := range taken {
				seat := o.seats > 1 && a.variant == o.variant && a.from.Equal(start)
				if a.overlaps(start) && !seat {
					l.r.Fatalf("%s is offered, and %s has %s", start, a.by, a.from)
				}
			}
		}
	}
}

// compareAccess fails for a sale that has not all of its appointments, or whose access is not that of their states.
func (l *bookingLife) compareAccess() {
	gives := l.sources("ada")
	maps.Copy(gives, l.sources("bob"))
	disputed := l.disputed() // read after the access that it takes away
	for _, session := range l.opened {
		var sold struct {
			Status, PaymentID string
			RefundedInCents   int64
			Appointments      []struct{ Status string }
			Items             []struct{ VariantID string }
		}
		l.a.AsBackend(l, get, "/v1/checkout-sessions/"+session.ID+"/receipt?headless=true", nil).Want(l, 200).Into(l, &sold)
		if sold.Status != "paid" {
			continue
		}
		if want := l.offerOf(sold.Items[0].VariantID).sessions; len(sold.Appointments) != want {
			l.r.Fatalf("%s has %d appointments of %d", session.ID, len(sold.Appointments), want)
		}
		kept := slices.Contains(sold.Appointments, struct{ Status string }{"confirmed"})
		switch access := gives[sold.PaymentID]; {
		case access && !kept:
			l.r.Fatalf("%s gives access without an appointment: %+v", session.ID, sold)
		case !access && kept && sold.RefundedInCents == 0 && !disputed[sold.PaymentID]:
			l.r.Fatalf("%s gives no access: %+v", session.ID, sold)
		}
	}
}
