package contract

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"sundry/core/event"
	"sundry/ports"
)

// emitAt writes one event of an account.
func emitAt(ctx context.Context, r ports.Repos, eventID string, typ event.Type, at time.Time) error {
	return r.Webhooks.Events.Insert(ctx, event.Record{
		ID: eventID, CreatorID: creator, Type: typ, Data: []byte(`{}`), CreatedAt: at,
	})
}

func listEvents(
	t *testing.T, store StoreAdapter, search ports.EventSearch, page ports.Page,
) (ids []string, list ports.List[event.Record]) {
	t.Helper()
	list, err := store.Read(t.Context()).Webhooks.Events.List(t.Context(), creator, search, page)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list.Items {
		ids = append(ids, e.ID)
	}
	return ids, list
}

// An event that was handed in first commits last: it must be behind what a poller has read.
func eventsAreListedInTheOrderOfTheirCommits(t *testing.T, db Database) {
	if db.OneProcess {
		return // its one writer writes and commits in one order
	}
	store := db.Open(t, StoreOptions{})
	now := realNow()
	atomically(t, store, func(ctx context.Context, r ports.Repos) error {
		if err := emitAt(ctx, r, "evt_1", event.PaymentCompleted, now); err != nil {
			return err
		}
		return store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error { // another transaction
			return emitAt(ctx, r, "evt_2", event.PaymentCompleted, now)
		})
	})
	if ids, _ := listEvents(t, store, ports.EventSearch{OldestFirst: true}, ports.Page{Limit: 10}); !slices.Equal(ids,
		[]string{"evt_2", "evt_1"}) {
		t.Errorf("events are listed as %v, want the order of their commits", ids)
	}
}

func aPollerMissesNoEventOfManyAtOnce(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	const writers, each = 8, 25
	var writing sync.WaitGroup
	done := make(chan struct{})
	for w := range writers {
		writing.Go(func() {
			for n := range each {
				err := store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
					for part := range 2 { // written first, committed whenever
						if err := emitAt(
							ctx, r, fmt.Sprintf("evt_%02d_%02d_%d", n, w, part), event.PaymentCompleted, realNow(),
						); err != nil {
							return err
						}
					}
					_, err := r.Sandbox.ClockOffsets.Get(ctx, creator)
					return err
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	go func() { writing.Wait(); close(done) }()
	seen := map[string]int{}
	var after ports.Cursor
	for over := false; !over; {
		select {
		case <-done:
			over = true // and one last read below
		default:
		}
		for more := true; more; {
			ids, list := listEvents(t, store, ports.EventSearch{OldestFirst: true}, ports.Page{Limit: 7, After: after})
			for _, id := range ids {
				seen[id]++
			}
			after, more = list.Last, list.Next.ID != ""
		}
	}
	if len(seen) != writers*each*2 {
		t.Errorf("the poller has seen %d events of %d", len(seen), writers*each*2)
	}
	for id, times := range seen {
		if times != 1 {
			t.Errorf("the poller has seen %s %d times", id, times)
		}
	}
}

func eventsAreFoundByTypeAndTime(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	now := realNow()
	if _, list := listEvents(t, store, ports.EventSearch{OldestFirst: true},
		ports.Page{Limit: 1}); list.Last != (ports.Cursor{}) {
		t.Errorf("an empty list ends at %+v", list.Last)
	}
	for i, typ := range []event.Type{event.PaymentCompleted, event.CustomerAccessChanged, event.PaymentCompleted} {
		atomically(t, store, func(ctx context.Context, r ports.Repos) error {
			return emitAt(ctx, r, fmt.Sprint("evt_", i), typ, now.Add(time.Duration(i)*time.Hour))
		})
	}
	for name, c := range map[string]struct {
		search ports.EventSearch
		want   []string
	}{
		"newest first": {ports.EventSearch{}, []string{"evt_2", "evt_1", "evt_0"}},
		"oldest first": {ports.EventSearch{OldestFirst: true}, []string{"evt_0", "evt_1", "evt_2"}},
		"of a type":    {ports.EventSearch{Types: []event.Type{event.PaymentCompleted}}, []string{"evt_2", "evt_0"}},
		"from then": {
			ports.EventSearch{Created: ports.Created{From: now.Add(time.Hour)}}, []string{"evt_2", "evt_1"},
		},
		"until then": {ports.EventSearch{Created: ports.Created{To: now.Add(time.Hour)}}, []string{"evt_0"}},
	} {
		if ids, _ := listEvents(t, store, c.search, ports.Page{Limit: 10}); !slices.Equal(ids, c.want) {
			t.Errorf("%s: %v, want %v", name, ids, c.want)
		}
	}
}
