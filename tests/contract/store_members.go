package contract

import (
	"context"
	"strings"
	"testing"
	"time"

	"sundry/core/identity"
	"sundry/ports"
)

func newMember(n byte, creatorID string) *identity.Member {
	return identity.NewMember(newID(identity.MemberPrefix, n), creatorID,
		identity.MemberRequest{Email: "grace@example.com", Role: identity.RoleSupport}, noon)
}

func membersAreKept(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	ctx := t.Context()
	ada := insertCreator(t, store, 1, "ada@example.com").State().ID
	bob := insertCreator(t, store, 2, "bob@example.com").State().ID
	grace, again := newMember(1, ada), newMember(2, bob)
	atomically(t, store, func(ctx context.Context, r ports.Repos) error {
		if err := r.Identity.Members.LockAddress(ctx, "grace@example.com"); err != nil {
			return err
		}
		return r.Identity.Members.Insert(ctx, grace)
	})
	atomically(t, store, func(ctx context.Context, r ports.Repos) error { return r.Identity.Members.Insert(ctx, again) })
	wantError(t, "a second invitation of an account", store.Atomically(ctx,
		func(ctx context.Context, r ports.Repos) error {
			return r.Identity.Members.Insert(ctx, newMember(3, ada))
		}), ports.ErrDuplicate)

	members := store.Read(ctx).Identity.Members
	found, err := members.Find(ctx, ada, "grace@example.com")
	if err != nil {
		t.Fatal(err)
	}
	same(t, "the invited member", found.State(), grace.State())
	_, err = members.GetByEmail(ctx, "grace@example.com")
	wantError(t, "an invited member by address", err, ports.ErrNotFound)

	grace.Join("Grace", "$hash$", noon.Add(time.Hour))
	again.Join("Grace", "$hash$", noon.Add(time.Hour))
	atomically(t, store, func(ctx context.Context, r ports.Repos) error { return r.Identity.Members.Update(ctx, grace) })
	wantError(t, "an address that joins twice", store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		return r.Identity.Members.Update(ctx, again)
	}), ports.ErrDuplicate)
	found, err = members.GetByEmail(ctx, "grace@example.com")
	if err != nil {
		t.Fatal(err)
	}
	same(t, "the member who joined", found.State(), grace.State())

	list, err := members.List(ctx, ada, ports.Page{Limit: 10})
	if err != nil || len(list.Items) != 1 || list.Items[0].State() != grace.State() {
		t.Errorf("the members are %+v, %v", list.Items, err)
	}
	atomically(t, store, func(ctx context.Context, r ports.Repos) error { return r.Identity.Members.Delete(ctx, grace) })
	_, err = store.Read(ctx).Identity.Members.Get(ctx, grace.State().ID)
	wantError(t, "the member after the removal", err, ports.ErrNotFound)
	if n, err := store.Read(ctx).Identity.Members.Count(ctx, bob); err != nil || n != 1 {
		t.Errorf("the other account has %d members, %v", n, err)
	}
}

func signInsEndAlone(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	ctx := t.Context()
	ada := insertCreator(t, store, 1, "ada@example.com").State().Owner()
	grace := newMember(1, ada.CreatorID).State().User()
	numbers := []byte{1, 2}
	for i, u := range []identity.User{ada, grace} {
		atomically(t, store, func(ctx context.Context, r ports.Repos) error {
			session := identity.BeginWebSession(newID(identity.WebSessionPrefix, numbers[i]), u, identity.Client{}, noon)
			if err := r.Identity.WebSessions.Insert(ctx, session); err != nil {
				return err
			}
			family := identity.BeginFamily(newID(identity.RefreshFamilyPrefix, numbers[i]), u, noon)
			return r.Identity.RefreshFamilies.Insert(ctx, family)
		})
	}
	signedIn := func(u identity.User) int {
		found, err := store.Read(ctx).Identity.WebSessions.ListValid(ctx, u, noon, 10)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range found {
			if !w.State().IsOf(u) {
				t.Errorf("%+v is not of %s", w.State(), u.ID())
			}
		}
		return len(found)
	}
	if signedIn(ada) != 1 || signedIn(grace) != 1 {
		t.Fatal("the sign-ins are not kept apart")
	}
	atomically(t, store, func(ctx context.Context, r ports.Repos) error {
		if err := r.Identity.WebSessions.RevokeAll(ctx, grace, "", noon); err != nil {
			return err
		}
		return r.Identity.RefreshFamilies.RevokeAll(ctx, grace, noon)
	})
	if signedIn(ada) != 1 || signedIn(grace) != 0 {
		t.Error("ending a member's sign-ins is not ending theirs alone")
	}
	for i, ended := range []bool{false, true} {
		f, err := store.Read(ctx).Identity.RefreshFamilies.Get(ctx, newID(identity.RefreshFamilyPrefix, numbers[i]))
		if err != nil || f.State().RevokedAt.IsZero() == ended {
			t.Errorf("family %d is %+v, %v", i, f.State(), err)
		}
	}
}

