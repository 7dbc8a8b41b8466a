package dashboard

import (
	"cmp"
	"context"

	"sundry/adapters/web/dashboard/ui"
	"sundry/modules/customers"
	"sundry/ports"
)

// names maps the ids of the customers on a page to their names. The addresses of all of them come from one query.
type names struct {
	customers *customers.Service
	account   string
	emails    map[string]string // "" for a customer without one
}

func (r *Routes) names(v *visit) *names {
	return &names{customers: r.Customers, account: v.account(), emails: map[string]string{}}
}

// load reads the addresses of those customers that are not known yet.
func (n *names) load(ctx context.Context, customerIDs ...string) error {
	var unknown []string
	for _, id := range customerIDs {
		if _, known := n.emails[id]; id != "" && !known {
			n.emails[id] = ""
			unknown = append(unknown, id)
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	found, err := n.customers.List(
		ctx, ports.CustomerFilter{CreatorID: n.account, IDs: unknown}, ports.Page{Limit: len(unknown)},
	)
	for _, one := range found.Items {
		n.emails[one.ID] = one.Email
	}
	return err
}

// of returns a customer's name: their address, else their id in the creator's app, else our id.
func (n *names) of(customerID, externalID string) string {
	return cmp.Or(n.emails[customerID], externalID, customerID)
}

// cell links to a customer, if there is one.
func (n *names) cell(customerID, externalID string) ui.Cell {
	if customerID == "" {
		return ui.Text(orDash(externalID))
	}
	return ui.TextLink(n.of(customerID, externalID), base+"/customers/"+customerID)
}

// named is a list's read that also loads what the customers on each page are called.
func named[T any](
	n *names, customerOf func(T) string, read func(context.Context, ui.Query, ports.Page) (ports.List[T], error),
) func(context.Context, ui.Query, ports.Page) (ports.List[T], error) {
	return func(ctx context.Context, q ui.Query, page ports.Page) (ports.List[T], error) {
		some, err := read(ctx, q, page)
		if err != nil {
			return some, err
		}
		ids := make([]string, len(some.Items))
		for i, one := range some.Items {
			ids[i] = customerOf(one)
		}
		return some, n.load(ctx, ids...)
	}
}
