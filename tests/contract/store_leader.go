package contract

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// leader is one process that would lead.
type leader struct {
	leading atomic.Bool
	stop    context.CancelFunc
	done    sync.WaitGroup
}

func startLeader(t *testing.T, db Database, begun *atomic.Int64) *leader {
	t.Helper()
	store := db.Open(t, StoreOptions{})
	ctx, cancel := context.WithCancel(context.Background())
	l := &leader{stop: cancel}
	l.done.Go(func() {
		store.RunAsLeader(ctx, "test", func(ctx context.Context) {
			begun.Add(1)
			l.leading.Store(true)
			<-ctx.Done()
			l.leading.Store(false)
		})
	})
	t.Cleanup(l.leave)
	return l
}

func (l *leader) leave() { l.stop(); l.done.Wait() }

func awaitLead(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for end := time.Now().Add(15 * time.Second); !condition(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("still not so: %s", what)
		}
	}
}

func oneProcessLeadsAndTheNextTakesOver(t *testing.T, db Database) {
	var begun atomic.Int64
	first := startLeader(t, db, &begun)
	awaitLead(t, "the first leads", first.leading.Load)
	if db.OneProcess { // the one process leads until it ends
		first.leave()
		if first.leading.Load() || begun.Load() != 1 {
			t.Errorf("it began %d times and leads %v", begun.Load(), first.leading.Load())
		}
		return
	}
	second := startLeader(t, db, &begun)
	time.Sleep(2500 * time.Millisecond)
	if second.leading.Load() || begun.Load() != 1 {
		t.Fatalf("two lead: %d began", begun.Load())
	}
	first.leave()
	if first.leading.Load() {
		t.Error("who has left leads")
	}
	awaitLead(t, "the second has taken over", second.leading.Load)
	third := startLeader(t, db, &begun)
	db.Disconnect(t) // the database was restarted
	awaitLead(t, "somebody has begun again", func() bool { return begun.Load() == 3 })
	awaitLead(t, "one leads", func() bool { return second.leading.Load() != third.leading.Load() })
}
