package treasury_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"testing"
	"time"

	"sundry/core/fault"
	"sundry/core/payout"
	"sundry/modules/treasury"
	"sundry/ports"
)

// needy is a deployment whose rail needs an account per creator.
func needy() treasury.Config {
	cfg := config
	cfg.NeedsAccounts = true
	return cfg
}

var irish = treasury.AccountRequest{Country: "IE"}

func (w *fixture) account() payout.AccountState {
	w.t.Helper()
	a, err := w.PayoutAccount(context.Background(), creatorID)
	w.must(err)
	return a
}

// opened opens the creator's account.
func (w *fixture) opened() payout.AccountState {
	w.t.Helper()
	s, err := w.OpenAccountSession(context.Background(), creatorID, irish)
	w.must(err)
	return s.Account
}

func sameAccount(a, b payout.AccountState) bool {
	return a.ID == b.ID && a.Status == b.Status && a.Revision == b.Revision && a.DisabledReason == b.DisabledReason &&
		a.Country == b.Country && slices.Equal(a.RequirementsDue, b.RequirementsDue) && a.UpdatedAt.Equal(b.UpdatedAt)
}

func TestWhereNoAccountIsNeededPayoutsArrive(t *testing.T) {
	t.Parallel()
	forEachEngine(t, config, func(_ *testing.T, w *fixture) {
		if a := w.account(); a.Status != payout.AccountReady || a.CreatorID != creatorID {
			w.t.Errorf("%+v, want it ready", a)
		}
		// no country is needed
		s, err := w.OpenAccountSession(context.Background(), creatorID, treasury.AccountRequest{})
		if err != nil || s.Account.ID != "acct_1" {
			w.t.Errorf("%+v, %v", s, err)
		}
	})
	forEachEngine(t, needy(), func(_ *testing.T, w *fixture) {
		if a := w.account(); a.Status != payout.AccountNone || a.CreatorID != creatorID {
			w.t.Errorf("%+v, want none", a)
		}
	})
}

func TestAnAccountIsOpenedOnce(t *testing.T) {
	t.Parallel()
	forEachEngine(t, needy(), func(t *testing.T, w *fixture) {
		s, err := w.OpenAccountSession(t.Context(), creatorID, irish)
		if err != nil || s.Account.ID != "acct_1" || s.URL != "https://rail.example.com/acct_1" ||
			s.Account.Status != payout.AccountPending {
			t.Fatalf("%+v, %v", s, err)
		}
		asked := ports.PayoutAccountRequest{CreatorID: creatorID, Email: "ada@example.com", Country: "IE"}
		if w.rail.opened[0] != asked {
			t.Errorf("asked the rail for %+v, want %+v", w.rail.opened[0], asked)
		}
		want := ports.PayoutAccountVisit{
			RailID: "acct_1", ReturnURL: config.AccountPage + "/account/done", RefreshURL: config.AccountPage,
		}
		if w.rail.visits[0] != want {
			t.Errorf("linked %+v, want %+v", w.rail.visits[0], want)
		}
		own := treasury.AccountRequest{ReturnURL: "https://a.example", RefreshURL: "https://b.example"}
		again, err := w.OpenAccountSession(t.Context(), creatorID, own)
		if err != nil || again.Account.ID != "acct_1" || len(w.rail.opened) != 1 {
			t.Errorf("again: %+v, %v, %d accounts", again, err, len(w.rail.opened))
		}
		want = ports.PayoutAccountVisit{RailID: "acct_1", ReturnURL: own.ReturnURL, RefreshURL: own.RefreshURL}
		if w.rail.visits[1] != want {
			t.Errorf("linked %+v, want %+v", w.rail.visits[1], want)
		}
		if got := w.account(); !sameAccount(got, s.Account) {
			t.Errorf("stored %+v, want %+v", got, s.Account)
		}
	})
}