func secondStepsKept() aggregate[identity.SecondStepState] {
	return aggregate[identity.SecondStepState]{
		make: func(id, creatorID string) identity.SecondStepState {
			s := filled[identity.SecondStepState]()
			s.UserID, s.CreatorID, s.Revision = "mbr_"+id, creatorID, 1
			return s
		},
		change: func(s *identity.SecondStepState) {
			s.AppSecret, s.AppAddedAt, s.NewAppSecret, s.NewAppAt = nil, time.Time{}, nil, time.Time{}
			s.LastStep, s.Recovery, s.RecoveryMadeAt, s.Passkeys = 9, nil, time.Time{}, nil
		},
		key: func(s *identity.SecondStepState) (string, *int64) { return s.UserID, &s.Revision },
		insert: func(ctx context.Context, r ports.Repos, s identity.SecondStepState) error {
			return r.Identity.SecondSteps.Insert(ctx, identity.RestoreSecondStep(s))
		},
		get: func(ctx context.Context, r ports.Repos, s identity.SecondStepState) (identity.SecondStepState, error) {
			step, err := r.Identity.SecondSteps.Get(ctx, s.UserID)
			if err != nil {
				return identity.SecondStepState{}, err
			}
			return step.State(), nil
		},
		update: func(ctx context.Context, r ports.Repos, s identity.SecondStepState) error {
			return r.Identity.SecondSteps.Update(ctx, identity.RestoreSecondStep(s))
		},
	}
}

func secondStepsAreOfUsers(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	ctx := t.Context()
	ada := insertCreator(t, store, 1, "ada@example.com").State().Owner()
	bob := insertCreator(t, store, 2, "bob@example.com").State().Owner()
	grace := newMember(1, ada.CreatorID).State().User()
	for _, u := range []identity.User{ada, bob, grace} {
		step := identity.NewSecondStep(u)
		step.BeginApp([]byte("secret"), noon)
		atomically(t, store, func(ctx context.Context, r ports.Repos) error {
			return r.Identity.SecondSteps.Insert(ctx, step)
		})
	}
	of := func(creatorID string) int {
		steps, err := store.Read(ctx).Identity.SecondSteps.ListOf(ctx, creatorID)
		if err != nil {
			t.Fatal(err)
		}
		return len(steps)
	}
	if of(ada.CreatorID) != 2 || of(bob.CreatorID) != 1 {
		t.Errorf("listed are %d and %d, want 2 and 1", of(ada.CreatorID), of(bob.CreatorID))
	}
	for range 2 { // again, it changes nothing
		atomically(t, store, func(ctx context.Context, r ports.Repos) error {
			return r.Identity.SecondSteps.Delete(ctx, grace.ID())
		})
	}
	if of(ada.CreatorID) != 1 || of(bob.CreatorID) != 1 {
		t.Error("deleting one deletes another's, or nothing")
	}
}

func savedFiltersAreOfUsersAndLists(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	ctx := t.Context()
	ada := insertCreator(t, store, 1, "ada@example.com").State().Owner()
	grace := newMember(1, ada.CreatorID).State().User()
	const orders, invoices = "/dashboard/orders", "/dashboard/invoices"
	change := func(fn func(ctx context.Context, filters ports.SavedFilters) error) {
		atomically(t, store, func(ctx context.Context, r ports.Repos) error { return fn(ctx, r.Identity.SavedFilters) })
	}
	for _, f := range []identity.SavedFilter{
		{List: orders, Name: "Large", Query: "sort=-amount"}, {List: invoices, Name: "Large", Query: "sort=-total"},
		{List: orders, Name: "Back", Query: "status=refunded"}, {List: orders, Name: "Large", Query: "status=paid"},
	} {
		change(func(ctx context.Context, filters ports.SavedFilters) error {
			if err := filters.Lock(ctx, ada); err != nil {
				return err
			}
			return filters.Save(ctx, ada, f)
		})
	}
	change(func(ctx context.Context, filters ports.SavedFilters) error {
		return filters.Save(ctx, grace, identity.SavedFilter{List: orders, Name: "Large", Query: "sort=amount"})
	})
	want := func(u identity.User, list, want string) {
		t.Helper()
		var got []string
		saved, err := store.Read(ctx).Identity.SavedFilters.List(ctx, u, list)
		for _, f := range saved {
			got = append(got, f.Name+" "+f.Query)
		}
		if got := strings.Join(got, ", "); err != nil || got != want {
			t.Errorf("%s keeps %q of %s, %v; want %q", u.ID(), got, list, err, want)
		}
	}
	want(ada, orders, "Back status=refunded, Large status=paid")
	want(ada, invoices, "Large sort=-total")
	want(grace, orders, "Large sort=amount")
	for range 2 { // again, it changes nothing
		change(func(ctx context.Context, filters ports.SavedFilters) error {
			return filters.Delete(ctx, ada, orders, "Large")
		})
	}
	want(ada, orders, "Back status=refunded")
	want(ada, invoices, "Large sort=-total")
	change(func(ctx context.Context, filters ports.SavedFilters) error { return filters.DeleteAll(ctx, ada) })
	want(ada, orders, "")
	want(ada, invoices, "")
	want(grace, orders, "Large sort=amount")
}
