package booking_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"sundry/adapters/gormstore"
	"sundry/adapters/ical"
	"sundry/adapters/memlock"
	"sundry/adapters/system"
	"sundry/core/appointment"
	"sundry/core/civil"
	"sundry/core/fault"
	"sundry/core/listing"
	"sundry/core/money"
	"sundry/core/refund"
	"sundry/core/secret"
	"sundry/core/slot"
	"sundry/modules/booking"
	"sundry/ports"
	"sundry/tests/fakes"
	"sundry/tests/testdb"
)

const (
	creatorID = "crt_01h00000000000000000000000"
	listingID = "lst_01h00000000000000000000000"
	variantID = "var_01h00000000000000000000000"
	packID    = "var_01h00000000000000000000001"
)

// fixture is the module over a real store, with a ready listing of hours from 09:00 to 17:00 in Paris: a single session
// and a pack of three. It is Monday, 1 June 2026, noon in Paris.
type fixture struct {
	t             testing.TB
	store         *testdb.ClockedStore
	booking       *booking.Service
	cancellations *booking.Cancellations
	*testdb.Clock
	fakes.Bus
	mu      sync.Mutex
	listing listing.State
	// paid is the price of each session in cents, and refunded the part of it that was refunded.
	paid, refunded int64
	disputed       bool
	// calendars maps an address to the calendar it serves. Others fail with the text of an error.
	calendars map[string]string
}

func forEachEngine(t *testing.T, test func(t *testing.T, w *fixture)) {
	t.Helper()
	testdb.EachStore(t, func(t *testing.T, store *gormstore.Store) {
		w := &fixture{t: t, Clock: testdb.NewClock(time.Date(2026, 6, 1, 10, 0, 0, 0, time.UTC))}
		w.store = testdb.WithClock(store, w)
		w.listing = listing.State{
			ID: listingID, CreatorID: creatorID, Type: listing.Appointment, Status: listing.Active, Title: "Coaching",
			Metadata: listing.Metadata{listing.DeliveryMethod: "hybrid"},
			Variants: []listing.Variant{
				{ID: variantID, DurationMinutes: 60, SessionCount: 1, IsDefault: true},
				{ID: packID, DurationMinutes: 60, SessionCount: 3},
			},
		}
		w.booking = booking.New(
			booking.Config{BaseURL: "https://pay.example.com", LinkKeys: secret.Fixed(make([]byte, 32)), LastingKey: make([]byte, 32)},
			booking.Deps{
				Store: w.store, Clock: w, Sleeper: system.Clock{}, IDs: system.NewIDs(), Bus: w, Listings: w,
				Accounts: fakes.Account{Name: "Ada's Workshop", Address: "ada@example.com"},
				Locks:    memlock.New(time.Now), Calendars: ical.Calendars{}, Reader: ical.Calendars{}, Fetcher: w,
			})
		w.cancellations = booking.NewCancellations(w.booking, w)
		w.must(w.booking.SetHours(t.Context(), creatorID, hours()))
		w.must(w.booking.SetMeetings(t.Context(), creatorID, appointment.MeetingSettings{
			Virtual:  &appointment.VirtualMeeting{Provider: appointment.Jitsi},
			InPerson: &appointment.Place{Address: "1 Rue de Rivoli"},
		}))
		test(t, w)
		lines, err := w.booking.Verify(t.Context())
		if err != nil || len(lines) > 0 {
			t.Errorf("verify: %v, %v", lines, err)
		}
	})
}

func hours() slot.Settings {
	s := slot.Settings{Timezone: "Europe/Paris"}
	for _, day := range []string{"monday", "tuesday", "wednesday", "thursday", "friday"} {
		s.Weekly = append(s.Weekly, slot.WeeklyHours{Weekday: day, Hours: slot.Hours{Start: "09:00", End: "17:00"}})
	}
	return s
}

// Listing implements ports.BookedListings.
func (w *fixture) Listing(_ context.Context, _ ports.Repos, id string) (listing.State, error) {
	if id != listingID {
		return listing.State{}, fault.NotFound("listing")
	}
	return w.listing, nil
}

// RefundableShare implements ports.AppointmentRefunds.
func (w *fixture) RefundableShare(
	_ context.Context, _ ports.Repos, s ports.AppointmentShare,
) (appointment.RefundDecision, money.Amount, error) {
	switch {
	case w.paid == 0:
		return appointment.NothingPaid, money.Amount{}, nil
	case w.disputed:
		return appointment.PaymentDisputed, money.Amount{}, nil
	}
	share, err := appointment.ShareOf(money.Amount{Minor: w.paid, Currency: "eur"}, s.Position, s.Count)
	return appointment.RefundDue, share, err
}

