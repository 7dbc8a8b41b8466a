package e2e_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"sundry/tests/harness"
	"sundry/tests/testdb"
)

// advanceFar moves the clock over as many calls as it takes: one call does only so much work.
func advanceFar(t *testing.T, a *harness.Account, to time.Time) {
	t.Helper()
	for range 100 {
		response := a.AsBackend(t, http.MethodPost, "/v1/sandbox/clock/advance", harness.JSON{
			"to": to.Format(time.RFC3339Nano),
		})
		if response.Status == 200 {
			return
		}
		response.Refuses(t, 409, "STATE_CONFLICT")
	}
	t.Fatal("the clock never arrives")
}

// all reads a list to its end, oldest first.
func all(t *testing.T, a *harness.Account, path string, query url.Values) (items []json.RawMessage) {
	t.Helper()
	query.Set("limit", "100")
	for {
		var page struct {
			Data       []json.RawMessage
			NextCursor *string
		}
		a.AsBackend(t, http.MethodGet, path+"?"+query.Encode(), nil).Want(t, 200).Into(t, &page)
		items = append(items, page.Data...)
		if page.NextCursor == nil || len(page.Data) == 0 {
			slices.Reverse(items)
			return items
		}
		query.Set("cursor", *page.NextCursor)
	}
}

// allAs is all, decoded.
func allAs[T any](t *testing.T, a *harness.Account, path string, query url.Values) []T {
	t.Helper()
	rows := all(t, a, path, query)
	items := make([]T, len(rows))
	for i, row := range rows {
		if err := json.Unmarshal(row, &items[i]); err != nil {
			t.Fatal(err)
		}
	}
	return items
}

var (
	idPattern      = regexp.MustCompile(`[a-z]{2,4}_[0-9a-z]{26}`)
	receiptPattern = regexp.MustCompile(`[0-9A-Z]{6}-([RCI])-`)
	secretPattern  = regexp.MustCompile(`/[0-9a-z]{52}\b`)
	slugPattern    = regexp.MustCompile(`plans-[0-9a-z]{12}`)
	timePattern    = regexp.MustCompile(`(T\d\d:\d\d):\d\d\.\d{3}Z`)
)

// books is everything that an account's subscription left behind, as text: ids named in the order in which they
// appear, and times cut to the minute, for the clock runs on while work is done.
func books(t *testing.T, a *harness.Account, customer string) string {
	t.Helper()
	var text strings.Builder
	for _, list := range []string{"/v1/events", "/v1/payments", "/v1/ledger/entries", "/v1/subscriptions"} {
		fmt.Fprintln(&text, list)
		rows := all(t, a, list, url.Values{})
		switch list {
		case "/v1/ledger/entries": // the legs of a posting have no order
			slices.SortStableFunc(rows, func(a, b json.RawMessage) int { return cmp.Compare(leg(t, a), leg(t, b)) })
		case "/v1/events": // nor have things that fall due together: an announcement is due when what it announces is done, which takes time
			slices.SortStableFunc(
				rows, func(a, b json.RawMessage) int { return cmp.Compare(happening(t, a), happening(t, b)) },
			)
		}
		for _, row := range rows {
			text.Write(append(row, '\n'))
		}
	}
	for _, path := range []string{"", "/explain"} {
		text.Write(
			append(a.AsBackend(t, http.MethodGet, "/v1/customer-access/"+customer+path, nil).Want(t, 200).Body, '\n'),
		)
	}
	names := map[string]string{}
	named := idPattern.ReplaceAllStringFunc(text.String(), func(id string) string {
		if names[id] == "" {
			prefix, _, _ := strings.Cut(id, "_")
			names[id] = fmt.Sprintf("%s_%d", prefix, len(names)+1)
		}
		return names[id]
	})
	named = secretPattern.ReplaceAllString(named, "/secret")
	named = slugPattern.ReplaceAllString(named, "plans")
	named = receiptPattern.ReplaceAllString(named, "ACCOUNT-$1-")
	return timePattern.ReplaceAllString(named, "$1")
}

// happening orders events by their minute, and within one by what they are.
func happening(t *testing.T, row json.RawMessage) string {
	t.Helper()
	var e struct{ CreatedAt, Type string }
	if err := json.Unmarshal(row, &e); err != nil {
		t.Fatal(err)
	}
	return timePattern.ReplaceAllString(e.CreatedAt, "$1") + e.Type
}

// leg orders ledger entries by when they were posted, and within a posting by what they are.
func leg(t *testing.T, row json.RawMessage) string {
	t.Helper()
	var e struct{ CreatedAt, PostingID, Kind, Account string }
	if err := json.Unmarshal(row, &e); err != nil {
		t.Fatal(err)
	}
	return e.CreatedAt + e.PostingID + e.Kind + e.Account
}

func TestThirteenMonthsInOneAdvanceAreThirteenAdvances(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]time.Time{
		"from the 31st":       time.Date(2027, 12, 31, 10, 0, 20, 0, time.UTC), // over a leap day
		"from the 29th":       time.Date(2027, 1, 29, 10, 0, 20, 0, time.UTC),
		"with a failing card": time.Date(2027, 3, 30, 10, 0, 20, 0, time.UTC),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			harness.Each(t, func(t *testing.T, app *harness.App) {
				live := func(steps int) string {
					a, customer := app.NewAccount(t), "ada"
					listing := plans(t, a, 14)
					advanceFar(t, a, start)
					card := harness.CardSucceeds
					if strings.Contains(name, "failing") {
						card = cardFailsLater
					}
					subscribe(t, a, listing, "basic", customer, card)
					for n := 1; n <= steps; n++ {
						advanceFar(t, a, start.AddDate(0, 0, 400*n/steps))
					}
					return books(t, a, customer)
				}
				once, often := live(1), live(13)
				if once != often {
					t.Errorf("the first difference:\n%s", difference(once, often))
				}
			})
		})
	}
}

func difference(a, b string) string {
	left, right := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range left {
		if i >= len(right) || left[i] != right[i] {
			other := "nothing"
			if i < len(right) {
				other = right[i]
			}
			return fmt.Sprintf("line %d of %d and %d\n%s\n%s", i, len(left), len(right), left[i], other)
		}
	}
	return "the second is longer"
}

// TestAccessThatARefundKeepsIsSound refunds a change of plan, and then what else the period was paid by, which leaves
// the access.
func TestAccessThatARefundKeepsIsSound(t *testing.T) {
	t.Parallel()
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
		app := harness.New(t, engine, nil)
		a := app.NewAccount(t)
		sub := subscribe(t, a, plans(t, a, 0), "basic", "ada", harness.CardSucceeds)
		a.AsBackend(t, http.MethodPost, "/v1/subscriptions/"+sub.ID+"/change",
			harness.JSON{"plan": "studio", "interval": "month", "prorationMode": "charge_now"}).Want(t, 200)
		paid := all(t, a, "/v1/payments", url.Values{"status": {"succeeded"}})
		if len(paid) != 2 {
			t.Fatalf("%d payments, want that of the checkout and that of the change", len(paid))
		}
		for i, keep := range []bool{false, true} { // newest first
			var p struct{ ID string }
			if err := json.Unmarshal(paid[i], &p); err != nil {
				t.Fatal(err)
			}
			a.AsBackend(t, http.MethodPost, "/v1/refunds", harness.JSON{
				"paymentId": p.ID, "reason": "asked", "keepAccess": keep, "subscription": "keep",
			}).Want(t, 201)
		}
		verified(t, app)
	})
}
