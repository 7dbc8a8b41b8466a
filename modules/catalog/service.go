// Package catalog holds the use cases of what creators sell: listings, their variants and plans, the recipe that
// integrators read, payment links, and the offers that checkout loads.
package catalog

import "sundry/ports"

// Service is the module.
type Service struct{ deps Deps }

var (
	_ ports.Offers       = (*Service)(nil)
	_ ports.AgreedOffers = (*Service)(nil)
	_ ports.PlanTerms    = (*Service)(nil)
)

// Deps holds the dependencies of the module.
type Deps struct {
	Store    ports.Store
	Clock    ports.Clock
	IDs      ports.IDs
	Standing ports.AccountStanding
	Bus      ports.Bus
	// Names keeps slugs unique over all cells.
	Names ports.UniqueNames
	// Sandbox allows redirect URLs with plain http on localhost.
	Sandbox bool
}

// New returns the module.
func New(d Deps) *Service { return &Service{deps: d} }