// RefundShare implements ports.AppointmentRefunds.
func (w *fixture) RefundShare(
	ctx context.Context, r ports.Repos, s ports.AppointmentShare,
) (appointment.Refund, error) {
	decision, share, err := w.RefundableShare(ctx, r, s)
	if decision != appointment.RefundDue {
		return appointment.Refund{Decision: decision}, err
	}
	w.refunded += share.Minor
	return appointment.Refund{Decision: decision, RefundID: fmt.Sprintf("ref_%d", s.Position), Amount: share}, err
}

// AppointmentRefund implements ports.AppointmentRefunds.
func (w *fixture) AppointmentRefund(_ context.Context, _ ports.Repos, _, refundID string) (refund.State, error) {
	return refund.State{ID: refundID, Status: refund.Pending}, nil
}

// Fetch implements ports.Fetcher.
func (w *fixture) Fetch(_ context.Context, url string) ([]byte, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if raw, there := w.calendars[url]; there {
		return []byte(raw), nil
	}
	return nil, errors.New("the connection was refused")
}

func (w *fixture) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// june is a time of a day of June 2026 in Paris, "02 09:00".
func june(text string) time.Time {
	at, err := time.Parse("2006-01-02 15:04 -0700", "2026-06-"+text+" +0200")
	if err != nil {
		panic(err)
	}
	return at.UTC()
}

func pick(texts ...string) []appointment.SlotChoice {
	var all []appointment.SlotChoice
	for i, text := range texts {
		all = append(all, appointment.SlotChoice{
			StartsAt: june(text), Timezone: "Asia/Tokyo", DeliveryMode: appointment.Virtual,
			Field: fmt.Sprintf("appointmentSlots[%d]", i),
		})
	}
	return all
}

// hold reserves times for a session in a transaction of its own: one of the single session, several of the pack.
func (w *fixture) hold(checkoutID string, texts ...string) error {
	h := ports.Hold{CreatorID: creatorID, CheckoutID: checkoutID, ListingID: listingID, Picks: pick(texts...)}
	if len(texts) > 1 {
		h.VariantID = packID
	}
	return w.store.Atomically(context.Background(), func(ctx context.Context, r ports.Repos) error {
		reservations, err := w.booking.Hold(ctx, r, h)
		if err == nil && (len(reservations) != len(texts) || !reservations[0].StartsAt.Equal(june(texts[0]))) {
			err = fmt.Errorf("held %+v", reservations)
		}
		return err
	})
}

// held are the times that a session holds or has.
func (w *fixture) held(checkoutID string) string {
	w.t.Helper()
	reservations, err := w.booking.Held(context.Background(), w.store.Read(context.Background()), creatorID, checkoutID)
	w.must(err)
	var all []string
	for _, c := range reservations {
		all = append(all, string(c.Status)+" "+c.StartsAt.In(time.FixedZone("", 7200)).Format("02 15:04"))
	}
	return strings.Join(all, ", ")
}

func (w *fixture) release(checkoutID string) error {
	return w.store.Atomically(context.Background(), func(ctx context.Context, r ports.Repos) error {
		return w.booking.Release(ctx, r, creatorID, checkoutID)
	})
}

func (w *fixture) confirm(checkoutID string) (booked []appointment.State, ok bool) {
	w.t.Helper()
	w.must(w.store.Atomically(context.Background(), func(ctx context.Context, r ports.Repos) error {
		news, confirmed, err := w.booking.Confirm(ctx, r, ports.Confirmation{
			CreatorID: creatorID, CheckoutID: checkoutID,
			Buyer: appointment.Buyer{CustomerID: "cus_1", ExternalCustomerID: "user-1"},
		})
		if err != nil {
			return err
		}
		ok = confirmed
		if booked, err = w.booking.Booked(ctx, r, creatorID, checkoutID); err != nil {
			return err
		}
		return w.Publish(ctx, r, news...)
	}))
	return booked, ok
}

// open are the open times of a day of June 2026 in Paris.
func (w *fixture) open(day string) string {
	w.t.Helper()
	date, _ := civil.ParseDate("2026-06-" + day)
	calendar, err := w.booking.Open(context.Background(), booking.CalendarQuery{
		ListingID: listingID, From: date, To: date, MostDays: 1,
	})
	w.must(err)
	var all []string
	for _, s := range calendar.Slots {
		all = append(all, s.StartsAt().In(time.FixedZone("", 7200)).Format("15"))
	}
	return strings.Join(all, " ")
}

func wantCode(t *testing.T, what string, err error, code fault.Code) {
	t.Helper()
	if fault.CodeOf(err) != code {
		t.Errorf("%s: %v, want %q", what, err, code)
	}
}
