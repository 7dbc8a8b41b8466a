package e2e_test

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sundry/adapters/cli"
	"sundry/tests/harness"
	"sundry/tests/testdb"
)

// TestTheDemoCreatorCanBeBoughtFromAtOnce follows what the first start prints, and opens the calendar of the
// appointment listing beside it.
func TestTheDemoCreatorCanBeBoughtFromAtOnce(t *testing.T) {
	t.Parallel()
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
		app := harness.New(t, engine, nil)
		demo, err := app.Program.SeedIfEmpty(t.Context())
		if err != nil || demo == nil {
			t.Fatalf("%+v, %v", demo, err)
		}
		var printed strings.Builder
		if err := demo.Print(&printed, app.URL); err != nil {
			t.Fatal(err)
		}
		lines := printed.String()
		if strings.Count(lines, "\ncurl ") != 3 || strings.Count(lines, demo.PaymentLink) != 1 {
			t.Errorf("printed:\n%s", lines)
		}
		var offered struct{ ID string }
		app.Ask(t, harness.Request{Method: get, Path: "/v1/listings/one-hour"}).Want(t, 200).Into(t, &offered)
		today := time.Now()
		days := app.Ask(t, harness.Request{Method: get, Path: "/v1/listings/" + offered.ID + "/available-dates",
			Query: pairs([]string{
				"from", today.Format(time.DateOnly), "to", today.AddDate(0, 0, 7).Format(time.DateOnly),
			})}).Want(t, 200).Map(t)
		if dates, _ := days["dates"].([]any); len(dates) < 4 {
			t.Errorf("open days of the next week: %v", dates)
		}
		var session harness.Session
		app.Ask(t, harness.Request{Method: post, Path: "/v1/checkout-sessions", Bearer: demo.SecretKey, Body: harness.JSON{
			"listingId": offered.ID, "successUrl": "http://localhost:3000/welcome",
			"cancelUrl": "http://localhost:3000/pricing",
		}}).Want(t, 201).Into(t, &session)
		page := app.Ask(t, harness.Request{Method: get, Path: "/c/" + session.Secret()}).Want(t, 200)
		if !strings.Contains(string(page.Body), `role="grid"`) {
			t.Errorf("the checkout shows no calendar: %s", page.Body)
		}
		if again, err := app.Program.SeedIfEmpty(t.Context()); err != nil || again != nil {
			t.Errorf("seeded twice: %+v, %v", again, err)
		}
	})
}

func TestSeveralProcessesMakeOneDemoCreator(t *testing.T) {
	t.Parallel()
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
		app := harness.New(t, engine, nil)
		var made atomic.Int32
		var starts sync.WaitGroup
		for range 4 {
			starts.Go(func() {
				demo, err := app.Program.SeedIfEmpty(t.Context())
				if err != nil {
					t.Error(err)
				}
				if demo != nil {
					made.Add(1)
				}
			})
		}
		starts.Wait()
		if n := made.Load(); n != 1 {
			t.Errorf("%d demo creators", n)
		}
	})
}

func TestOneOfSeveralCellsHasTheDemoCreator(t *testing.T) {
	t.Parallel()
	directory := testdb.Postgres.URL(t)
	cell := func(number string) *harness.App {
		return harness.New(t, testdb.Postgres, map[string]string{"CELL": number, "DIRECTORY_URL": directory})
	}
	first, second := cell("1"), cell("2")
	if demo, err := first.Program.SeedIfEmpty(t.Context()); err != nil || demo == nil {
		t.Fatalf("the first cell: %+v, %v", demo, err)
	}
	if demo, err := first.Program.SeedIfEmpty(t.Context()); err != nil || demo != nil {
		t.Errorf("the first cell again: %+v, %v", demo, err)
	}
	if demo, err := second.Program.SeedIfEmpty(t.Context()); !errors.Is(err, cli.ErrDemoElsewhere) || demo != nil {
		t.Errorf("the second cell: %+v, %v; want %v", demo, err, cli.ErrDemoElsewhere)
	}
}
