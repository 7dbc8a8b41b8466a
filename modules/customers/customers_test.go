package customers_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"sundry/adapters/gormstore"
	"sundry/adapters/system"
	"sundry/core/checkout"
	"sundry/core/customer"
	"sundry/core/event"
	"sundry/core/fault"
	"sundry/core/money"
	"sundry/core/payment"
	"sundry/core/secret"
	"sundry/modules/customers"
	"sundry/ports"
	"sundry/tests/fakes"
	"sundry/tests/testdb"
)

const creatorID = "crt_01h00000000000000000000000"

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// fixture is the module over a real store, with a stopped clock.
type fixture struct {
	t     *testing.T
	store *testdb.ClockedStore
	*testdb.Clock
	bus *fakes.Bus
	*customers.Service
}

func forEachEngine(t *testing.T, test func(t *testing.T, w *fixture)) {
	t.Helper()
	testdb.EachStore(t, func(t *testing.T, store *gormstore.Store) {
		w := &fixture{t: t, Clock: testdb.NewClock(noon), bus: &fakes.Bus{}}
		w.store = testdb.WithClock(store, w.Clock)
		w.Service = customers.New(
			customers.Config{BaseURL: "https://pay.example.com", PortalKeys: customer.PortalKeys(secret.Fixed(make([]byte, 32)))},
			customers.Deps{Store: w.store, Clock: w.Clock, IDs: system.NewIDs(), Bus: w.bus, Accounts: fakes.Ada})
		test(t, w)
	})
}

func (w *fixture) published() []event.Event { return fakes.Published[event.Event](w.bus) }

func (w *fixture) create(d customer.Draft) customer.State {
	w.t.Helper()
	made, err := w.Create(w.t.Context(), creatorID, d)
	if err != nil {
		w.t.Fatal(err)
	}
	return made
}

func refused(t *testing.T, err error, code fault.Code) {
	t.Helper()
	if !fault.Is(err, code) {
		t.Errorf("%v, want %s", err, code)
	}
}

func TestAnExternalIDIsOneCustomersWithinAnAccount(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		draft := customer.Draft{Email: "ada@example.com", ExternalCustomerID: "ada"}
		made := w.create(draft)
		if !made.CreatedAt.Equal(noon) || made.CreatorID != creatorID {
			t.Errorf("%+v", made)
		}
		_, err := w.Create(t.Context(), creatorID, draft)
		refused(t, err, fault.StateConflict)
		if _, err := w.Create(t.Context(), "crt_other", draft); err != nil {
			t.Errorf("another account: %v", err)
		}
		second := w.create(customer.Draft{Email: "ada@example.com"}) // an address is never unique
		_, err = w.Update(t.Context(), creatorID, second.ID, customer.Patch{ExternalCustomerID: new("ada")})
		refused(t, err, fault.StateConflict)
		_, err = w.Create(t.Context(), creatorID, customer.Draft{Email: "nobody"})
		refused(t, err, fault.ValidationFailed)
	})
}

func TestACustomerIsFoundByEitherIDWithinTheAccount(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		made := w.create(customer.Draft{Email: "ada@example.com", ExternalCustomerID: "ada"})
		for name, c := range map[string]struct {
			creator, id, external string
			found                 bool
		}{
			"by id":                      {creatorID, made.ID, "", true},
			"by external id":             {creatorID, "", "ada", true},
			"by another's id":            {"crt_other", made.ID, "", false},
			"by another's external id":   {"crt_other", "", "ada", false},
			"by an unknown id":           {creatorID, "cus_unknown", "", false},
			"by an unknown external id":  {creatorID, "", "grace", false},
			"the id goes before another": {creatorID, made.ID, "grace", true},
		} {
			got, err := w.Find(t.Context(), c.creator, c.id, c.external)
			if c.found != (err == nil) || c.found && got.ID != made.ID || !c.found && !fault.Is(err, fault.CustomerNotFound) {
				t.Errorf("%s: %+v, %v", name, got, err)
			}
		}
		_, err := w.Update(t.Context(), "crt_other", made.ID, customer.Patch{DisplayName: new("Eve")})
		refused(t, err, fault.CustomerNotFound)
		list, err := w.List(
			t.Context(), ports.CustomerFilter{CreatorID: creatorID, Email: "ada@example.com"}, ports.Page{Limit: 10},
		)
		if err != nil || len(list.Items) != 1 {
			t.Errorf("%+v, %v", list, err)
		}
		if known, err := w.Customer(
			t.Context(), w.store.Read(t.Context()), made.ID,
		); err != nil || known.ID != made.ID {
			t.Errorf("%+v, %v", known, err)
		}
		_, err = w.Customer(t.Context(), w.store.Read(t.Context()), "cus_unknown")
		refused(t, err, fault.CustomerNotFound)
	})
}

