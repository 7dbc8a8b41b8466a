package quota_test

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"sundry/core/fault"
	"sundry/core/quota"
)

func TestTable(t *testing.T) {
	t.Parallel()
	seen := map[quota.Resource]bool{}
	for _, row := range quota.Table() {
		if seen[row.Resource] || row.Of == "" || row.Live == 0 {
			t.Errorf("%+v: each resource has one row, words and a limit in live", row)
		}
		seen[row.Resource] = true
		if row.Sandbox != 0 && row.Sandbox < row.Live {
			t.Errorf("%s: the sandbox allows %d, fewer than the %d of live", row.Resource, row.Sandbox, row.Live)
		}
		if row.Default(true) != row.Live || row.Default(false) != row.Sandbox {
			t.Errorf("%s: defaults %d and %d", row.Resource, row.Default(true), row.Default(false))
		}
	}
	if _, ok := quota.Find("bicycles"); ok {
		t.Error("found a resource that does not exist")
	}
}

func TestTable_IsDocumented(t *testing.T) {
	t.Parallel()
	document, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range quota.Table() {
		if !strings.Contains(string(document), "\n| `"+string(row.Resource)+"` |") {
			t.Errorf("docs/operations.md has no line for the limit %s", row.Resource)
		}
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	row, _ := quota.Find(quota.Listings)
	for name, c := range map[string]struct {
		limit, used int64
		refused     bool
	}{
		"below":    {3, 2, false},
		"the last": {3, 3, false},
		"one more": {3, 4, true},
		"no limit": {0, 1_000_000, false},
	} {
		err := row.Check(c.limit, c.used)
		if fault.Is(err, fault.LimitReached) != c.refused || c.refused && !strings.Contains(err.Error(), "3 listings") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTooMany(t *testing.T) {
	t.Parallel()
	row, _ := quota.Find(quota.Sessions)
	var f *fault.Error
	if err := row.TooMany(7 * time.Second); !errors.As(err, &f) || f.Code != fault.RateLimited ||
		f.RetryAfter != 7*time.Second || !strings.Contains(err.Error(), "new checkout sessions") {
		t.Errorf("got %v", err)
	}
}

func TestParseOverride(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]quota.Override{
		"listings=50":      {Resource: quota.Listings, Value: 50},
		"requests=none":    {Resource: quota.Requests},
		"requests=default": {Resource: quota.Requests, Reset: true},
	} {
		if got, err := quota.ParseOverride(text); err != nil || got != want {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{
		"", "listings", "listings=", "listings=0", "listings=-1", "listings=1.5", "listings=1000000001", "bicycles=5",
	} {
		if got, err := quota.ParseOverride(text); !fault.Is(err, fault.ValidationFailed) {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
}
