package notify_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"sundry/adapters/gormstore"
	"sundry/adapters/ical"
	"sundry/adapters/sealer"
	"sundry/adapters/system"
	"sundry/core/access"
	"sundry/core/appointment"
	"sundry/core/checkout"
	"sundry/core/fault"
	"sundry/core/money"
	"sundry/core/plan"
	"sundry/core/webhook"
	"sundry/modules/notify"
	"sundry/ports"
	"sundry/tests/testdb"
)

const creatorID = "crt_01h00000000000000000000000"

// world is the module over a real store, with a clock to turn and receivers that answer as they are told.
type world struct {
	t      testing.TB
	store  *gormstore.Store
	notify *notify.Service

	mu        sync.Mutex
	now       time.Time
	meanwhile func()                          // happens once, while a receiver has the first message
	ahead     time.Duration                   // of the account's clock, before real time; set before anything happens
	answers   map[string]ports.OutboundAnswer // by URL; 200 for the others
	sent      []sent
	changes   [][]string // of the customer's versions 1, 2, …
	mails     []ports.Message
	// appointments are as they are now, by id; buyer is the address of everybody who booked one.
	appointments map[string]appointment.State
	buyer        string
	// mailFails is what the mailer answers instead of taking a message.
	mailFails error
}

// sent is one message that arrived.
type sent struct {
	url, id, signature string
	envelope           envelope
}

type envelope struct {
	ID   string
	Type string
	Data json.RawMessage
}

// onEveryEngine runs the test on a fresh store of each engine.
func onEveryEngine(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	testdb.EachStore(t, func(t *testing.T, store *gormstore.Store) {
		w := &world{t: t, store: store, now: time.Now().UTC().Truncate(time.Millisecond), answers: map[string]ports.OutboundAnswer{}}
		seal, err := sealer.New(make([]byte, 32))
		if err != nil {
			t.Fatal(err)
		}
		store.LaneBy(func(kind, subject string) string {
			if kind == notify.TaskDeliver {
				return notify.LaneOf(subject)
			}
			return ""
		})
		w.notify = notify.New(notify.Config{}, store, store, w, system.NewIDs(), w, w, seal, notify.Post{
			Mailer: mailer{w}, Receipts: w, Owners: w, Buyers: w, Desk: w, Calendars: ical.Calendars{}, Sender: "no-reply@pay.example.com",
		})
		test(t, w)
	})
}

// Now implements ports.Clock.
func (w *world) Now(context.Context, string) (time.Time, error) { return w.Real().Add(w.ahead), nil }

// Real implements ports.Clock.
func (w *world) Real() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *world) advance(by time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(by)
}

// Send implements ports.Sender.
func (w *world) Send(_ context.Context, r ports.OutboundRequest) (ports.OutboundAnswer, error) {
	if meanwhile := w.meanwhile; meanwhile != nil {
		w.meanwhile = nil
		meanwhile()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	one := sent{url: r.URL, id: r.Headers["webhook-id"], signature: r.Headers["webhook-signature"]}
	if err := json.Unmarshal(r.Body, &one.envelope); err != nil {
		return ports.OutboundAnswer{}, err
	}
	w.sent = append(w.sent, one)
	answer, told := w.answers[r.URL]
	if !told {
		return ports.OutboundAnswer{StatusCode: 200}, nil
	}
	if answer.StatusCode == 0 {
		return answer, errors.New("the connection was refused")
	}
	return answer, nil
}

// mailer implements ports.Mailer.
type mailer struct{ *world }

func (m mailer) Send(_ context.Context, message ports.Message) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.mailFails != nil {
		return m.mailFails
	}
	m.mails = append(m.mails, message)
	return nil
}

// mailed hands over the mails that were sent since the last time.
func (w *world) mailed() []ports.Message {
	w.mu.Lock()
	defer w.mu.Unlock()
	arrived := w.mails
	w.mails = nil
	return arrived
}

// failMail makes the mailer answer with an error, or work again.
func (w *world) failMail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mailFails = err
}

// ReceiptURL implements ports.ReceiptLinks.
func (w *world) ReceiptURL(checkoutID string) string {
	return "https://pay.example.com/r/of-" + checkoutID
}

// Owner implements ports.Owners.
func (w *world) Owner(context.Context, ports.Repos, string) (name, address string, err error) {
	return "Ada's Workshop", "ada@example.com", nil
}

// ChangedSince implements ports.AccessHistory.
func (w *world) ChangedSince(_ context.Context, _ ports.Repos, _, _ string, version int64) (int64, []string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var union []string
	for _, members := range w.changes[version:] {
		union = append(union, members...)
	}
	slices.Sort(union)
	return int64(len(w.changes)), slices.Compact(union), nil
}

// Buyer implements ports.CheckoutBuyers.
func (w *world) Buyer(context.Context, ports.Repos, string) (address, name string, err error) {
	return w.buyer, "Grace Hopper", nil
}

// ManageURL implements ports.AppointmentDesk.
func (w *world) ManageURL(appointmentID string) string {
	return "https://pay.example.com/a/of-" + appointmentID
}

// CalendarEntry implements ports.AppointmentDesk.
func (w *world) CalendarEntry(a appointment.State) ports.CalendarEntry {
	return ports.CalendarEntry{
		UID: a.ID + "@pay.example.com", Sequence: a.Sequence, Canceled: a.Status == appointment.StatusCanceled,
		StartsAt: a.StartsAt, EndsAt: a.EndsAt, StampedAt: w.Real(), Summary: a.Title,
	}
}

