package contract

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sundry/core/access"
	"sundry/core/plan"
	"sundry/ports"
)

const ada = "ada/1|é%_"

var accessNoon = time.Date(2026, 3, 8, 12, 0, 0, 0, time.UTC)

func accessGrant(id, sourceID string) access.State {
	return access.State{
		ID: id, CreatorID: creator, ExternalCustomerID: ada, Source: access.Subscription, SourceID: sourceID,
		CheckoutID: "cs_1",
		Plan: &access.Plan{
			Key: "pro", ListingKey: "studio", ListingID: "lst_1", Interval: "month", Status: access.Trialing,
			CurrentPeriodStart: accessNoon, CurrentPeriodEnd: accessNoon.AddDate(0, 1, 0),
			TrialEndsAt:       accessNoon.AddDate(0, 0, 7),
			CancelAtPeriodEnd: true, GraceEndsAt: accessNoon.AddDate(0, 2, 0),
		},
		Entitlements: []plan.Entitlement{
			{Key: "export", Type: plan.Boolean, Bool: true}, {Key: "seats", Type: plan.Limit, Limit: 1 << 60},
			{Key: "tier", Type: plan.Text, Text: `"<é>`},
		},
		Credits: []access.CreditBlock{{Key: "renders", Unit: "render", Granted: 1 << 60, Used: 3, Renews: true}},
		Note:    "a\nnote", StartedAt: accessNoon, ExpiresAt: accessNoon.Add(time.Millisecond), Revision: 1,
	}
}

// lockAccess locks the customer's document, which must stand at the version.
func lockAccess(t *testing.T, ctx context.Context, r ports.Repos, version int64) access.Document {
	t.Helper()
	d, err := r.Access.Snapshots.Lock(ctx, access.Empty(creator, ada, false))
	if err != nil || d.Version != version || d.ExternalCustomerID != ada {
		t.Errorf("locked version %d of %q, %v; want version %d", d.Version, d.ExternalCustomerID, err, version)
	}
	return d
}

func grantsComeBackAsTheyWent(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	whole, bare := accessGrant("grt_1", "sub_1"), access.State{
		ID: "grt_2", CreatorID: creator, ExternalCustomerID: ada, Source: access.Manual, SourceID: "grt_2",
		StartedAt: accessNoon, Revision: 1,
	}
	atomically(t, store, func(ctx context.Context, r ports.Repos) error {
		lockAccess(t, ctx, r, 0)
		return errors.Join(
			r.Access.Grants.Insert(ctx, access.Restore(whole)), r.Access.Grants.Insert(ctx, access.Restore(bare)),
		)
	})
	r, ctx := store.Read(t.Context()), t.Context()
	for _, want := range []access.State{whole, bare} {
		found, err := r.Access.Grants.Get(ctx, creator, want.ID)
		if err != nil || !reflect.DeepEqual(found.State(), want) {
			t.Errorf("found %+v, %v; want %+v", found.State(), err, want)
		}
		bySource, err := r.Access.Grants.GetBySource(ctx, creator, want.Source, want.SourceID)
		if err != nil || bySource.State().ID != want.ID {
			t.Errorf("by source %+v, %v", bySource.State(), err)
		}
	}
	for _, missing := range []error{
		second(r.Access.Grants.Get(ctx, "crt_2", "grt_1")), second(r.Access.Grants.Get(ctx, creator, "grt_9")),
		second(r.Access.Grants.GetBySource(ctx, creator, access.Purchase, "sub_1")),
		second(r.Access.Grants.GetBySource(ctx, "crt_2", access.Subscription, "sub_1")),
	} {
		if !errors.Is(missing, ports.ErrNotFound) {
			t.Errorf("a grant that is not there: %v", missing)
		}
	}
	running, err := r.Access.Grants.ListActive(ctx, creator, ada)
	if err != nil || !slices.Equal(grantIDs(running), []string{"grt_1", "grt_2"}) {
		t.Errorf("running %v, %v", grantIDs(running), err)
	}
}

func second[T any](_ T, err error) error { return err }

func grantIDs(grants []*access.Grant) []string {
	var ids []string
	for _, g := range grants {
		ids = append(ids, g.State().ID)
	}
	return ids
}

func aSourceGrantsOnce(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	atomically(t, store, func(ctx context.Context, r ports.Repos) error {
		lockAccess(t, ctx, r, 0)
		return r.Access.Grants.Insert(ctx, access.Restore(accessGrant("grt_1", "sub_1")))
	})
	err := store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
		return r.Access.Grants.Insert(ctx, access.Restore(accessGrant("grt_2", "sub_1")))
	})
	var duplicate *ports.DuplicateError
	if !errors.As(err, &duplicate) || duplicate.Index != "grants_creator_id_source_source_id" {
		t.Errorf("the second grant of a source: %v", err)
	}
}

