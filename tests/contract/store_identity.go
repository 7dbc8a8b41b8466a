package contract

import (
	"bytes"
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"sundry/core/id"
	"sundry/core/identity"
	"sundry/ports"
)

var noon = time.Date(2026, 3, 8, 12, 0, 0, 0, time.UTC)

func newID(prefix id.Prefix, n byte) string { return id.New(prefix, [16]byte{15: n}) }

func insertCreator(t *testing.T, store StoreAdapter, n byte, address string) *identity.Creator {
	t.Helper()
	c := identity.Register(
		newID(id.Creator, n), identity.Registration{Email: address, DisplayName: "Ada Ünï"}, "$hash$",
		noon.Add(7*time.Millisecond),
	)
	atomically(t, store, func(ctx context.Context, r ports.Repos) error { return r.Identity.Creators.Insert(ctx, c) })
	return c
}

func same[S any](t *testing.T, what string, got, want S) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s:\n got %+v\nwant %+v", what, got, want)
	}
}

func wantError(t *testing.T, what string, got, want error) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func creatorsAreFound(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	ctx := t.Context()
	ada := insertCreator(t, store, 1, "ada@example.com")
	repos := store.Read(ctx)

	got, err := repos.Identity.Creators.Get(ctx, ada.State().ID)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "by id", got.State(), ada.State())
	got, err = repos.Identity.Creators.GetByEmail(ctx, "ada@example.com")
	if err != nil {
		t.Fatal(err)
	}
	same(t, "by address", got.State(), ada.State())

	_, err = repos.Identity.Creators.Get(ctx, newID(id.Creator, 9))
	wantError(t, "an unknown id", err, ports.ErrNotFound)
	_, err = repos.Identity.Creators.GetByEmail(ctx, "bob@example.com")
	wantError(t, "an unknown address", err, ports.ErrNotFound)

	err = store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		return r.Identity.Creators.Insert(
			ctx, identity.Register(newID(id.Creator, 2), identity.Registration{Email: "ada@example.com"}, "", noon),
		)
	})
	var duplicate *ports.DuplicateError
	if !errors.As(err, &duplicate) || duplicate.Index != "creators_email" {
		t.Errorf("the same address again: %v", err)
	}
	_, err = repos.Identity.Creators.Get(ctx, newID(id.Creator, 2))
	wantError(t, "the refused creator", err, ports.ErrNotFound)
}

func creatorsAreChangedOnce(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	ctx := t.Context()
	ada := insertCreator(t, store, 1, "ada@example.com")
	stale := identity.RestoreCreator(ada.State())
	if _, err := ada.EditProfile(identity.ProfileEdit{
		DisplayName: new("Ada Ltd"), LogoURL: new("https://a.example/l.png"), AccentColor: new("#4f46e5"),
		SupportEmail: new("help@a.example"), RefundPolicy: new("14 days.\nÜber alles."),
		EmbedOrigins: &[]string{"https://a.example", "http://localhost:3000"},
	}); err != nil {
		t.Fatal(err)
	}
	atomically(t, store, func(ctx context.Context, r ports.Repos) error { return r.Identity.Creators.Update(ctx, ada) })
	got, err := store.Read(ctx).Identity.Creators.Get(ctx, ada.State().ID)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "the changed creator", got.State(), ada.State())

	if _, err := stale.EditProfile(identity.ProfileEdit{DisplayName: new("Late")}); err != nil {
		t.Fatal(err)
	}
	wantError(t, "a stale revision", store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		return r.Identity.Creators.Update(ctx, stale)
	}), ports.ErrStale)
}

func issueKey(n byte, creatorID string) *identity.APIKey {
	order := identity.NewKeyRequest{Name: "Backend"}
	if n%2 == 0 {
		order.Scopes = identity.RestoreScopes("read,usage")
		order.ExpiresAt = noon.Add(time.Duration(n) * time.Hour)
	}
	return identity.IssueKey(
		newID(id.APIKey, n), creatorID, order, identity.NewKey(false, 0, []byte{n}), bytes.Repeat([]byte{n}, 32), noon,
	)
}

func apiKeysAreFound(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	ctx := t.Context()
	ada, bob := insertCreator(t, store, 1, "ada@example.com").State().ID,
		insertCreator(t, store, 2, "bob@example.com").State().ID
	keys := make([]*identity.APIKey, 6)
	for i := range keys {
		keys[i] = issueKey(byte(i+1), ada)
		atomically(
			t, store, func(ctx context.Context, r ports.Repos) error { return r.Identity.APIKeys.Insert(ctx, keys[i]) },
		)
	}
	atomically(t, store, func(ctx context.Context, r ports.Repos) error {
		return r.Identity.APIKeys.Insert(ctx, issueKey(9, bob))
	})
	repo := store.Read(ctx).Identity.APIKeys

	for _, key := range keys[:2] { // with and without an end
		got, err := repo.Get(ctx, ada, key.State().ID)
		if err != nil {
			t.Fatal(err)
		}
		same(t, "by id", got.State(), key.State())
		got, err = repo.GetByHash(ctx, key.State().Hash)
		if err != nil {
			t.Fatal(err)
		}
		same(t, "by hash", got.State(), key.State())
	}
	_, err := repo.GetByHash(ctx, bytes.Repeat([]byte{77}, 32))
	wantError(t, "an unknown hash", err, ports.ErrNotFound)
	_, err = repo.Get(ctx, bob, keys[0].State().ID)
	wantError(t, "another account's key", err, ports.ErrNotFound)

	keys[3].Revoke(noon)
	atomically(
		t, store, func(ctx context.Context, r ports.Repos) error { return r.Identity.APIKeys.Update(ctx, keys[3]) },
	)
	stale := identity.RestoreAPIKey(keys[3].State()) // its revision is not one above the stored one
	wantError(t, "a stale key", store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		return r.Identity.APIKeys.Update(ctx, stale)
	}), ports.ErrStale)
	got, err := repo.Get(ctx, ada, keys[3].State().ID)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "the revoked key", got.State(), keys[3].State())

	listPages(t, repo, ada, []string{
		keys[5].State().ID, keys[4].State().ID, keys[2].State().ID, keys[1].State().ID, keys[0].State().ID,
	})
	listPages(t, repo, newID(id.Creator, 3), nil)
}

