package bootstrap

import (
	"context"

	"sundry/adapters/httpapi"
	"sundry/config"
	"sundry/ports"
)

// wire builds the areas, each in a file of its own: a module after those that it queries.
func (a *App) wire() error {
	for _, area := range []func() error{
		a.wireIdentity, a.wireIdempotency, a.wireRequestLog, a.wireImages, a.wireCatalog, a.wireBooking, a.wireUsage, a.wireAccess, a.wireTreasury, a.wireCustomers,
		a.wireCheckout, a.wirePayments, a.wireCancellations, a.wireSubscriptions, a.wireInvoicing, a.wireWebhooks, a.wireMail, a.wireTasks, a.wireSandbox,
	} {
		if err := area(); err != nil {
			return err
		}
	}
	return a.mountHTTP()
}

// apiAreas is what each area contributes to the API: its routes and its part of the OpenAPI document.
func (a *App) apiAreas() []httpapi.Area {
	return []httpapi.Area{
		a.identityAPI(), a.catalogAPI(), a.bookingAPI(), a.checkoutAPI(), a.paymentsAPI(), a.accessAPI(), a.customersAPI(),
		a.subscriptionsAPI(), a.usageAPI(), a.invoicingAPI(), a.treasuryAPI(), a.webhooksAPI(), a.tasksAPI(), a.sandboxAPI(),
	}
}

// API is the whole API with nothing behind it: its route table and its document, for tests and tools.
func API(environment config.Environment) (*httpapi.Server, error) {
	a := &App{cfg: config.Config{Environment: environment}}
	return httpapi.New(httpapi.Deps{Sandbox: a.inSandbox()}, a.apiAreas()...)
}

// verifier checks an area's invariants: all of them over all history, and often what is recent.
type verifier struct {
	all, recent func(context.Context) ([]string, error)
}

// verify adds an area's check of its invariants.
func (a *App) verify(check func(context.Context) ([]string, error)) { a.verifyInParts(check, check) }

// verifyInParts adds a check whose cost grows with the history, and one that covers what is recent.
func (a *App) verifyInParts(all, recent func(context.Context) ([]string, error)) {
	a.verifiers = append(a.verifiers, verifier{all, recent})
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