func grantsAreListedPageByPage(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	atomically(t, store, func(ctx context.Context, r ports.Repos) error {
		lockAccess(t, ctx, r, 0)
		for _, n := range []string{"1", "2", "3", "4", "5", "6"} {
			s := accessGrant("grt_"+n, "sub_"+n)
			switch n {
			case "6": // of the subscription
			case "2":
				s.Source, s.SourceID = access.Purchase, "pay_9"
			case "4":
				s.CreatorID = "crt_2"
			case "5":
				s.EndedAt, s.EndReason = accessNoon, access.Revoked
				fallthrough
			default:
				s.Source, s.SourceID = access.Manual, s.ID
			}
			if err := r.Access.Grants.Insert(ctx, access.Restore(s)); err != nil {
				return err
			}
		}
		return nil
	})
	page := ports.Page{Limit: 2}
	for _, want := range [][]string{{"grt_6", "grt_2"}, {"grt_5", "grt_3"}, {"grt_1"}} {
		found, err := store.Read(t.Context()).Access.Grants.List(t.Context(), creator, page)
		if got := grantIDs(found.Items); err != nil || !slices.Equal(got, want) {
			t.Errorf("after %q: %v, %v; want %v", page.After.ID, got, err, want)
		}
		page.After = found.Next
	}
	if page.After.ID != "" {
		t.Errorf("another page begins after %q", page.After.ID)
	}
}

func endedGrantsAndStaleOnes(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	grants := map[string]*access.Grant{}
	atomically(t, store, func(ctx context.Context, r ports.Repos) error {
		lockAccess(t, ctx, r, 0)
		for _, n := range []string{"1", "2", "3"} {
			grants[n] = access.Restore(accessGrant("grt_"+n, "sub_"+n))
			if err := r.Access.Grants.Insert(ctx, grants[n]); err != nil {
				return err
			}
		}
		return nil
	})
	for i, n := range []string{"3", "1"} {
		over := grants[n].State()
		over.EndedAt, over.EndReason, over.Revision = accessNoon.Add(time.Duration(i)*time.Hour), access.SourceEnded,
			over.Revision+1
		grants[n] = access.Restore(over)
		atomically(
			t, store, func(ctx context.Context, r ports.Repos) error { return r.Access.Grants.Update(ctx, grants[n]) },
		)
	}
	// not inside Atomically, which would try again
	err := store.Read(t.Context()).Access.Grants.Update(t.Context(), grants["1"])
	if !errors.Is(err, ports.ErrStale) && !strings.Contains(err.Error(), "readonly") {
		t.Errorf("writing a revision twice: %v", err)
	}
	r, ctx := store.Read(t.Context()), t.Context()
	ended, err := r.Access.Grants.ListEnded(ctx, creator, ada, 10)
	if err != nil || !slices.Equal(grantIDs(ended), []string{"grt_1", "grt_3"}) ||
		!reflect.DeepEqual(ended[0].State(), grants["1"].State()) {
		t.Errorf("ended %v, %v", grantIDs(ended), err)
	}
	if latest, err := r.Access.Grants.ListEnded(ctx, creator, ada, 1); err != nil ||
		!slices.Equal(grantIDs(latest), []string{"grt_1"}) {
		t.Errorf("latest ended %v, %v", grantIDs(latest), err)
	}
	if running, err := r.Access.Grants.ListActive(ctx, creator, ada); err != nil ||
		!slices.Equal(grantIDs(running), []string{"grt_2"}) {
		t.Errorf("running %v, %v", grantIDs(running), err)
	}
}

// versionsAreCompared asks many questions at once while ada's access has version 1; nobody else has any.
func versionsAreCompared(t *testing.T, store StoreAdapter) {
	t.Helper()
	type question struct {
		creatorID, externalCustomerID string
		version                       int64
	}
	var all sync.WaitGroup
	for range 50 {
		for q, want := range map[question]bool{
			{creator, ada, 0}: true, {creator, ada, 1}: false, {creator, ada, 9}: false, {creator, "unknown", 0}: false,
			{"crt_2", ada, 0}: false, {creator, `"], [\u0000`, 0}: false,
		} {
			all.Go(func() {
				got, err := store.HasVersionAbove(t.Context(), q.creatorID, q.externalCustomerID, q.version)
				if err != nil || got != want {
					t.Errorf("%+v: %v, %v; want %v", q, got, err, want)
				}
			})
		}
	}
	all.Wait()
}