// listPages reads the list two at a time.
func listPages(t *testing.T, repo ports.APIKeys, creatorID string, want []string) {
	t.Helper()
	var got []string
	page := ports.Page{Limit: 2}
	for {
		list, err := repo.List(t.Context(), creatorID, page)
		if err != nil || len(list.Items) > 2 {
			t.Fatalf("%d keys, %v", len(list.Items), err)
		}
		for _, key := range list.Items {
			got = append(got, key.State().ID)
		}
		if list.Next.ID == "" {
			break
		}
		page.After = list.Next
	}
	same(t, "valid keys, newest first", got, want)
}

func theLastUseOfAKeyOnlyMovesForward(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	ada := insertCreator(t, store, 1, "ada@example.com").State().ID
	key := issueKey(1, ada)
	atomically(t, store, func(ctx context.Context, r ports.Repos) error { return r.Identity.APIKeys.Insert(ctx, key) })
	for _, step := range []struct{ touch, want time.Duration }{{0, 0}, {time.Minute, time.Minute},
		{time.Second, time.Minute}} {
		atomically(t, store, func(ctx context.Context, r ports.Repos) error {
			return r.Identity.APIKeys.Touch(ctx, key.State().ID, noon.Add(step.touch))
		})
		got, err := store.Read(t.Context()).Identity.APIKeys.Get(t.Context(), ada, key.State().ID)
		if err != nil || !got.State().LastUsedAt.Equal(noon.Add(step.want)) || got.State().Revision != 1 {
			t.Fatalf("after a use at +%v: %+v, %v", step.touch, got.State(), err)
		}
	}
}

func refreshFamiliesRotate(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	ctx := t.Context()
	ada := insertCreator(t, store, 1, "ada@example.com").State().ID
	families := [2]*identity.RefreshFamily{}
	for i, began := range []time.Time{noon, noon.Add(time.Hour)} {
		families[i] = identity.BeginFamily(newID(identity.RefreshFamilyPrefix, byte(i)), identity.User{CreatorID: ada}, began)
		atomically(t, store, func(ctx context.Context, r ports.Repos) error {
			return r.Identity.RefreshFamilies.Insert(ctx, families[i])
		})
	}
	load := func(i int) (identity.RefreshFamilyState, error) {
		f, err := store.Read(ctx).Identity.RefreshFamilies.Get(ctx, families[i].State().ID)
		if err != nil {
			return identity.RefreshFamilyState{}, err
		}
		return f.State(), nil
	}
	rotated := identity.RestoreFamily(families[0].State())
	if _, err := rotated.Rotate(1, noon.Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	rotated.Revoke(noon.Add(2 * time.Minute)) // two changes at once are not one revision
	wantError(t, "a revision too far", store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		return r.Identity.RefreshFamilies.Update(ctx, rotated)
	}), ports.ErrStale)
	got, err := load(0)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "after the refused save", got, families[0].State())

	families[0].Revoke(noon.Add(time.Second))
	atomically(t, store, func(ctx context.Context, r ports.Repos) error {
		return r.Identity.RefreshFamilies.Update(ctx, families[0])
	})
	if got, err = load(0); err != nil {
		t.Fatal(err)
	}
	same(t, "after the revocation", got, families[0].State())

	atomically(t, store, func(ctx context.Context, r ports.Repos) error {
		return r.Identity.RefreshFamilies.DeleteExpired(ctx, families[1].State().ExpiresAt)
	})
	_, err = load(0)
	wantError(t, "the expired family", err, ports.ErrNotFound)
	if _, err = load(1); err != nil {
		t.Errorf("the family that ends at the instant itself: %v", err)
	}
}

func ensureLeavesAWaitingTaskAlone(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	ensure := func(due time.Time) {
		atomically(t, store, func(ctx context.Context, r ports.Repos) error {
			return r.Tasks.Ensure(ctx, "sweep", "platform", "", due)
		})
	}
	ensure(noon)
	ensure(noon.Add(time.Hour))
	running := claimOne(t, store, noon)
	ensure(noon) // a second replica starts while it runs
	if err := done(t, store, running); err != nil {
		t.Errorf("the run was fenced: %v", err)
	}
	claimNone(t, store, noon.Add(2*time.Hour))
}
