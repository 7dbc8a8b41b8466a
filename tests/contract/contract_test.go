package contract_test

import (
	"context"
	"crypto/rand"
	"log/slog"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"sundry/adapters/gormstore"
	"sundry/adapters/jobs"
	"sundry/adapters/sandboxpay"
	"sundry/adapters/system"
	"sundry/core/fault"
	"sundry/ports"
	"sundry/tests/contract"
	"sundry/tests/testdb"
	"sundry/tests/testredis"
)

// database makes the databases of an engine.
func database(engine testdb.Engine) func(t *testing.T) contract.Database {
	return func(t *testing.T) contract.Database {
		t.Helper()
		address := engine.URL(t)
		return contract.Database{
			OneProcess: engine.Name == testdb.SQLite.Name,
			Open: func(t *testing.T, o contract.StoreOptions) contract.StoreAdapter {
				t.Helper()
				store, err := gormstore.Open(t.Context(), address, optionsOf(o)...)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() {
					if err := store.Close(); err != nil {
						t.Errorf("close %s: %v", engine.Name, err)
					}
				})
				return store
			},
			Disconnect: func(t *testing.T) {
				t.Helper()
				execute(
					t, address,
					"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
				)
			},
		}
	}
}

func optionsOf(o contract.StoreOptions) (options []gormstore.Option) {
	if o.ClassOf != nil {
		options = append(options, gormstore.TaskClasses(o.ClassOf))
	}
	if o.KeyOf != nil {
		options = append(options, gormstore.TaskKeys(o.KeyOf))
	}
	if o.OnScheduled != nil {
		options = append(options, gormstore.OnScheduled(o.OnScheduled))
	}
	return options
}

func execute(t *testing.T, address, statement string) {
	t.Helper()
	db, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close(t.Context()) }()
	if _, err := db.Exec(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

func TestStore(t *testing.T) {
	t.Parallel()
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) { contract.Store(t, database(engine)) })
}

func inProcess(*testing.T) contract.Queue {
	return contract.Queue{NewDispatcher: func(
		mux *jobs.Mux, queue ports.TaskQueue, log *slog.Logger,
	) contract.RunningDispatcher {
		return jobs.NewInline(mux, queue, log)
	}}
}

func asynq(redisDB int) func(t *testing.T) contract.Queue {
	return func(t *testing.T) contract.Queue {
		t.Helper()
		client, prefix := testredis.Client(t, redisDB), "test-"+rand.Text()
		return contract.Queue{
			NewDispatcher: func(mux *jobs.Mux, _ ports.TaskQueue, log *slog.Logger) contract.RunningDispatcher {
				return jobs.NewAsynq(client, prefix, mux, log)
			},
			Empty: func(t *testing.T) {
				t.Helper()
				if err := client.FlushDB(t.Context()).Err(); err != nil {
					t.Fatal(err)
				}
			},
		}
	}
}

func TestDispatcherInProcess(t *testing.T) {
	t.Parallel()
	testdb.EachEngine(
		t, func(t *testing.T, engine testdb.Engine) { contract.Dispatcher(t, database(engine), inProcess) },
	)
}

func TestDispatcherAsynq(t *testing.T) {
	t.Parallel()
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
		contract.Dispatcher(t, database(engine), asynq(testredis.Shared))
		contract.SharedDispatcher(t, database(engine), asynq(testredis.Shared))
		contract.DispatcherOverVolatileQueue(t, database(engine), asynq(testredis.Dispatch))
	})
}

func TestProcessorSandbox(t *testing.T) {
	t.Parallel()
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
		contract.Processor(t, func(t *testing.T) contract.ProcessorFixture { return sandboxProcessor(t, engine) })
	})
}

func sandboxProcessor(t *testing.T, engine testdb.Engine) contract.ProcessorFixture {
	t.Helper()
	address := engine.URL(t)
	store, err := gormstore.Open(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	processor := sandboxpay.New(store)
	card := func(number string) string {
		var f fault.Violations
		method := processor.Method(ports.CardInput{Number: number}, &f)
		if f.Err() != nil {
			t.Fatalf("there is no test card %s", number)
		}
		return method
	}
	return contract.ProcessorFixture{
		Processor: processor, CreatorID: "crt_1",
		Cards: contract.ProcessorCards{
			Succeeds: card("4242 4242 4242 4242"), Declines: card("4000 0000 0000 0002"),
			Challenges:  card("4000 0027 6000 3184"),
			PresentOnly: card("4000 0000 0000 0341"), TimesOut: card("4000 0000 0000 9003"),
		},
		Refunded: func(t *testing.T, paymentID string) int64 {
			t.Helper()
			return engine.Int(
				t, address, "SELECT COALESCE(SUM(amount), 0) FROM sandbox_refunds WHERE payment_id = '"+paymentID+"'",
			)
		},
	}
}

func TestClockOfTheSandbox(t *testing.T) {
	t.Parallel()
	testdb.EachStore(t, func(t *testing.T, store *gormstore.Store) {
		contract.Clock(t, func(*testing.T) contract.ClockFixture {
			return contract.ClockFixture{
				Clock: system.NewClock(store, true),
				Advance: func(t *testing.T, creatorID string, offset time.Duration) {
					t.Helper()
					err := store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
						return r.Sandbox.ClockOffsets.Advance(ctx, creatorID, offset)
					})
					if err != nil {
						t.Fatal(err)
					}
				},
			}
		})
	})
}

func TestClockOfLive(t *testing.T) {
	t.Parallel()
	contract.Clock(t, func(*testing.T) contract.ClockFixture {
		return contract.ClockFixture{Clock: system.NewClock(nil, false)}
	})
}

func TestTheTextSearchHasItsIndexOnPostgres(t *testing.T) {
	t.Parallel()
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
		url := engine.URL(t)
		store, err := gormstore.Open(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = store.Close() }()
		for range 2 { // the tuning runs at every start
			if err := store.Migrate(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if engine.Name != testdb.Postgres.Name {
			return
		}
		db, err := pgx.Connect(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = db.Close(t.Context()) }()
		var valid bool
		if err := db.QueryRow(t.Context(), "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass('listings_search')").Scan(&valid); err != nil || !valid {
			t.Errorf("valid %v, %v", valid, err)
		}
	})
}
