package payout_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"sundry/core/fault"
	"sundry/core/payout"
)

func account(status payout.AccountStatus) payout.AccountState {
	return payout.AccountState{
		CreatorID: "crt_1", AccountReport: payout.AccountReport{ID: "acct_1", Country: "DE", Status: status,
			RequirementsDue: []string{"a", "b"}},
		CreatedAt: now, UpdatedAt: now, Revision: 1,
	}
}

func TestOnlyAReadyAccountReceivesPayouts(t *testing.T) {
	t.Parallel()
	for status, refusal := range map[payout.AccountStatus]string{
		payout.AccountNone: "no payout account yet", payout.AccountPending: "isn't ready yet", payout.AccountReady: "",
		payout.AccountRestricted: "is restricted",
	} {
		ready := refusal == ""
		p, posting, err := payout.Ask("po_1", "crt_1", payout.Request{}, payout.Funds{Available: eur(5000), Minimum: 1000,
			Account: account(status)}, now)
		if ready != (err == nil) || ready != (p != nil) || ready == posting.Empty() {
			t.Errorf("%s: %+v, %v", status, posting, err)
		}
		if !ready && (!fault.Is(err, fault.StateConflict) || !strings.Contains(err.Error(), refusal)) {
			t.Errorf("%s: %v", status, err)
		}
	}
}

func TestAnAccountFollowsTheReportsOfTheRail(t *testing.T) {
	t.Parallel()
	later := now.Add(time.Hour)
	made := payout.NewAccount("crt_1", payout.AccountReport{ID: "acct_1", Country: "DE", Status: payout.AccountPending,
		RequirementsDue: []string{"b", "a", "b"}}, now)
	if !reflect.DeepEqual(made.State(), account(payout.AccountPending)) {
		t.Errorf("opened: %+v", made.State())
	}
	for name, c := range map[string]struct {
		report  payout.AccountReport
		changed bool
	}{
		"the same, in another order": {payout.AccountReport{ID: "acct_1", Country: "DE", Status: payout.AccountPending,
			RequirementsDue: []string{"b", "a"}}, false},
		"the same, without a country": {payout.AccountReport{ID: "acct_1", Status: payout.AccountPending,
			RequirementsDue: []string{"a", "b"}}, false},
		"another account": {payout.AccountReport{ID: "acct_2", Status: payout.AccountReady}, false},
		"it is ready":     {payout.AccountReport{ID: "acct_1", Country: "DE", Status: payout.AccountReady}, true},
		"less is due": {payout.AccountReport{ID: "acct_1", Country: "DE", Status: payout.AccountPending,
			RequirementsDue: []string{"a"}}, true},
		"it is restricted": {payout.AccountReport{ID: "acct_1", Country: "DE", Status: payout.AccountRestricted,
			RequirementsDue: []string{"a", "b"}}, true},
		"there is a reason": {payout.AccountReport{ID: "acct_1", Country: "DE", Status: payout.AccountPending,
			RequirementsDue: []string{"a", "b"}, DisabledReason: "listed"}, true},
	} {
		a := payout.RestoreAccount(account(payout.AccountPending))
		if changed := a.Report(c.report, later); changed != c.changed {
			t.Errorf("%s: changed %v", name, changed)
		}
		got := a.State()
		if !c.changed && !reflect.DeepEqual(got, account(payout.AccountPending)) {
			t.Errorf("%s: %+v", name, got)
		}
		if c.changed && (got.Revision != 2 || !got.UpdatedAt.Equal(later) || !got.CreatedAt.Equal(now) ||
			!reflect.DeepEqual(got.AccountReport, c.report) || got.CreatorID != "crt_1") {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestPayoutAccountKeepsItsFirstCountry(t *testing.T) {
	t.Parallel()
	report := payout.AccountReport{ID: "acct_1", Status: payout.AccountReady}
	a := payout.NewAccount("crt_1", report, now)
	for _, c := range []struct {
		reported, want string
		changed        bool
	}{{"", "", false}, {"DE", "DE", true}, {"", "DE", false}} {
		report.Country = c.reported
		if changed := a.Report(report, now); changed != c.changed || a.State().Country != c.want {
			t.Errorf("%q is reported: changed %v, %q", c.reported, changed, a.State().Country)
		}
	}
}

func TestOnlyADisconnectedAccountIsReplaced(t *testing.T) {
	t.Parallel()
	next := payout.AccountReport{ID: "acct_2", Country: "FR", Status: payout.AccountPending}
	a := payout.RestoreAccount(account(payout.AccountReady))
	if a.Replace(next, now) || !reflect.DeepEqual(a.State(), account(payout.AccountReady)) {
		t.Errorf("a ready one: %+v", a.State())
	}
	if !a.Disconnect(now) || a.Disconnect(now) {
		t.Error("it is disconnected once")
	}
	if s := a.State(); s.CanReceive() || s.Status != payout.AccountRestricted || s.DisabledReason != payout.Disconnected ||
		s.ID != "acct_1" || s.Country != "DE" || s.Revision != 2 {
		t.Errorf("disconnected: %+v", s)
	}
	if a.Replace(payout.AccountReport{ID: "acct_1"}, now) {
		t.Error("by itself")
	}
	if !a.Replace(next, now) || a.State().ID != "acct_2" || a.State().Country != "FR" || a.State().DisabledReason != "" ||
		a.State().Revision != 3 {
		t.Errorf("replaced: %+v", a.State())
	}
}

func TestTheCountryOfAnAccount(t *testing.T) {
	t.Parallel()
	for code, fine := range map[string]bool{"": true, "DE": true, "de": false, "XX": false, "DEU": false} {
		var f fault.Violations
		if payout.CheckCountry(&f, "country", code); (f.Err() == nil) != fine {
			t.Errorf("%q: %v", code, f.Err())
		}
	}
}

func TestHowAnAccountIsShown(t *testing.T) {
	t.Parallel()
	if v := (payout.AccountState{AccountReport: payout.AccountReport{Status: payout.AccountNone}}).View(); v.AccountID != nil || v.Country != nil || v.RequirementsDue == nil ||
		len(v.RequirementsDue) != 0 || v.DisabledReason != nil || v.CreatedAt != nil || v.UpdatedAt != nil ||
		v.Status != "none" {
		t.Errorf("%+v", v)
	}
	if v := account(payout.AccountPending).View(); *v.AccountID != "acct_1" || *v.Country != "DE" ||
		len(v.RequirementsDue) != 2 || v.CreatedAt == nil || v.UpdatedAt == nil {
		t.Errorf("%+v", v)
	}
}
