package gormstore_test

import (
	"context"
	"testing"
	"time"

	"sundry/adapters/gormstore"
	"sundry/core/access"
	"sundry/core/checkout"
	"sundry/core/customer"
	"sundry/core/identity"
	"sundry/core/payment"
	"sundry/core/plan"
	"sundry/core/webhook"
	"sundry/ports"
	"sundry/tests/testdb"
)

// TestCachedRowsAreReadAgainAfterAWrite settles a payment, which preloads the rows of its subscribers, and changes each
// of these rows in the same transaction: the next read has to see the change.
func TestCachedRowsAreReadAgainAfterAWrite(t *testing.T) {
	t.Parallel()
	at := time.UnixMilli(1).UTC()
	creator := identity.Register("crt_1", identity.Registration{Email: "ada@example.com", DisplayName: "Ada"}, "hash", at)
	session := checkout.State{ID: "cs_1", CreatorID: "crt_1", Offer: plan.Offer{ListingID: "lst_1"},
		Status: checkout.StatusProcessing, CreatedAt: at, ExpiresAt: at, Revision: 1}
	attempt := payment.State{
		ID: "pay_1", CreatorID: "crt_1", Subject: payment.Subject{Purpose: payment.ForCheckout, SubjectID: "cs_1"},
		Status: payment.Pending, CreatedAt: at, Revision: 1,
	}
	endpoint := webhook.EndpointState{ID: "we_1", CreatorID: "crt_1", URL: "https://example.com", Secret: []byte("s"),
		Enabled: true, CreatedAt: at, Revision: 1}
	buyer := customer.State{ID: "cus_1", CreatorID: "crt_1", ExternalCustomerID: "ada", CreatedAt: at, UpdatedAt: at,
		Revision: 1}
	grant := access.Restore(access.State{
		ID: "grt_1", CreatorID: "crt_1", ExternalCustomerID: "ada", Source: access.Purchase, SourceID: "pay_1", StartedAt: at,
		Revision: 1,
	})
	// Each change reads what it changes before and after, and returns both.
	changes := map[string]func(ctx context.Context, r ports.Repos) (before, after any, err error){
		"the session": func(ctx context.Context, r ports.Repos) (before, after any, err error) {
			read := func() any { s, err := r.Checkout.Sessions.Get(ctx, "cs_1"); return orError(s.Email, err) }
			before, changed := read(), session
			changed.Email, changed.Revision = "ada@example.com", 2
			err = r.Checkout.Sessions.Update(ctx, changed)
			return before, read(), err
		},
		"the account": func(ctx context.Context, r ports.Repos) (before, after any, err error) {
			read := func() any {
				c, err := r.Identity.Creators.Get(ctx, "crt_1")
				if err != nil {
					return err
				}
				return c.State().DisplayName
			}
			before = read()
			changed := identity.RestoreCreator(creator.State())
			if _, err := changed.EditProfile(identity.ProfileEdit{DisplayName: new("Grace")}); err != nil {
				return nil, nil, err
			}
			err = r.Identity.Creators.Update(ctx, changed)
			return before, read(), err
		},
		"the endpoints": func(ctx context.Context, r ports.Repos) (before, after any, err error) {
			read := func() any { all, err := r.Webhooks.Endpoints.ListAll(ctx, "crt_1"); return orError(len(all), err) }
			before = read()
			err = r.Webhooks.Endpoints.Delete(ctx, "crt_1", "we_1")
			return before, read(), err
		},
		"the customer": func(ctx context.Context, r ports.Repos) (before, after any, err error) {
			if _, err = r.Customers.Customers.GetOrInsert(ctx, buyer); err != nil {
				return nil, nil, err
			}
			read := func() any { c, err := r.Customers.Customers.Get(ctx, "cus_1"); return orError(c.Email, err) }
			before, changed := read(), buyer
			changed.Email, changed.Revision = "ada@example.com", 2
			err = r.Customers.Customers.Update(ctx, changed)
			return before, read(), err
		},
		"the grants": func(ctx context.Context, r ports.Repos) (before, after any, err error) {
			if _, err = r.Access.Snapshots.Lock(ctx, access.Empty("crt_1", "ada", false)); err != nil {
				return nil, nil, err
			}
			read := func() any { all, err := r.Access.Grants.ListActive(ctx, "crt_1", "ada"); return orError(len(all), err) }
			before = read()
			if _, err := r.Access.Grants.GetBySource(ctx, "crt_1", access.Purchase, "pay_1"); err == nil {
				t.Error("a grant was found before it was made")
			}
			err = r.Access.Grants.Insert(ctx, grant)
			if _, err := r.Access.Grants.GetBySource(ctx, "crt_1", access.Purchase, "pay_1"); err != nil {
				t.Errorf("the grant of the payment: %v", err)
			}
			return before, read(), err
		},
		"the snapshot": func(ctx context.Context, r ports.Repos) (before, after any, err error) {
			read := func() any {
				d, err := r.Access.Snapshots.Lock(ctx, access.Empty("crt_1", "ada", false))
				return orError(d.NextEnd, err)
			}
			before = read()
			d := access.Empty("crt_1", "ada", false)
			d.NextEnd = at.Add(time.Hour)
			err = r.Access.Snapshots.Update(ctx, d, nil)
			return before, read(), err
		},
		"the clock": func(ctx context.Context, r ports.Repos) (before, after any, err error) {
			read := func() any { d, err := r.Sandbox.ClockOffsets.Get(ctx, "crt_1"); return orError(d, err) }
			before = read()
			err = r.Sandbox.ClockOffsets.Advance(ctx, "crt_1", time.Hour)
			return before, read(), err
		},
	}
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testdb.EachStore(t, func(t *testing.T, store *gormstore.Store) {
				err := store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
					for _, err := range []error{
						r.Identity.Creators.Insert(ctx, creator), r.Checkout.Sessions.Insert(ctx, session),
						r.Payments.Payments.Insert(ctx, attempt),
						r.Webhooks.Endpoints.Insert(ctx, endpoint),
					} {
						if err != nil {
							return err
						}
					}
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
				err = store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
					if _, err := r.Payments.Payments.GetForUpdate(ctx, "pay_1", payment.ForCheckout); err != nil {
						return err
					}
					before, after, err := change(ctx, r)
					if before == after {
						t.Errorf("it is %v before and after the write", after)
					}
					return err
				})
				if err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// orError is a value that was read, or why it was not.
func orError(value any, err error) any {
	if err != nil {
		return err
	}
	return value
}

func TestRealTimeStoresReadNoClockOffsets(t *testing.T) {
	t.Parallel()
	testdb.EachStore(t, func(t *testing.T, store *gormstore.Store) {
		err := store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
			return r.Sandbox.ClockOffsets.Advance(ctx, "crt_1", time.Hour)
		})
		if err != nil {
			t.Fatal(err)
		}
		ahead := func(ctx context.Context, r ports.Repos) bool {
			now, err := r.Clock.Now(ctx, "crt_1")
			if err != nil {
				t.Error(err)
			}
			return time.Until(now) > time.Minute
		}
		err = store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
			if ahead(ctx, r) || ahead(ctx, store.Read(t.Context())) {
				t.Error("the clock of an account runs ahead")
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}, gormstore.RealTime())
}