func TestOnlyANewNameOfTheirAccessIsAnnounced(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		made := w.create(customer.Draft{Email: "ada@example.com"})
		w.Advance(time.Hour)
		for _, c := range []struct {
			patch     customer.Patch
			revision  int64
			announced int
		}{
			{customer.Patch{DisplayName: new("Ada")}, 2, 0},
			{customer.Patch{DisplayName: new("Ada")}, 2, 0},
			{customer.Patch{ExternalCustomerID: new("ada")}, 3, 1},
			{customer.Patch{ExternalCustomerID: new("ada")}, 3, 1},
		} {
			got, err := w.Update(t.Context(), creatorID, made.ID, c.patch)
			if err != nil || got.Revision != c.revision || len(w.published()) != c.announced {
				t.Errorf("%+v, %v, %d events", got, err, len(w.published()))
			}
		}
		renamed := w.published()[0].(customer.Renamed)
		if renamed.From != made.ID || renamed.To != "ada" || !renamed.UpdatedAt.Equal(noon.Add(time.Hour)) {
			t.Errorf("%+v", renamed)
		}
		if stored, err := w.Get(
			t.Context(), creatorID, made.ID,
		); err != nil || stored.DisplayName != "Ada" || stored.ExternalCustomerID != "ada" {
			t.Errorf("%+v, %v", stored, err)
		}
	})
}

func TestACheckoutTellsWhereTheCustomerIsTaxed(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		made := w.create(customer.Draft{Email: "ada@example.com"})
		paid := checkout.Paid{
			CustomerID: made.ID, Email: "other@example.com",
			Buyer: customer.Details{Name: "Ada", Address: customer.Address{Country: "DE"}},
			At:    noon.Add(time.Hour),
		}
		for range 2 {
			if err := w.store.Atomically(
				t.Context(), func(ctx context.Context, r ports.Repos) error { return w.OnCheckoutPaid(ctx, r, paid) },
			); err != nil {
				t.Fatal(err)
			}
		}
		got, err := w.Get(t.Context(), creatorID, made.ID)
		if err != nil || got.Details.Country != "DE" || got.Email != "ada@example.com" || got.DisplayName != "Ada" ||
			got.Revision != 2 {
			t.Errorf("%+v, %v", got, err)
		}
		paid.CustomerID = "cus_unknown"
		if err := w.OnCheckoutPaid(t.Context(), w.store.Read(t.Context()), paid); err == nil {
			t.Error("a sale to nobody")
		}
	})
}

func TestARequestForAPortalNamesOneCustomerAndAReturn(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		for name, c := range map[string]struct {
			request customers.PortalRequest
			ok      bool
		}{
			"by id": {customers.PortalRequest{CustomerID: "cus_1", ReturnURL: "https://shop.example"}, true},
			"by external id": {
				customers.PortalRequest{ExternalCustomerID: "ada", ReturnURL: "https://shop.example"}, true,
			},
			"both": {
				customers.PortalRequest{
					CustomerID: "cus_1", ExternalCustomerID: "ada", ReturnURL: "https://shop.example",
				},
				false,
			},
			"nobody":       {customers.PortalRequest{ReturnURL: "https://shop.example"}, false},
			"no return":    {customers.PortalRequest{CustomerID: "cus_1"}, false},
			"a bad return": {customers.PortalRequest{CustomerID: "cus_1", ReturnURL: "javascript:alert(1)"}, false},
		} {
			if err := w.CheckPortal(c.request); c.ok != (err == nil) || !c.ok && !fault.Is(err, fault.ValidationFailed) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

// tokenOf is the last part of a link.
func tokenOf(address string) string { return address[strings.LastIndexByte(address, '/')+1:] }

func TestAPortalLinkOpensOneCustomersPagesForItsTime(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		made := w.create(customer.Draft{Email: "ada@example.com", ExternalCustomerID: "ada"})
		request := customers.PortalRequest{ExternalCustomerID: "ada", ReturnURL: "https://shop.example"}
		_, _, err := w.OpenPortal(t.Context(), "crt_other", request)
		refused(t, err, fault.CustomerNotFound)
		address, link, err := w.OpenPortal(t.Context(), creatorID, request)
		if err != nil || !strings.HasPrefix(address, "https://pay.example.com/p/") ||
			link.ExpiresAt != noon.Add(24*time.Hour).Unix() {
			t.Fatalf("%s, %+v, %v", address, link, err)
		}
		mailed, err := w.PortalURL(made.ID)
		if err != nil {
			t.Fatal(err)
		}
		_, err = w.Visit(t.Context(), tokenOf(address)+"x")
		refused(t, err, fault.NotFoundCode)
		expired := func(address string) bool {
			visit, err := w.Visit(t.Context(), tokenOf(address))
			if err != nil || visit.Customer.ID != made.ID || visit.Seller.Name != "Ada" {
				t.Fatalf("%+v, %v", visit, err)
			}
			return visit.Expired
		}
		if visit, err := w.Visit(
			t.Context(), tokenOf(address),
		); err != nil || visit.ReturnURL != "https://shop.example" {
			t.Errorf("%+v, %v", visit, err)
		}
		w.Advance(24*time.Hour - time.Second)
		if expired(address) {
			t.Error("expired within the day")
		}
		w.Advance(time.Second)
		if !expired(address) || expired(mailed) {
			t.Error("a link of the integrator lasts a day, one in a mail a month")
		}
		w.Advance(29 * 24 * time.Hour)
		if !expired(mailed) {
			t.Error("a mailed link lasts for ever")
		}
		gone, err := w.PortalURL("cus_unknown")
		if err != nil {
			t.Fatal(err)
		}
		_, err = w.Visit(t.Context(), tokenOf(gone))
		refused(t, err, fault.NotFoundCode)
	})
}

