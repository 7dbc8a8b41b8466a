// Package imports carries over what a payment provider sells and bills by itself: products, customers, saved cards and
// running subscriptions. Each object is carried over in a transaction that also notes its id at the provider, so an
// import that was interrupted goes on when it is run again.
package imports

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sundry/core/fault"
	"sundry/core/imports"
	"sundry/ports"
)

// Deps holds the dependencies of the module.
type Deps struct {
	Store         ports.Store
	IDs           ports.IDs
	Providers     ports.Providers
	Catalog       ports.ListingImporter
	Customers     ports.CustomerImporter
	Cards         ports.CardImporter
	Subscriptions ports.SubscriptionImporter
}

// Service holds the use case.
type Service struct {
	deps Deps
}

// New returns the module.
func New(d Deps) *Service { return &Service{deps: d} }

// Options select what an import does.
type Options struct {
	// Provider is the name of the payment provider whose billing is read.
	Provider string
	// DryRun finds out what would be carried over, and writes nothing.
	DryRun bool
	// TakeOver carries subscriptions over, and ends them at the provider with their current periods: nobody is charged by
	// both. Without it, subscriptions are only counted.
	TakeOver bool
	// ExternalID names the pair of customers' metadata that is the integrator's own id.
	ExternalID string
}

// Note reports an object that is not carried over, or a part of it that is not.
type Note struct {
	Kind     imports.Kind
	SourceID string
	Text     string
}

// Count counts the objects of a kind: carried over by this run, or before it, waiting for TakeOver, and refused.
type Count struct{ Carried, Before, Waiting, Refused int }

// Summary has every kind.
type Summary map[imports.Kind]*Count

// ErrNoBilling means that the provider is not registered, or brings nothing to import.
var ErrNoBilling = errors.New("the payment provider is not configured here, or has no billing of its own")

// Run imports all that the provider lists into an account. report gets a note for each object that is not carried over,
// or not all of it. What the use cases refuse is a note; any other error ends the run.
func (s *Service) Run(
	ctx context.Context, creatorID string, o Options, report func(Note) error,
) (Summary, error) {
	provider, err := s.deps.Providers.Get(o.Provider)
	if err != nil || provider.Billing == nil {
		return nil, ErrNoBilling
	}
	now, err := s.deps.Store.Read(ctx).Clock.Now(ctx, creatorID)
	if err != nil {
		return nil, err
	}
	run := &run{
		Service: s, creatorID: creatorID, options: o, source: provider.Billing, report: report, now: now,
		summary: Summary{}, sold: map[string]bool{}, subscribers: map[string]*subscriber{}, prices: map[string]agreed{},
	}
	for _, kind := range imports.Kinds() {
		run.summary[kind] = &Count{}
	}
	for _, stage := range []func(context.Context) error{run.scan, run.products, run.customers, run.subscriptions} {
		if err := stage(ctx); err != nil {
			return run.summary, err
		}
	}
	return run.summary, nil
}

// run is one import.
type run struct {
	*Service
	creatorID string
	options   Options
	source    ports.BillingSource
	report    func(Note) error
	now       time.Time
	summary   Summary
	// sold has the products that running subscriptions are to.
	sold map[string]bool
	// subscribers has the customers with running subscriptions.
	subscribers map[string]*subscriber
	// prices has the prices of the products that were read, by their ids.
	prices map[string]agreed
}

// subscriber is a customer with a running subscription.
type subscriber struct{ carried, hasCard bool }

// agreed is a price of a product. listingID is empty while the product was not carried over.
type agreed struct {
	imports.Price
	carried   bool
	listingID string
}

// scan notes to what running subscriptions are, and whose they are.
func (r *run) scan(ctx context.Context) error {
	return eachPage(ctx, r.source.ListSubscriptions, func(page []imports.Subscription) error {
		for _, one := range page {
			r.sold[one.ProductID] = true
			r.subscribers[one.CustomerID] = &subscriber{}
		}
		return nil
	})
}

// eachPage reads a list of the provider to its end.
func eachPage[T any](
	ctx context.Context, list func(ctx context.Context, after string) (ports.SourcePage[T], error),
	do func(page []T) error,
) error {
	for after := ""; ; {
		page, err := list(ctx, after)
		if err != nil {
			return err
		}
		if err := do(page.Items); err != nil {
			return err
		}
		if after = page.Next; after == "" {
			return nil
		}
	}
}

// eachOf carries the objects of a list over one by one; before is as what one goes on already, "" when it does not.
func eachOf[T any](
	ctx context.Context, r *run, list func(ctx context.Context, after string) (ports.SourcePage[T], error),
	id func(T) string, carry func(one T, before string) error,
) error {
	return eachPage(ctx, list, func(page []T) error {
		ids := make([]string, len(page))
		for i, one := range page {
			ids[i] = id(one)
		}
		known, err := r.known(ctx, ids...)
		if err != nil {
			return err
		}
		for _, one := range page {
			if err := carry(one, known[id(one)]); err != nil {
				return err
			}
		}
		return nil
	})
}

// refuse notes why an object is not carried over.
func (r *run) refuse(kind imports.Kind, sourceID, why string) error {
	r.summary[kind].Refused++
	return r.note(kind, sourceID, why)
}

func (r *run) note(kind imports.Kind, sourceID, text string) error {
	return r.report(Note{Kind: kind, SourceID: sourceID, Text: text})
}

// refused notes what a use case refused. Any other error is returned.
func (r *run) refused(kind imports.Kind, sourceID string, err error) error {
	var known *fault.Error
	if !errors.As(err, &known) || known.Code == fault.Internal {
		return fmt.Errorf("%s %s: %w", kind, sourceID, err)
	}
	return r.refuse(kind, sourceID, known.First())
}

// known returns what was imported before of the objects with these ids.
func (r *run) known(ctx context.Context, sourceIDs ...string) (map[string]string, error) {
	return r.deps.Store.Read(ctx).Imports.Find(ctx, r.creatorID, r.options.Provider, sourceIDs)
}

// remember notes, in the caller's transaction, as what an object goes on.
func (r *run) remember(ctx context.Context, repos ports.Repos, sourceID, objectID string) error {
	return repos.Imports.Insert(ctx, ports.ImportedObject{
		CreatorID: r.creatorID, Source: r.options.Provider, SourceID: sourceID, ObjectID: objectID, CreatedAt: r.now,
	})
}
