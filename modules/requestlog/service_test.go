package requestlog_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"sundry/adapters/gormstore"
	"sundry/core/id"
	core "sundry/core/requestlog"
	"sundry/modules/requestlog"
	"sundry/ports"
	"sundry/tests/testdb"
)

var noon = time.Date(2026, 3, 8, 12, 0, 0, 0, time.UTC)

// request is the n-th request of an account.
func request(creatorID string, n, status int) core.Record {
	return core.Record{
		ID:        id.New(id.Request, [16]byte{byte(n >> 16), byte(n >> 8), byte(n), byte(len(creatorID))}),
		CreatorID: creatorID, Method: "POST",
		Path: fmt.Sprintf("/v1/refunds/%d", n), Status: status, Duration: 1500 * time.Microsecond, Key: "sk_test_…1234",
		At: noon,
	}
}

func open(t *testing.T, engine testdb.Engine) *gormstore.Store {
	t.Helper()
	store, err := gormstore.Open(t.Context(), engine.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return store
}

func found(t *testing.T, s *requestlog.Service, creatorID string, search ports.RequestSearch) []core.Record {
	t.Helper()
	list, err := s.List(t.Context(), creatorID, search, ports.Page{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	return list.Items
}

func TestARequestIsFoundByItsIDPathAndStatus(t *testing.T) {
	t.Parallel()
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
		s := requestlog.New(open(t, engine))
		want := request("crt_1", 2, 409)
		want.Code, want.Path = "NOT_REFUNDABLE", "/v1/refunds/50%_\x00"
		s.Record(request("crt_1", 1, 200))
		s.Record(want)
		s.Record(request("crt_22", 3, 200))
		want.Path = "/v1/refunds/50%_"
		for name, search := range map[string]ports.RequestSearch{
			"id": {ID: want.ID}, "path": {Path: "FUNDS/50%_"}, "status": {Status: 409}, "class": {Status: 4},
		} {
			if got := found(t, s, "crt_1", search); len(got) != 1 || got[0] != want {
				t.Errorf("by %s: %+v, want %+v", name, got, want)
			}
		}
		if all := found(t, s, "crt_1", ports.RequestSearch{}); len(all) != 2 || all[0].ID != want.ID {
			t.Errorf("%+v, want two, the newest first", all)
		}
		for _, search := range []ports.RequestSearch{{ID: want.ID}, {Path: "50%_"}, {Status: 4}} {
			if got := found(t, s, "crt_22", search); len(got) != 0 {
				t.Errorf("another account sees %+v", got)
			}
		}
	})
}

func TestOnlyTheNewestRequestsOfAnAccountAreKept(t *testing.T) {
	t.Parallel()
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
		store := open(t, engine)
		for n := range 5 {
			if err := store.InsertRequests(
				t.Context(), []core.Record{request("crt_1", n, 200), request("crt_22", n, 200)},
			); err != nil {
				t.Fatal(err)
			}
		}
		for range 2 {
			if err := store.TrimRequests(t.Context(), "crt_1", 3); err != nil {
				t.Fatal(err)
			}
		}
		s := requestlog.New(store)
		if kept := found(t, s, "crt_1", ports.RequestSearch{}); len(kept) != 3 || kept[2].Path != "/v1/refunds/2" {
			t.Errorf("kept %+v", kept)
		}
		if others := found(t, s, "crt_22", ports.RequestSearch{}); len(others) != 5 {
			t.Errorf("another account has %d left", len(others))
		}
	})
}

// TestPressureDropsRequestsInsteadOfWaiting fills the log: neither a busy account nor successes keep refusals out.
func TestPressureDropsRequestsInsteadOfWaiting(t *testing.T) {
	t.Parallel()
	s := requestlog.New(open(t, testdb.SQLite))
	for n := range 5000 {
		s.Record(request("crt_1", n, 200))
	}
	s.Record(request("crt_1", 5000, 400))
	s.Record(request("crt_22", 5001, 200))
	if refused := found(t, s, "crt_1", ports.RequestSearch{Status: 400}); len(refused) != 1 {
		t.Errorf("%d refusals were kept, want 1", len(refused))
	}
	if others := found(t, s, "crt_22", ports.RequestSearch{}); len(others) != 1 {
		t.Errorf("another account has %d requests, want 1", len(others))
	}
	if s.Dropped() != 5000-125 {
		t.Errorf("%d were dropped", s.Dropped())
	}
}

func TestWhatCannotBeWrittenIsGivenUp(t *testing.T) {
	t.Parallel()
	store := open(t, testdb.SQLite)
	s := requestlog.New(store)
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	s.Record(request("crt_1", 1, 200))
	if err := s.Flush(t.Context()); err == nil || errors.Is(err, ports.ErrNotFound) || s.Dropped() != 1 {
		t.Errorf("%v, %d dropped", err, s.Dropped())
	}
	if err := s.Flush(t.Context()); err != nil {
		t.Errorf("nothing waits, and still: %v", err)
	}
}
