package imports

import (
	"context"
	"strings"

	"sundry/core/customer"
	"sundry/core/fault"
	"sundry/core/imports"
	"sundry/ports"
)

// customers carries all customers over, each with the card that is charged by default.
func (r *run) customers(ctx context.Context) error {
	return eachOf(ctx, r, r.source.ListCustomers, func(c imports.Customer) string { return c.ID },
		func(c imports.Customer, before string) error { return r.customer(ctx, c, before != "") })
}

func (r *run) customer(ctx context.Context, c imports.Customer, before bool) error {
	usable := c.Card != nil && c.Card.Obstacle == ""
	if s := r.subscribers[c.ID]; s != nil {
		s.carried, s.hasCard = true, usable
	}
	if before {
		r.summary[imports.Customers].Before++
		if usable {
			r.summary[imports.Cards].Before++
		}
		return nil
	}
	draft, dropped := c.Draft(r.options.ExternalID)
	if err := r.createCustomer(ctx, c, draft); err != nil {
		if s := r.subscribers[c.ID]; s != nil {
			s.carried = false
		}
		return r.refused(imports.Customers, c.ID, err)
	}
	r.summary[imports.Customers].Carried++
	if len(dropped) > 0 {
		if err := r.note(imports.Customers, c.ID, "Without: "+strings.Join(dropped, ", ")+"."); err != nil {
			return err
		}
	}
	switch {
	case usable:
		r.summary[imports.Cards].Carried++
	case c.Card != nil:
		return r.refuse(imports.Cards, c.Card.ID, c.Card.Obstacle)
	}
	return nil
}

// createCustomer makes the customer with their card. One who has the external id already is the same person.
func (r *run) createCustomer(ctx context.Context, c imports.Customer, draft customer.Draft) error {
	if err := draft.Check(); err != nil || r.options.DryRun {
		return err
	}
	return r.deps.Store.Atomically(ctx, func(ctx context.Context, repos ports.Repos) error {
		made, err := r.deps.Customers.Find(ctx, r.creatorID, "", draft.ExternalCustomerID)
		if fault.Is(err, fault.CustomerNotFound) {
			made, err = r.deps.Customers.Create(ctx, r.creatorID, draft)
		}
		if err != nil {
			return err
		}
		if err := r.remember(ctx, repos, c.ID, made.ID); err != nil || c.Card == nil || c.Card.Obstacle != "" {
			return err
		}
		cardID, err := r.card(ctx, repos, made.ID, *c.Card)
		if err != nil {
			return err
		}
		return r.remember(ctx, repos, defaultCardOf(c.ID), cardID)
	})
}

// defaultCardOf names the card among imported objects that is charged for a customer by default.
func defaultCardOf(customerID string) string { return customerID + ":card" }

// card saves a card, in the caller's transaction, that may have been saved before.
func (r *run) card(ctx context.Context, repos ports.Repos, customerID string, c imports.Card) (string, error) {
	known, err := repos.Imports.Find(ctx, r.creatorID, r.options.Provider, []string{c.ID})
	if err != nil || known[c.ID] != "" {
		return known[c.ID], err
	}
	saved, err := r.deps.Cards.ImportCard(ctx, repos, r.creatorID, customerID, c.Card, c.SavedAt)
	if err != nil {
		return "", err
	}
	return saved.ID, r.remember(ctx, repos, c.ID, saved.ID)
}
