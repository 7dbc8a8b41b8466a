package dashboard

import (
	"cmp"
	"context"

	"sundry/modules/customers"
	"sundry/ports"
)

// names are how the customers on a page are called, by id: the addresses of all of them come from one query.
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
	found, err := n.customers.List(ctx, ports.CustomerFilter{CreatorID: n.account, IDs: unknown}, ports.Page{Limit: len(unknown)})
	for _, one := range found.Items {
		n.emails[one.ID] = one.Email
	}
	return err
}

// of is what a customer is called: their address, else what the creator's app calls them, else their id.
func (n *names) of(customerID, externalID string) string {
	return cmp.Or(n.emails[customerID], externalID, customerID)
}

// cell leads to a customer, where there is one.
func (n *names) cell(customerID, externalID string) cell {
	if customerID == "" {
		return text(orDash(externalID))
	}
	return to(n.of(customerID, externalID), base+"/customers/"+customerID)
}

// named is a list's read that also loads what the customers on each page are called.
func named[T any](n *names, customerOf func(T) string, read func(context.Context, query, ports.Page) (ports.List[T], error)) func(context.Context, query, ports.Page) (ports.List[T], error) {
	return func(ctx context.Context, q query, page ports.Page) (ports.List[T], error) {
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