func TestARefusedAccountIsNotKept(t *testing.T) {
	t.Parallel()
	forEachEngine(t, needy(), func(t *testing.T, w *fixture) {
		own := errors.New("the rail's own refusal")
		for name, c := range map[string]struct {
			req   treasury.AccountRequest
			fails error
			code  fault.Code
		}{
			"without a country":      {treasury.AccountRequest{}, nil, fault.ValidationFailed},
			"in no country":          {treasury.AccountRequest{Country: "ie"}, nil, fault.ValidationFailed},
			"while the rail is down": {irish, ports.ErrProcessorUnavailable, fault.ProcessorUnavailable},
			"with a lost response":   {irish, ports.ErrOutcomeUnknown, fault.ProcessorUnavailable},
			"that the rail refuses": {
				irish, fault.New(fault.ValidationFailed, "not there"), fault.ValidationFailed,
			},
			"for a reason of the rail's ": {irish, own, fault.Internal},
		} {
			w.rail.accountFails = c.fails
			if _, err := w.OpenAccountSession(t.Context(), creatorID, c.req); fault.CodeOf(err) != c.code {
				t.Errorf("%s: %v, want %s", name, err, c.code)
			}
			if a := w.account(); a.Status != payout.AccountNone || len(w.rail.visits) != 0 {
				t.Errorf("%s: kept %+v, linked %+v", name, a, w.rail.visits)
			}
		}
		w.rail.accountFails = nil
		known := w.opened()
		w.rail.accountFails = ports.ErrNotFound // the link: the account was closed at the rail a moment ago
		_, err := w.OpenAccountSession(t.Context(), creatorID, irish)
		refused(t, err, fault.ProcessorUnavailable)
		if got := w.account(); !sameAccount(got, known) {
			t.Errorf("changed to %+v", got)
		}
	})
}

func TestOfTwoAccountsOpenedAtOnceOneStays(t *testing.T) {
	t.Parallel()
	forEachEngine(t, needy(), func(t *testing.T, w *fixture) {
		open := func() error { _, err := w.OpenAccountSession(context.Background(), creatorID, irish); return err }
		for err := range both(open) {
			if err != nil {
				t.Error(err)
			}
		}
		if a := w.account(); a.Revision != 1 || (a.ID != "acct_1" && a.ID != "acct_2") {
			t.Errorf("%+v, want the first that was kept", a)
		}
	})
}

func TestAnAccountSessionIsChecked(t *testing.T) {
	t.Parallel()
	forEachEngine(t, config, func(t *testing.T, w *fixture) {
		for name, c := range map[string]struct {
			req    treasury.AccountRequest
			fields []string
		}{
			"good": {treasury.AccountRequest{ReturnURL: "https://a.example", Country: "DE"}, nil},
			"good, both addresses": {
				req: treasury.AccountRequest{ReturnURL: "https://a.example", RefreshURL: "https://b.example"},
			},
			"everything is wrong": {
				treasury.AccountRequest{ReturnURL: "a", RefreshURL: "b", Country: "xx"},
				[]string{"returnUrl", "refreshUrl", "country"},
			},
			"no address to come to": {treasury.AccountRequest{}, []string{"returnUrl"}},
		} {
			err := w.CheckAccountSession(c.req)
			var got []string
			if f, ok := errors.AsType[*fault.Error](err); ok {
				for _, d := range f.Details {
					got = append(got, d.Field)
				}
			}
			if !slices.Equal(got, c.fields) {
				t.Errorf("%s: %v, want %v", name, got, c.fields)
			}
		}
	})
}

func TestAReportOfTheRailIsRecorded(t *testing.T) {
	t.Parallel()
	forEachEngine(t, needy(), func(t *testing.T, w *fixture) {
		opened := w.opened()
		w.clock.Advance(time.Hour)
		w.rail.report(opened.ID, payout.AccountReady, "")
		for range 2 { // doubled
			w.must(w.RefreshPayoutAccount(t.Context(), opened.ID))
		}
		ready := w.account()
		if ready.Status != payout.AccountReady || ready.Country != "IE" || ready.Revision != 2 ||
			!ready.UpdatedAt.Equal(w.clock.Real()) {
			t.Errorf("%+v", ready)
		}
		w.must(w.RefreshPayoutAccount(t.Context(), "acct_of_somebody_else"))
		w.rail.accountFails = ports.ErrProcessorUnavailable
		if err := w.RefreshPayoutAccount(t.Context(), opened.ID); !errors.Is(err, ports.ErrProcessorUnavailable) {
			t.Errorf("the rail is down: %v", err)
		}
		if got, err := w.VisitEnded(t.Context(), creatorID); err != nil || !sameAccount(got, ready) {
			t.Errorf("a rail that is down made it %+v, %v", got, err)
		}
		w.rail.accountFails = nil
		w.rail.report(opened.ID, payout.AccountRestricted, "details")
		back, err := w.VisitEnded(t.Context(), creatorID)
		if err != nil || back.Status != payout.AccountRestricted || back.DisabledReason != "details" {
			t.Errorf("back from the rail: %+v, %v", back, err)
		}
		if a, err := w.VisitEnded(t.Context(), otherID); err != nil || a.Status != payout.AccountNone {
			t.Errorf("of an account without one: %+v, %v", a, err)
		}
	})
}

