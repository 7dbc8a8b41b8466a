package mail_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"sundry/adapters/gormstore"
	"sundry/adapters/ical"
	"sundry/adapters/system"
	"sundry/core/appointment"
	"sundry/core/checkout"
	"sundry/core/document"
	"sundry/core/identity"
	"sundry/core/money"
	"sundry/core/plan"
	"sundry/core/secret"
	"sundry/modules/mail"
	"sundry/ports"
	"sundry/tests/fakes"
	"sundry/tests/testdb"
)

const creatorID = "crt_01h00000000000000000000000"

// seller has a logo and a color that every mail shows.
var seller = fakes.Account{
	Name: "Ada's Workshop", Address: "ada@example.com",
	Profile: identity.Profile{LogoURL: "/media/img_1", AccentColor: "#ffee00"},
}

// fixture is the module over a real store, with a clock to move and a mailer with scripted responses.
type fixture struct {
	locale string // of the buyer
	t      testing.TB
	store  *testdb.ClockedStore
	mail   *mail.Service

	// account is the creator's, who wants no mails that they can go without: most tests count those to buyers.
	account fakes.Account

	*testdb.Clock
	mu    sync.Mutex
	mails []ports.Message
	// buyer is the address of everybody who booked an appointment.
	buyer string
	// pack are the appointments of the session.
	pack []appointment.State
	// mailFails is the error of the mailer; nil if it accepts messages. With failsFor it fails for that address alone.
	mailFails error
	failsFor  string
}

// forEachEngine runs the test on a fresh store of each engine.
func forEachEngine(t *testing.T, test func(t *testing.T, w *fixture)) {
	t.Helper()
	testdb.EachStore(t, func(t *testing.T, store *gormstore.Store) {
		w := &fixture{t: t, Clock: testdb.NewClock(time.Now().UTC().Truncate(time.Millisecond)), account: seller}
		w.store = testdb.WithClock(store, w)
		w.mail = mail.New(mail.Config{Sender: "no-reply@pay.example.com"}, mail.Deps{
			Store: w.store, Mails: store, Clock: w, IDs: system.NewIDs(), Mailer: w, Receipts: w, Accounts: &w.account, Buyers: w,
			Bookings: w, Calendars: ical.Calendars{},
			Images: w, Documents: document.Links{BaseURL: "https://pay.example.com", Keys: secret.Fixed(make([]byte, 32))},
		})
		test(t, w)
	})
}

// Send implements ports.Mailer.
func (w *fixture) Send(_ context.Context, message ports.Message) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.mailFails != nil && (w.failsFor == "" || w.failsFor == message.To) {
		return w.mailFails
	}
	w.mails = append(w.mails, message)
	return nil
}

// mailed hands over the mails that were sent since the last time.
func (w *fixture) mailed() []ports.Message {
	w.mu.Lock()
	defer w.mu.Unlock()
	arrived := w.mails
	w.mails = nil
	return arrived
}

// failMail makes the mailer respond with an error, or work again.
func (w *fixture) failMail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mailFails = err
}

// ReceiptURL implements ports.ReceiptLinks.
func (w *fixture) ReceiptURL(checkoutID string) string {
	return "https://pay.example.com/r/of-" + checkoutID
}

// ImageURL implements ports.ImageLinks.
func (w *fixture) ImageURL(address string) string { return "https://pay.example.com" + address }

// Buyer implements ports.BuyerReader.
func (w *fixture) Buyer(context.Context, ports.Repos, string) (ports.Addressee, error) {
	return ports.Addressee{Address: w.buyer, Name: "Grace Hopper", Locale: w.locale}, nil
}

// ManageURL implements ports.AppointmentReader.
func (w *fixture) ManageURL(appointmentID string) string {
	return "https://pay.example.com/a/of-" + appointmentID
}

// Booked implements ports.AppointmentReader.
func (w *fixture) Booked(context.Context, ports.Repos, string, string) ([]appointment.State, error) {
	return slices.Clone(w.pack), nil
}

// CalendarEntry implements ports.AppointmentReader.
func (w *fixture) CalendarEntry(a appointment.State) ports.CalendarEntry {
	return ports.CalendarEntry{
		UID: a.ID + "@pay.example.com", Sequence: a.Sequence, Canceled: a.Status == appointment.StatusCanceled,
		StartsAt: a.StartsAt, EndsAt: a.EndsAt, StampedAt: w.Real(), Summary: a.Title,
	}
}

// CreatorZone implements ports.AppointmentReader.
func (w *fixture) CreatorZone(context.Context, ports.Repos, string) (string, error) {
	return "Europe/Dublin", nil
}

func (w *fixture) atomically(fn func(ctx context.Context, r ports.Repos) error) {
	w.t.Helper()
	if err := w.store.Atomically(w.t.Context(), fn); err != nil {
		w.t.Fatal(err)
	}
}

func paid() checkout.Paid {
	return checkout.Paid{
		CheckoutID: "chk_1", PaymentID: "pay_1", CreatorID: creatorID, CustomerID: "cus_1",
		Offer:    plan.Offer{ListingID: "lst_1", PlanKey: "default"},
		Subtotal: money.Amount{Minor: 1200, Currency: "eur"}, Total: money.Amount{Minor: 1200, Currency: "eur"},
	}
}

// work runs every task that is due, as a worker would.
func (w *fixture) work() {
	w.t.Helper()
	fakes.Work(w.t, w.store, w.Real(), w.run)
}

func (w *fixture) run(t ports.Task) error {
	switch t.Kind {
	case mail.TaskSend:
		return w.mail.Send(w.t.Context(), t)
	case mail.TaskSendLater:
		return w.mail.SendLater(w.t.Context(), t)
	}
	return fmt.Errorf("unknown task kind %s", t.Kind)
}