// CreatorZone implements ports.AppointmentDesk.
func (w *world) CreatorZone(context.Context, ports.Repos, string) (string, error) {
	return "Europe/Dublin", nil
}

// Latest implements ports.AppointmentDesk.
func (w *world) Latest(_ context.Context, _ ports.Repos, _, appointmentID string) (appointment.State, error) {
	a, there := w.appointments[appointmentID]
	if !there {
		return a, fault.NotFound("appointment")
	}
	return a, nil
}

func (w *world) atomically(fn func(ctx context.Context, r ports.Repos) error) {
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

// sell publishes a payment in a transaction of its own.
func (w *world) sell() {
	w.t.Helper()
	w.atomically(func(ctx context.Context, r ports.Repos) error { return w.notify.OnCheckoutPaid(ctx, r, paid()) })
}

// change publishes a new version of the customer's access.
func (w *world) change(members ...string) {
	w.t.Helper()
	w.mu.Lock()
	w.changes = append(w.changes, members)
	version, at := int64(len(w.changes)), w.now
	w.mu.Unlock()
	w.atomically(func(ctx context.Context, r ports.Repos) error {
		return w.notify.OnAccessChanged(ctx, r, access.Changed{
			CreatorID: creatorID, ExternalCustomerID: "auth0|a/b", Version: version, PreviousVersion: version - 1, Changed: members, At: at,
		})
	})
}

func (w *world) endpoint(host string, events ...string) webhook.EndpointState {
	w.t.Helper()
	url := "https://" + host + ".example.com/"
	made, _, err := w.notify.CreateEndpoint(w.t.Context(), creatorID, webhook.EndpointEdit{URL: &url, Events: &events})
	if err != nil {
		w.t.Fatal(err)
	}
	return made
}

func (w *world) enable(e webhook.EndpointState, on bool) {
	w.t.Helper()
	if _, err := w.notify.EditEndpoint(w.t.Context(), creatorID, e.ID, webhook.EndpointEdit{Enabled: &on}); err != nil {
		w.t.Fatal(err)
	}
}

// move gives an endpoint another address.
func (w *world) move(e webhook.EndpointState, url string) {
	w.t.Helper()
	if _, err := w.notify.EditEndpoint(w.t.Context(), creatorID, e.ID, webhook.EndpointEdit{URL: &url}); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) answer(e webhook.EndpointState, code int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answers[e.URL] = ports.OutboundAnswer{StatusCode: code}
}

// work runs every task that is due, as a worker would, and hands over what was sent meanwhile.
func (w *world) work() []sent {
	w.t.Helper()
	for range 100 {
		tasks, err := w.store.Claim(w.t.Context(), ports.OtherTasks, w.Real().Add(w.ahead), time.Minute, 10)
		if err != nil {
			w.t.Fatal(err)
		}
		if len(tasks) == 0 {
			return w.take()
		}
		for _, task := range tasks {
			if err := w.run(task); err != nil && !errors.Is(err, ports.ErrFenced) {
				w.t.Fatalf("task %s %s: %v", task.Kind, task.Subject, err)
			}
		}
	}
	w.t.Fatal("tasks never end")
	return nil
}

// take hands over what was sent since the last time.
func (w *world) take() []sent {
	w.mu.Lock()
	defer w.mu.Unlock()
	arrived := w.sent
	w.sent = nil
	return arrived
}

func (w *world) run(t ports.Task) error {
	switch t.Kind {
	case notify.TaskAnnounce:
		return w.notify.Announce(w.t.Context(), t)
	case notify.TaskDeliver:
		return w.notify.Deliver(w.t.Context(), t)
	case notify.TaskMail:
		return w.notify.SendMail(w.t.Context(), t)
	case notify.TaskRemind:
		return w.notify.Remind(w.t.Context(), t)
	}
	return fmt.Errorf("unknown task kind %s", t.Kind)
}

func (w *world) deliveries(e webhook.EndpointState) []notify.Delivered {
	w.t.Helper()
	found, err := w.notify.Deliveries(w.t.Context(), creatorID, e.ID, ports.Page{Limit: 100})
	if err != nil {
		w.t.Fatal(err)
	}
	return found.Items
}

// delivery is the endpoint's only one.
func (w *world) delivery(e webhook.EndpointState) notify.Delivered {
	w.t.Helper()
	all := w.deliveries(e)
	if len(all) != 1 {
		w.t.Fatalf("%d deliveries, want one", len(all))
	}
	return all[0]
}

func (w *world) stored(e webhook.EndpointState) webhook.EndpointState {
	w.t.Helper()
	found, err := w.notify.Endpoint(w.t.Context(), creatorID, e.ID)
	if err != nil {
		w.t.Fatal(err)
	}
	return found
}

// types of the account's events, oldest first.
func (w *world) types() []string {
	w.t.Helper()
	found, err := w.notify.Events(w.t.Context(), creatorID, ports.Page{Limit: 100})
	if err != nil {
		w.t.Fatal(err)
	}
	var all []string
	for _, e := range slices.Backward(found.Items) {
		all = append(all, string(e.Type))
	}
	return all
}

func sealedIn(sealed, plain []byte) bool {
	return !bytes.Contains(sealed, plain) && len(sealed) > len(plain)
}