// TestAnOvertakenReportIsReadAgain lets a younger report be recorded while an older one is on its way.
func TestAnOvertakenReportIsReadAgain(t *testing.T) {
	t.Parallel()
	forEachEngine(t, needy(), func(t *testing.T, w *fixture) {
		opened := w.opened()
		w.rail.report(opened.ID, payout.AccountRestricted, "old")
		w.rail.reported = func() {
			w.rail.reported = nil
			w.rail.report(opened.ID, payout.AccountReady, "")
			w.must(w.RefreshPayoutAccount(context.Background(), opened.ID))
		}
		w.must(w.RefreshPayoutAccount(t.Context(), opened.ID))
		if a := w.account(); a.Status != payout.AccountReady || a.Revision != 2 {
			t.Errorf("%+v, want the younger report", a)
		}
		reports := 0
		w.rail.reported = func() { // each time another one is faster
			reports++
			w.must(w.do(func(ctx context.Context, r ports.Repos) error {
				a := payout.RestoreAccount(w.account())
				a.Report(payout.AccountReport{
					ID: opened.ID, Status: payout.AccountPending, DisabledReason: strconv.Itoa(reports),
				}, w.clock.Real())
				return r.Treasury.Accounts.Update(ctx, a.State())
			}))
		}
		if err := w.RefreshPayoutAccount(t.Context(), opened.ID); err == nil || reports != 3 {
			t.Errorf("%v after %d reports, want an error after three", err, reports)
		}
	})
}

func TestADisconnectedAccountIsReplaced(t *testing.T) {
	t.Parallel()
	forEachEngine(t, needy(), func(t *testing.T, w *fixture) {
		first := w.opened()
		delete(w.rail.accounts, first.ID)
		w.must(w.RefreshPayoutAccount(t.Context(), first.ID))
		gone := w.account()
		if gone.Status != payout.AccountRestricted || gone.DisabledReason != payout.Disconnected || gone.Country != "IE" {
			t.Fatalf("%+v, want it disconnected", gone)
		}
		second := w.opened()
		if second.ID != "acct_2" || second.Status != payout.AccountPending || w.rail.opened[1].Replaces != first.ID {
			t.Errorf("%+v in the place of %q", second, w.rail.opened[1].Replaces)
		}
		w.must(w.RefreshPayoutAccount(t.Context(), first.ID)) // a late event about the first
		if got := w.account(); !sameAccount(got, second) {
			t.Errorf("changed to %+v", got)
		}
	})
}

func TestPayoutsWaitForAnAccount(t *testing.T) {
	t.Parallel()
	forEachEngine(t, needy(), func(t *testing.T, w *fixture) {
		want := func(waiting bool, status payout.AccountStatus, when string) {
			t.Helper()
			a, got, err := w.PayoutsWait(t.Context(), creatorID)
			if err != nil || got != waiting || a.Status != status {
				t.Errorf("%s: waiting %v, %s, %v; want %v, %s", when, got, a.Status, err, waiting, status)
			}
		}
		want(false, payout.AccountNone, "without money")
		w.earn(999)
		want(false, payout.AccountNone, "with less than a payout")
		w.earn(1)
		w.must(w.book(inCurrency(w.completed(500, 0, 0), "usd"))) // in which nothing is available
		want(true, payout.AccountNone, "with enough for a payout")
		opened := w.opened()
		want(true, payout.AccountPending, "with an account that is not ready")
		w.rail.report(opened.ID, payout.AccountReady, "")
		p, err := w.RequestPayout(t.Context(), creatorID, all("eur")) // it became ready a moment ago
		if err != nil || p.Destination != opened.ID {
			t.Errorf("%+v, %v", p, err)
		}
		w.earn(5000)
		want(false, payout.AccountReady, "with an account that is ready")
	})
	forEachEngine(t, needy(), func(t *testing.T, w *fixture) {
		w.schedule = payout.Weekly
		if _, waiting, err := w.PayoutsWait(t.Context(), creatorID); err != nil || !waiting {
			t.Errorf("with a schedule: %v, %v; want it to wait", waiting, err)
		}
	})
}