func TestAnExpiredLinkIsGoodForANewOneByMail(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		silent := w.create(customer.Draft{Email: "ada@example.com"})
		address, err := w.PortalURL(silent.ID)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.MailLink(t.Context(), tokenOf(address)); err != nil {
			t.Fatal(err)
		}
		if asked := w.published()[0].(customer.LinkAsked); asked.ID != silent.ID || !asked.At.Equal(noon) {
			t.Errorf("%+v", asked)
		}
		refused(t, w.MailLink(t.Context(), "x"), fault.NotFoundCode)
		nameless := customer.State{ID: "cus_2", CreatorID: creatorID, CreatedAt: noon, UpdatedAt: noon, Revision: 1}
		if err := w.store.Atomically(
			t.Context(),
			func(ctx context.Context, r ports.Repos) error { return r.Customers.Customers.Insert(ctx, nameless) },
		); err != nil {
			t.Fatal(err)
		}
		if address, err = w.PortalURL("cus_2"); err != nil {
			t.Fatal(err)
		}
		refused(t, w.MailLink(t.Context(), tokenOf(address)), fault.StateConflict)
	})
}

func TestALinkThatOthersMaySeeIsNoKey(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		made := w.create(customer.Draft{Email: "ada@example.com"})
		address, err := w.AskURL(made.ID)
		if err != nil {
			t.Fatal(err)
		}
		if visit, err := w.Visit(
			t.Context(), tokenOf(address),
		); err != nil || !visit.Expired || !visit.Asked || visit.Customer.ID != made.ID {
			t.Errorf("%+v, %v", visit, err)
		}
		key, err := w.PortalURL(made.ID)
		if err != nil {
			t.Fatal(err)
		}
		if visit, err := w.Visit(t.Context(), tokenOf(key)); err != nil || visit.Expired || visit.Asked {
			t.Errorf("%+v, %v", visit, err)
		}
	})
}

func TestACustomerSeesTheirOwnPaymentsOnly(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		insert := func(id, customerID string, o payment.Status) {
			p := payment.NewPending(payment.Intent{
				ID: id, CreatorID: creatorID, Amount: money.Amount{Minor: 500, Currency: "eur"},
				Subject: payment.Subject{Purpose: payment.ForCheckout, SubjectID: "cs_" + id, CustomerID: customerID},
			}, noon)
			if _, err := p.Apply(payment.Outcome{Status: o}, noon); err != nil {
				t.Fatal(err)
			}
			if err := w.store.Atomically(
				t.Context(),
				func(ctx context.Context, r ports.Repos) error { return r.Payments.Payments.Insert(ctx, p.State()) },
			); err != nil {
				t.Fatal(err)
			}
		}
		insert("pay_1", "cus_1", payment.Succeeded)
		insert("pay_2", "cus_1", payment.Declined)
		insert("pay_3", "cus_2", payment.Succeeded)
		if all, err := w.Payments(t.Context(), "cus_1"); err != nil || len(all) != 1 || all[0].ID != "pay_1" {
			t.Errorf("%+v, %v", all, err)
		}
		for id, found := range map[string]bool{"pay_1": true, "pay_2": false, "pay_3": false, "pay_4": false} {
			if _, err := w.Payment(t.Context(), "cus_1", id); found != (err == nil) || !found &&
				!fault.Is(err, fault.NotFoundCode) {
				t.Errorf("%s: %v", id, err)
			}
		}
	})
}