func snapshotsFollowOneAnother(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	if _, err := store.ReadAccess(t.Context(), creator, ada); !errors.Is(err, ports.ErrNotFound) {
		t.Errorf("reading what is not there: %v", err)
	}
	if err := second(store.Read(t.Context()).Access.Snapshots.Get(t.Context(), creator, ada)); !errors.Is(err,
		ports.ErrNotFound) {
		t.Errorf("finding what is not there: %v", err)
	}
	next := saveNext(t, store, access.Restore(accessGrant("grt_1", "sub_1")))
	for name, read := range map[string]func() (access.Document, error){
		"ReadAccess": func() (access.Document, error) { return store.ReadAccess(t.Context(), creator, ada) },
		"Find": func() (access.Document, error) {
			return store.Read(t.Context()).Access.Snapshots.Get(t.Context(), creator, ada)
		},
	} {
		got, err := read()
		if err != nil || got.Version != 1 || !bytes.Equal(got.Body, next.Body) || got.ETag != next.ETag ||
			!got.NextEnd.Equal(next.NextEnd) ||
			got.CreatorID != creator || got.ExternalCustomerID != ada {
			t.Errorf("%s: %+v, %v; want %+v", name, got, err, next)
		}
	}
	versionsAreCompared(t, store)
	history, err := store.Read(t.Context()).Access.Snapshots.ListHistory(t.Context(), creator, ada, 10)
	want := access.Changed{
		CreatorID: creator, ExternalCustomerID: ada, Version: 1,
		Changed: []string{"activePlans", "entitlements", "credits"},
		Cause:   access.Cause{Kind: access.GrantCreated, ID: "x"}, At: accessNoon,
	}
	if err != nil || len(history) != 1 || !reflect.DeepEqual(history[0], want) {
		t.Errorf("history %+v, %v", history, err)
	}
	atomically(t, store, func(ctx context.Context, r ports.Repos) error { // only NextEnd moves
		d := lockAccess(t, ctx, r, 1)
		d.NextEnd = time.Time{}
		return r.Access.Snapshots.Update(ctx, d, nil)
	})
	history, err = store.Read(t.Context()).Access.Snapshots.ListHistory(t.Context(), creator, ada, 2)
	if d, _ := store.ReadAccess(t.Context(), creator, ada); err != nil || len(history) != 1 ||
		history[0].Version != 1 || !d.NextEnd.IsZero() {
		t.Errorf("changes %+v, %v; next end %v", history, err, d.NextEnd)
	}
	saveNext(t, store, access.Restore(accessGrant("grt_2", "sub_2")))
	for after, want := range map[int64]int{0: 2, 1: 1, 2: 0} {
		later, err := store.Read(t.Context()).Access.Snapshots.ListHistoryAfter(t.Context(), creator, ada, after)
		if err != nil || len(later) != want || want > 0 && later[0].Version != after+1 {
			t.Errorf("after version %d: %+v, %v", after, later, err)
		}
	}
	if history, err := store.Read(t.Context()).Access.Snapshots.ListHistory(t.Context(), creator, ada, 1); err != nil ||
		len(history) != 1 || history[0].Version != 2 {
		t.Errorf("latest change %+v, %v", history, err)
	}
}

// saveNext saves the version that one grant alone makes.
func saveNext(t *testing.T, store StoreAdapter, g *access.Grant) access.Document {
	t.Helper()
	var next access.Document
	atomically(t, store, func(ctx context.Context, r ports.Repos) error {
		d, err := r.Access.Snapshots.Lock(ctx, access.Empty(creator, ada, false))
		if err != nil {
			return err
		}
		var change access.Changed
		next, change, _, err = d.Next(
			access.Fold([]*access.Grant{g}), false, access.Cause{Kind: access.GrantCreated, ID: "x"}, accessNoon,
		)
		return errors.Join(err, r.Access.Snapshots.Update(ctx, next, &change))
	})
	return next
}

