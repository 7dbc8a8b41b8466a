package bootstrap

import (
	"context"

	"sundry/adapters/httpapi"
	"sundry/config"
	"sundry/modules/booking"
	"sundry/modules/catalog"
	"sundry/modules/imports"
	"sundry/modules/payments"
	"sundry/ports"
)

// wire builds the areas, each in a file of its own: a module after those that it queries. Events reach their
// subscribers in this order, too: that of an occasion is among the webhook events before those of what follows from it.
func (a *App) wire() modules {
	a.standing = a.wireOperator()
	cells := a.wireDirectory()
	accounts := a.wireIdentity(cells)
	responses, hooks := a.wireIdempotency(), a.wireWebhooks()
	requests, pictures, offers := a.wireRequestLog(), a.wireImages(), a.wireCatalog(cells)
	bookings := a.wireBooking(accounts, offers)
	meters, buyers := a.wireUsage(), a.wireCustomers(accounts)
	grants := a.wireAccess(offers, meters, buyers)
	ledger := a.wireTreasury(accounts)
	sales := a.wireSales(offers, bookings, grants)
	attempts := a.wireAttempts(accounts, buyers, grants, sales)
	sessions := a.wireCheckout(accounts, offers, bookings, grants, sales, attempts, buyers)
	cards := a.wirePayments(accounts, buyers)
	renewals := a.wireSubscriptions(offers, buyers, cards, grants, attempts)
	documents := a.wireDocuments(accounts, ledger)
	invoices := a.wireInvoicing(accounts, attempts, cards)
	mails, uploads := a.wireMail(accounts, bookings, buyers, sessions), a.wireFiles(grants)
	refunds, disputes, inbox := a.wireReturns(cards, ledger, sessions, buyers, disputeParts{
		Sources: []ports.EvidenceSource{sessions, buyers, documents, grants, uploads, bookings, mails},
		Files:   uploads, Documents: documents,
	})
	transfer := catalog.NewTransfer(offers, ports.CatalogParts{
		Usage: meters, Availability: bookings, Endpoints: hooks, Branding: accounts,
	})
	return modules{
		Directory: cells, Identity: accounts, Catalog: offers, Booking: bookings, CatalogFiles: transfer,
		Imports: imports.New(imports.Deps{
			Store: a.store, IDs: a.ids, Providers: a.providers, Catalog: transfer, Customers: buyers, Cards: cards,
			Subscriptions: renewals,
		}), Cancellations: booking.NewCancellations(bookings, refunds),
		Checkout: sessions, Access: grants, Webhooks: hooks, Idempotency: responses, Requests: requests, Images: pictures,
		Files:     uploads,
		TaskAdmin: a.wireTasks(), Sandbox: a.wireSandbox(meters.Flush, attempts.ReconcileSoon),
		Treasury: ledger, Customers: buyers, Payments: cards, Attempts: attempts, Subscriptions: renewals, Refunds: refunds,
		Disputes: disputes, Inbox: inbox,
		Usage: meters, Invoicing: invoices, Documents: documents, Operator: a.standing,
		Reconciliation: payments.NewReconciliation(payments.ReconciliationDeps{
			Store: a.store, Providers: a.providers, Attempts: attempts, Refunds: refunds, Checkouts: sessions,
			Accounts: accounts, Payouts: ledger,
		}),
	}
}

// apiAreas lists what each area contributes to the API: its routes and its part of the OpenAPI document.
func (a *App) apiAreas(m modules) []httpapi.Area {
	return []httpapi.Area{
		a.identityAPI(m), a.catalogAPI(m), a.bookingAPI(m), a.checkoutAPI(m), a.paymentsAPI(m), a.accessAPI(m),
		a.customersAPI(m), a.subscriptionsAPI(m), a.usageAPI(m), a.invoicingAPI(m), a.treasuryAPI(m), a.webhooksAPI(m),
		a.tasksAPI(m), a.sandboxAPI(m),
	}
}

// API returns the whole API with nothing behind it: its route table and its document, for tests and tools.
func API(environment config.Environment) *httpapi.Server {
	a := &App{cfg: config.Config{Environment: environment}}
	return httpapi.New(httpapi.Deps{Live: a.live()}, a.apiAreas(modules{})...)
}

// verifier checks an area's invariants: all of them over all history, and often what is recent.
type verifier struct {
	area        string
	all, recent checker
}

// checker returns one line per violation.
type checker func(ctx context.Context) ([]string, error)

// verify adds an area's check of its invariants.
func (a *App) verify(area string, check checker) { a.verifyInParts(area, check, check) }

// verifyInParts adds a check whose cost grows with the history, and one that covers what is recent.
func (a *App) verifyInParts(area string, all, recent checker) {
	a.verifiers = append(a.verifiers, verifier{area, all, recent})
}

// maintain adds a periodic task of the platform's own. It schedules itself again when it has run.
func (a *App) maintain(kind string) { a.maintenance = append(a.maintenance, kind) }

// scheduleMaintenance makes sure that the platform's own periodic tasks are waiting.
func (a *App) scheduleMaintenance(ctx context.Context) error {
	return a.store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		for _, kind := range a.maintenance {
			if err := r.Tasks.Ensure(ctx, kind, "platform", "", a.clock.Real()); err != nil {
				return err
			}
		}
		return nil
	})
}
