package contract

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"sundry/adapters/gormstore"
	"sundry/tests/testdb"
)

// leader is one process that would lead.
type leader struct {
	store   *gormstore.Store
	leading atomic.Bool
	stop    context.CancelFunc
	done    sync.WaitGroup
}

func startLeader(t *testing.T, address string, begun *atomic.Int64) *leader {
	t.Helper()
	store, err := gormstore.Open(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	l := &leader{store: store, stop: cancel}
	l.done.Go(func() {
		store.Lead(ctx, "test", func(ctx context.Context) {
			begun.Add(1)
			l.leading.Store(true)
			<-ctx.Done()
			l.leading.Store(false)
		})
	})
	t.Cleanup(func() { l.leave(); _ = store.Close() })
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

func TestOneProcessLeadsAndTheNextTakesOver(t *testing.T) {
	t.Parallel()
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
		address := engine.URL(t)
		var begun atomic.Int64
		first := startLeader(t, address, &begun)
		awaitLead(t, "the first leads", first.leading.Load)
		if engine.Name == testdb.SQLite.Name { // the one process leads until it ends
			first.leave()
			if first.leading.Load() || begun.Load() != 1 {
				t.Errorf("it began %d times and leads %v", begun.Load(), first.leading.Load())
			}
			return
		}
		second := startLeader(t, address, &begun)
		time.Sleep(2500 * time.Millisecond)
		if second.leading.Load() || begun.Load() != 1 {
			t.Fatalf("two lead: %d began", begun.Load())
		}
		first.leave()
		if first.leading.Load() {
			t.Error("who has left leads")
		}
		awaitLead(t, "the second has taken over", second.leading.Load)
		third := startLeader(t, address, &begun)
		cutConnections(t, address) // the database was restarted
		awaitLead(t, "somebody has begun anew", func() bool { return begun.Load() == 3 })
		awaitLead(t, "one leads", func() bool { return second.leading.Load() != third.leading.Load() })
	})
}

// cutConnections ends every other connection to the database.
func cutConnections(t *testing.T, address string) {
	t.Helper()
	db, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close(t.Context()) }()
	_, err = db.Exec(t.Context(), "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()")
	if err != nil {
		t.Fatal(err)
	}
}