func theLockMakesWritersTakeTurns(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	const writers = 24
	var all sync.WaitGroup
	seen := make(chan int64, writers*100) // a transaction may run again
	for i := range writers {
		all.Go(func() {
			err := store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
				if i%2 == 0 { // the same lock, taken with the next read
					if err := r.Access.Snapshots.LockSoon(ctx, access.Empty(creator, ada, false)); err != nil {
						return err
					}
				}
				d, err := r.Access.Snapshots.Lock(ctx, access.Empty(creator, ada, false))
				if err != nil {
					return err
				}
				change := access.Changed{PreviousVersion: d.Version, Changed: []string{"credits"}, At: accessNoon}
				d.Version++
				seen <- d.Version
				if i%3 == 0 {
					// and is rolled back
					return errors.Join(r.Access.Snapshots.Update(ctx, d, &change), context.Canceled)
				}
				return r.Access.Snapshots.Update(ctx, d, &change)
			})
			if err != nil && !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	history, err := store.Read(t.Context()).Access.Snapshots.ListHistory(t.Context(), creator, ada, writers)
	if want := writers - writers/3; err != nil || len(history) != want || history[0].Version != int64(want) {
		t.Errorf("changes %+v, %v; want %d", history, err, want)
	}
}

// theLockOfNoDocumentExcludesOthers has many transactions look for a grant and give it where there is none: they write no
// document.
func theLockOfNoDocumentExcludesOthers(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	var all sync.WaitGroup
	for i := range 12 {
		all.Go(func() {
			err := store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
				if i%2 == 0 {
					if err := r.Access.Snapshots.LockSoon(ctx, access.Empty(creator, ada, false)); err != nil {
						return err
					}
				}
				lockAccess(t, ctx, r, 0)
				running, err := r.Access.Grants.ListActive(ctx, creator, ada)
				if err != nil || len(running) > 0 {
					return err
				}
				time.Sleep(20 * time.Millisecond) // who is not kept out gets here, too
				return r.Access.Grants.Insert(ctx, access.Restore(accessGrant(fmt.Sprint("grt_", i), fmt.Sprint("sub_", i))))
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	running, err := store.Read(t.Context()).Access.Grants.ListActive(t.Context(), creator, ada)
	if err != nil || len(running) != 1 {
		t.Errorf("%d grants were given, %v; want one", len(running), err)
	}
}

func scanSeesEveryCustomerOnce(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	customers := []string{"a", "A", "á", "b", "B c", "a/b", "木", "10", "9", "_", "%"}
	atomically(t, store, func(ctx context.Context, r ports.Repos) error {
		for i, customer := range customers {
			account := []string{creator, "crt_2"}[i%2]
			d, err := r.Access.Snapshots.Lock(ctx, access.Empty(account, customer, false))
			if err != nil {
				return err
			}
			for range i%3 + 1 { // so many changes
				change := access.Changed{PreviousVersion: d.Version, Changed: []string{"credits"}, At: accessNoon}
				d.Version++
				if err := r.Access.Snapshots.Update(ctx, d, &change); err != nil {
					return err
				}
			}
		}
		return nil
	})
	var seen []string
	for last := (access.Document{}); ; {
		page, err := store.Read(t.Context()).Access.Audit.ListCustomers(t.Context(), last, 3)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range page {
			seen = append(seen, c.Document.ExternalCustomerID)
			last = c.Document
			if want := int64(
				slices.Index(customers, last.ExternalCustomerID)%3 + 1,
			); c.Changes != want || c.Highest != want {
				t.Errorf("%q has %d changes up to %d, want %d", last.ExternalCustomerID, c.Changes, c.Highest, want)
			}
		}
		if len(page) < 3 {
			break
		}
	}
	slices.Sort(seen)
	slices.Sort(customers)
	if !slices.Equal(seen, customers) {
		t.Errorf("seen %q, want %q", seen, customers)
	}
}

func creditUsesAreRemembered(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	use := access.CreditUse{
		CreatorID: creator, ExternalCustomerID: ada, IdempotencyKey: "job|1 é",
		Request: access.ConsumeRequest{Key: "renders", Amount: 3},
		Result:  access.Balance{Key: "renders", Unit: "render", Amount: 3, Granted: 10, Used: 4, Balance: 6, Version: 2},
		At:      accessNoon,
	}
	insert := func() error {
		return store.Atomically(
			t.Context(), func(ctx context.Context, r ports.Repos) error { return r.Access.CreditUses.Insert(ctx, use) },
		)
	}
	if err := insert(); err != nil {
		t.Fatal(err)
	}
	r := store.Read(t.Context())
	if got, err := r.Access.CreditUses.Get(t.Context(), creator, ada, use.IdempotencyKey); err != nil || got != use {
		t.Errorf("found %+v, %v; want %+v", got, err, use)
	}
	for _, key := range [][3]string{{"crt_2", ada, use.IdempotencyKey}, {creator, "grace", use.IdempotencyKey},
		{creator, ada, "job|1 É"}} {
		if err := second(r.Access.CreditUses.Get(t.Context(), key[0], key[1], key[2])); !errors.Is(err, ports.ErrNotFound) {
			t.Errorf("%v: %v", key, err)
		}
	}
	if err := insert(); !errors.Is(err, ports.ErrDuplicate) {
		t.Errorf("the same use again: %v", err)
	}
	for range 2 {
		err := store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
			return r.Access.CreditUses.Copy(ctx, creator, ada, "lovelace")
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	copied := use
	for _, name := range []string{ada, "lovelace"} {
		copied.ExternalCustomerID = name
		if got, err := r.Access.CreditUses.Get(t.Context(), creator, name, use.IdempotencyKey); err != nil || got != copied {
			t.Errorf("of %s: found %+v, %v", name, got, err)
		}
	}
}
