package contract

import (
	"context"
	"strings"
	"testing"

	"sundry/core/customer"
	"sundry/ports"
)

func customerCases() storeCases {
	return storeCases{
		"an external id is one customer's":             anExternalIDIsOneCustomers,
		"many requests make one customer":              manyRequestsMakeOneCustomer,
		"customers are found by address, name and ids": customersAreFound,
		"customers are found by parts of their names":  customersAreFoundByParts,
	}
}

func anExternalIDIsOneCustomers(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	insert := func(c customer.State) error {
		return store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
			return r.Customers.Customers.Insert(ctx, c)
		})
	}
	first, second := customerState("1", creator), customerState("2", creator)
	elsewhere, nameless, another := customerState("3", "crt_2"), customerState("4", creator), customerState("5", creator)
	elsewhere.ExternalCustomerID, nameless.ExternalCustomerID, another.ExternalCustomerID = first.ExternalCustomerID, "",
		""
	for _, c := range []customer.State{first, second, elsewhere, nameless, another} {
		if err := insert(c); err != nil {
			t.Fatalf("%s: %v", c.ID, err)
		}
	}
	taken := customerState("6", creator)
	taken.ExternalCustomerID = first.ExternalCustomerID
	wantIndex(t, insert(taken), "customers_creator_id_external_customer_id")
	renamed := second
	renamed.ExternalCustomerID, renamed.Revision = first.ExternalCustomerID, 2
	err := store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
		return r.Customers.Customers.Update(ctx, renamed)
	})
	wantIndex(t, err, "customers_creator_id_external_customer_id")
	customers := store.Read(t.Context()).Customers.Customers
	if got, err := customers.Get(t.Context(), second.ID); err != nil || got != second {
		t.Errorf("after a refused change: %+v, %v", got, err)
	}
	if got, err := customers.GetByExternalID(t.Context(), "crt_2", first.ExternalCustomerID); err != nil ||
		got != elsewhere {
		t.Errorf("another account's: %+v, %v", got, err)
	}
	_, err = customers.GetByExternalID(t.Context(), "crt_2", second.ExternalCustomerID)
	wantError(t, "another account's external id", err, ports.ErrNotFound)
	_, err = customers.GetByExternalID(t.Context(), creator, "user-unknown")
	wantError(t, "an unknown external id", err, ports.ErrNotFound)
}

func manyRequestsMakeOneCustomer(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	const rivals = 8
	results := make(chan string, rivals)
	for _, id := range []string{"1", "2", "3", "4", "5", "6", "7", "8"} {
		go func() {
			c := customerState(id, creator)
			c.ExternalCustomerID = "user-1"
			err := store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) (err error) {
				c, err = r.Customers.Customers.GetOrInsert(ctx, c)
				return err
			})
			if err != nil {
				t.Error(err)
			}
			results <- c.ID
		}()
	}
	found := map[string]int{}
	for range rivals {
		found[<-results]++
	}
	list, err := store.Read(t.Context()).Customers.Customers.List(t.Context(), ports.CustomerFilter{CreatorID: creator},
		ports.Page{Limit: 9})
	if err != nil || len(found) != 1 || len(list.Items) != 1 || found[list.Items[0].ID] != rivals {
		t.Errorf("found %v, stored %+v, %v; want one customer", found, list.Items, err)
	}
	for _, id := range []string{"n1", "n2"} { // nobody named these: each is a customer of their own
		c := customerState(id, creator)
		c.ExternalCustomerID = ""
		atomically(t, store, func(ctx context.Context, r ports.Repos) error {
			if got, err := r.Customers.Customers.GetOrInsert(ctx, c); err != nil || got != c {
				t.Errorf("got %+v, %v; want %+v", got, err, c)
			}
			return nil
		})
	}
}

func customersAreFound(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	for _, id := range []string{"1", "2", "3"} {
		c := customerState(id, creator)
		c.Email = "same@example.com"
		if id == "2" {
			c.Email = "other@example.com"
		}
		atomically(
			t, store, func(ctx context.Context, r ports.Repos) error { return r.Customers.Customers.Insert(ctx, c) },
		)
	}
	atomically(t, store, func(ctx context.Context, r ports.Repos) error {
		return r.Customers.Customers.Insert(ctx, customerState("4", "crt_2"))
	})
	for name, c := range map[string]struct {
		filter ports.CustomerFilter
		want   string
	}{
		"all":            {ports.CustomerFilter{}, "cus_3 cus_2 cus_1"},
		"by address":     {ports.CustomerFilter{Email: "same@example.com"}, "cus_3 cus_1"},
		"by external id": {ports.CustomerFilter{ExternalCustomerID: "user-2"}, "cus_2"},
		"by ids":         {ports.CustomerFilter{IDs: []string{"cus_1", "cus_2", "cus_4"}}, "cus_2 cus_1"},
		"by all of them": {ports.CustomerFilter{Email: "same@example.com", ExternalCustomerID: "user-1",
			IDs: []string{"cus_1"}}, "cus_1"},
		"by what is apart": {ports.CustomerFilter{Email: "same@example.com", ExternalCustomerID: "user-2"}, ""},
	} {
		c.filter.CreatorID = creator
		list, err := store.Read(t.Context()).Customers.Customers.List(t.Context(), c.filter, ports.Page{Limit: 9})
		var got []string
		for _, found := range list.Items {
			got = append(got, found.ID)
		}
		if err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("%s: %s, %v; want %s", name, got, err, c.want)
		}
	}
	counts, err := store.Read(t.Context()).Customers.Customers.CountByEmail(
		t.Context(), creator, []string{"same@example.com", "other@example.com", "nobody@example.com"},
	)
	if err != nil || len(counts) != 2 || counts["same@example.com"] != 2 || counts["other@example.com"] != 1 {
		t.Errorf("counted %v, %v", counts, err)
	}
}

func customersAreFoundByParts(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	put := func(id, creatorID, email, name string) {
		c := customerState(id, creatorID)
		c.Email, c.DisplayName, c.ExternalCustomerID = email, name, "shop-"+id
		atomically(t, store, func(ctx context.Context, r ports.Repos) error {
			return r.Customers.Customers.Insert(ctx, c)
		})
	}
	put("1", creator, "Grace.Hopper@example.com", "Grace Hopper")
	put("2", creator, "grace-2@example.com", "Äpfel & Söhne")
	put("3", creator, "ada@hopper.example", "100% Ada_L")
	put("4", "crt_2", "grace@example.com", "Grace")
	for text, want := range map[string]string{
		"grace": "cus_2 cus_1", "GRACE.h": "cus_1", "grace-": "cus_2", "hopper": "cus_3 cus_1", "@hopper": "cus_3",
		"Äpfel": "cus_2", "0% a": "cus_3", "%": "cus_3", "a_l": "cus_3", "shop-2": "cus_2", "nobody": "", "": "cus_3 cus_2",
	} {
		limit := 9
		if text == "" {
			limit = 2
		}
		found, err := store.Read(t.Context()).Customers.Customers.Search(t.Context(), creator, text, limit)
		var got []string
		for _, c := range found {
			got = append(got, c.ID)
		}
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%q finds %v, %v; want %s", text, got, err, want)
		}
	}
}
