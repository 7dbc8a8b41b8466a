// Package invoicing collects money from customers: invoices pushed by integrators and invoices for metered usage. The
// saved card is charged as soon as an invoice is final, and again on a schedule if it is declined.
package invoicing

import (
	"context"

	"sundry/core/event"
	"sundry/core/fault"
	"sundry/core/identity"
	"sundry/core/invoice"
	"sundry/core/metadata"
	"sundry/ports"
)

// TaskRetry charges an invoice again; its subject is the invoice.
const TaskRetry = "invoice.retry"

// Config is the module's configuration.
type Config struct {
	Pages invoice.Pages
	// Live refuses invoices whose tax is not known.
	Live bool
	// Merchant is the seller of record, who charges the cards.
	Merchant string
}

// Deps holds the dependencies of the module.
type Deps struct {
	Store    ports.Store
	IDs      ports.IDs
	Bus      ports.Bus
	Charges  ports.Charges
	Runner   ports.ChargeRunner
	Accounts ports.AccountReader
	Taxes    ports.TaxCalculator
	Disputed ports.DisputedSubscriptions
	// Cards reads what the page's form sends.
	Cards ports.CardForm
	Tries ports.CardTries
}

// Service holds the use cases.
type Service struct {
	cfg  Config
	deps Deps
}

// New returns the module.
func New(cfg Config, d Deps) *Service { return &Service{cfg: cfg, deps: d} }

// linked fills in where the customer sees the invoice.
func (s *Service) linked(state invoice.State) invoice.State {
	state.Links = s.cfg.Pages.Links(state.ID)
	return state
}

// load reads an invoice of any account. NOT_FOUND.
func (s *Service) load(ctx context.Context, r ports.Repos, invoiceID string) (invoice.State, error) {
	state, err := r.Invoicing.Invoices.Get(ctx, invoiceID)
	return s.linked(state), ports.Missing(err, "invoice")
}

// Invoice loads an invoice of the account. NOT_FOUND.
func (s *Service) Invoice(ctx context.Context, creatorID, invoiceID string) (invoice.State, error) {
	return s.owned(ctx, s.deps.Store.Read(ctx), creatorID, invoiceID)
}

func (s *Service) owned(ctx context.Context, r ports.Repos, creatorID, invoiceID string) (invoice.State, error) {
	state, err := s.load(ctx, r, invoiceID)
	return ports.Visible(state, err, state.CreatorID == creatorID, "invoice")
}

// SetMetadata changes the account's own pairs of an invoice. NOT_FOUND, VALIDATION_FAILED.
func (s *Service) SetMetadata(
	ctx context.Context, creatorID, invoiceID string, change metadata.Change,
) (after invoice.State, err error) {
	err = s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		state, err := s.owned(ctx, r, creatorID, invoiceID)
		if err != nil {
			return err
		}
		inv := invoice.Restore(state)
		changed, err := inv.SetMetadata(change)
		if after = inv.State(); err != nil || !changed {
			return err
		}
		return r.Invoicing.Invoices.Update(ctx, after)
	})
	return after, err
}

// ByLink loads the invoice that a secret address shows. NOT_FOUND for one that we did not give out.
func (s *Service) ByLink(ctx context.Context, link string) (invoice.State, error) {
	invoiceID, ok := s.cfg.Pages.Verify(link)
	if !ok {
		return invoice.State{}, fault.NotFound("invoice")
	}
	return s.load(ctx, s.deps.Store.Read(ctx), invoiceID)
}

// Shop returns the name of the creator whose invoice it is.
func (s *Service) Shop(ctx context.Context, state invoice.State) (string, error) {
	return s.deps.Accounts.SellerName(ctx, s.deps.Store.Read(ctx), state.CreatorID)
}

// Invoices lists those of the account's invoices that a search is for.
func (s *Service) Invoices(
	ctx context.Context, creatorID string, search ports.InvoiceSearch, page ports.Page,
) (ports.List[invoice.State], error) {
	list, err := s.deps.Store.Read(ctx).Invoicing.Invoices.List(ctx, creatorID, search, page)
	for i := range list.Items {
		list.Items[i] = s.linked(list.Items[i])
	}
	return list, err
}

// publish publishes an invoice's events in their order.
func (s *Service) publish(ctx context.Context, r ports.Repos, events ...invoice.Event) error {
	all := make([]event.Event, len(events))
	for i, e := range events {
		all[i] = e
	}
	return s.deps.Bus.Publish(ctx, r, all...)
}

// audit records what was decided about an invoice, with its number and total.
func (s *Service) audit(
	ctx context.Context, r ports.Repos, kind identity.AccountEventKind, state invoice.State,
) error {
	return ports.PublishAudited(ctx, r, s.deps.Bus, identity.Audited{
		CreatorID: state.CreatorID, Kind: kind, ObjectID: state.ID,
		Note: state.Number + ", " + state.Total.Coded(),
	})
}
