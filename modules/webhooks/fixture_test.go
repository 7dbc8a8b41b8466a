package webhooks_test

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

	"sundry/adapters/encrypter"
	"sundry/adapters/gormstore"
	"sundry/adapters/system"
	"sundry/core/access"
	"sundry/core/checkout"
	"sundry/core/invoice"
	"sundry/core/money"
	"sundry/core/plan"
	"sundry/core/secret"
	"sundry/core/webhook"
	"sundry/modules/webhooks"
	"sundry/ports"
	"sundry/tests/fakes"
	"sundry/tests/testdb"
)

const creatorID = "crt_01h00000000000000000000000"

// fixture is the module over a real store, with a clock to move and receivers with scripted responses.
type fixture struct {
	t        testing.TB
	store    *testdb.ClockedStore
	webhooks *webhooks.Service

	*testdb.Clock
	fakes.Bus
	mu        sync.Mutex
	meanwhile func()                            // happens once, while a receiver has the first message
	read      func()                            // happens once, right after a delivery was read to be sent
	ahead     time.Duration                     // of the account's clock, before real time; set before anything happens
	tick      time.Duration                     // moves the clock whenever the account's is read
	responses map[string]ports.OutboundResponse // by URL; 200 for the others
	sent      []sent
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

// forEachEngine runs the test on a fresh store of each engine.
func forEachEngine(t *testing.T, test func(t *testing.T, w *fixture)) {
	t.Helper()
	testdb.EachStore(t, func(t *testing.T, store *gormstore.Store) { test(t, newFixture(t, store)) }, byEndpoint)
}

// byEndpoint gives deliveries the concurrency key of their endpoint.
var byEndpoint = gormstore.TaskKeys(func(kind, subject, _ string) string {
	if kind == webhooks.TaskDeliver {
		return webhooks.ConcurrencyKey(subject)
	}
	return ""
})

func newFixture(t *testing.T, store *gormstore.Store) *fixture {
	w := &fixture{
		t: t, Clock: testdb.NewClock(time.Now().UTC().Truncate(time.Millisecond)),
		responses: map[string]ports.OutboundResponse{},
	}
	w.store = testdb.WithClock(store, w)
	secrets := encrypter.New(secret.Fixed(make([]byte, 32)))
	w.webhooks = webhooks.New(webhooks.Config{
		Invoices: invoice.Pages{Keys: secret.Fixed(make([]byte, 32))},
	}, webhooks.Deps{
		Store: w.store, Deliveries: readDeliveries{store, w}, Clock: w, IDs: system.NewIDs(), Bus: w, Sender: w,
		Encrypter: secrets, Standing: fakes.Standing{},
	})
	return w
}

// readDeliveries lets something happen after a delivery was read.
type readDeliveries struct {
	ports.DeliveryStore
	w *fixture
}

// GetDue implements ports.DeliveryStore.
func (r readDeliveries) GetDue(ctx context.Context, creatorID, deliveryID string) (ports.DueDelivery, error) {
	due, err := r.DeliveryStore.GetDue(ctx, creatorID, deliveryID)
	if read := r.w.read; read != nil {
		r.w.read = nil
		read()
	}
	return due, err
}

// Now implements ports.Clock.
func (w *fixture) Now(context.Context, string) (time.Time, error) {
	w.Advance(w.tick)
	return w.Real().Add(w.ahead), nil
}

// Send implements ports.Sender.
func (w *fixture) Send(_ context.Context, r ports.OutboundRequest) (ports.OutboundResponse, error) {
	if meanwhile := w.meanwhile; meanwhile != nil {
		w.meanwhile = nil
		meanwhile()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	one := sent{url: r.URL, id: r.Headers["webhook-id"], signature: r.Headers["webhook-signature"]}
	if err := json.Unmarshal(r.Body, &one.envelope); err != nil {
		return ports.OutboundResponse{}, err
	}
	w.sent = append(w.sent, one)
	response, scripted := w.responses[r.URL]
	if !scripted {
		return ports.OutboundResponse{StatusCode: 200}, nil
	}
	if response.StatusCode == 0 {
		return response, errors.New("the connection was refused")
	}
	return response, nil
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

// sell publishes a payment in a transaction of its own.
func (w *fixture) sell() {
	w.t.Helper()
	w.atomically(func(ctx context.Context, r ports.Repos) error { return w.webhooks.Publish(ctx, r, paid()) })
}

// change announces another version of the customer's access.
func (w *fixture) change() {
	w.t.Helper()
	w.atomically(func(ctx context.Context, r ports.Repos) error {
		return w.webhooks.Publish(ctx, r, access.Announced{
			CreatorID: creatorID, ExternalCustomerID: "auth0|a/b", Version: 2, PreviousVersion: 1,
			Changed: []string{"credits"},
		})
	})
}

func (w *fixture) endpoint(host string, events ...string) webhook.EndpointState {
	w.t.Helper()
	url := "https://" + host + ".example.com/"
	made, _, err := w.webhooks.CreateEndpoint(
		w.t.Context(), creatorID, webhook.EndpointEdit{URL: &url, Events: &events},
	)
	if err != nil {
		w.t.Fatal(err)
	}
	return made
}

func (w *fixture) enable(e webhook.EndpointState, on bool) {
	w.t.Helper()
	if _, err := w.webhooks.EditEndpoint(
		w.t.Context(), creatorID, e.ID, webhook.EndpointEdit{Enabled: &on},
	); err != nil {
		w.t.Fatal(err)
	}
}

// move gives an endpoint another address.
func (w *fixture) move(e webhook.EndpointState, url string) {
	w.t.Helper()
	if _, err := w.webhooks.EditEndpoint(w.t.Context(), creatorID, e.ID, webhook.EndpointEdit{URL: &url}); err != nil {
		w.t.Fatal(err)
	}
}

func (w *fixture) respond(e webhook.EndpointState, code int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.responses[e.URL] = ports.OutboundResponse{StatusCode: code}
}

// work runs every task that is due, as a worker would, and hands over what was sent meanwhile.
func (w *fixture) work() []sent {
	w.t.Helper()
	fakes.Work(w.t, w.store, w.Real(), w.run)
	return w.take()
}

// take hands over what was sent since the last time.
func (w *fixture) take() []sent {
	w.mu.Lock()
	defer w.mu.Unlock()
	arrived := w.sent
	w.sent = nil
	return arrived
}

func (w *fixture) run(t ports.Task) error {
	switch t.Kind {
	case webhooks.TaskDeliver:
		return w.webhooks.Deliver(w.t.Context(), t)
	case webhooks.TaskWake:
		return w.webhooks.Wake(w.t.Context(), t)
	}
	return fmt.Errorf("unknown task kind %s", t.Kind)
}

func (w *fixture) deliveries(e webhook.EndpointState) []webhooks.Delivered {
	w.t.Helper()
	found, err := w.webhooks.Deliveries(w.t.Context(), creatorID, e.ID, "", ports.Page{Limit: 100})
	if err != nil {
		w.t.Fatal(err)
	}
	return found.Items
}

// delivery is the endpoint's only one.
func (w *fixture) delivery(e webhook.EndpointState) webhooks.Delivered {
	w.t.Helper()
	all := w.deliveries(e)
	if len(all) != 1 {
		w.t.Fatalf("%d deliveries, want one", len(all))
	}
	return all[0]
}

func (w *fixture) stored(e webhook.EndpointState) webhook.EndpointState {
	w.t.Helper()
	found, err := w.webhooks.Endpoint(w.t.Context(), creatorID, e.ID)
	if err != nil {
		w.t.Fatal(err)
	}
	return found
}

// types of the account's events, oldest first.
func (w *fixture) types() []string {
	w.t.Helper()
	found, err := w.webhooks.Events(w.t.Context(), creatorID, ports.EventSearch{}, ports.Page{Limit: 100})
	if err != nil {
		w.t.Fatal(err)
	}
	var all []string
	for _, e := range slices.Backward(found.Items) {
		all = append(all, string(e.Type))
	}
	return all
}

func encryptedFrom(encrypted, plain []byte) bool {
	return !bytes.Contains(encrypted, plain) && len(encrypted) > len(plain)
}
