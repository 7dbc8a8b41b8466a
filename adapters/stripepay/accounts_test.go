package stripepay_test

import (
	"errors"
	"net/http"
	"slices"
	"testing"

	"sundry/adapters/stripepay"
	"sundry/core/fault"
	"sundry/core/payout"
	"sundry/ports"
	"sundry/tests/stripefake"
)

var opening = ports.PayoutAccountRequest{CreatorID: "crt_1", Email: "ada@example.com", Country: "DE"}

func TestPayoutAccountOpensOnce(t *testing.T) {
	t.Parallel()
	p, fake := newProcessor(t)
	rail := stripepay.NewRail(p)
	fake.Fail("POST /v1/accounts", stripefake.Failure{After: true, Times: 1})
	if _, err := rail.OpenAccount(t.Context(), opening); !errors.Is(err, ports.ErrOutcomeUnknown) {
		t.Errorf("a lost response: %v", err)
	}
	opened, err := rail.OpenAccount(t.Context(), opening)
	if err != nil || opened.Status != payout.AccountPending || opened.Country != "DE" ||
		!slices.Equal(opened.RequirementsDue, []string{"individual.verification.document", "external_account"}) {
		t.Fatalf("%+v, %v", opened, err)
	}
	made := fake.Latest("acct_")
	if made["id"] != opened.ID || made["type"] != "express" || made["email"] != "ada@example.com" ||
		made["metadata"].(map[string]any)["creator_id"] != "crt_1" {
		t.Errorf("%v", made)
	}
	again := opening
	again.Replaces = opened.ID
	if other, err := rail.OpenAccount(t.Context(), again); err != nil || other.ID == opened.ID {
		t.Errorf("in its place: %+v, %v", other, err)
	}

	visit := ports.PayoutAccountVisit{RailID: opened.ID, ReturnURL: "https://example.com/back",
		RefreshURL: "https://example.com/again"}
	for range 2 { // a link is good for one visit, so each visit gets its own
		if link, err := rail.LinkAccount(t.Context(), visit); err != nil || link.URL != fake.URL+"/setup/"+opened.ID ||
			link.ExpiresAt.IsZero() {
			t.Errorf("%+v, %v", link, err)
		}
	}
	if link := fake.Latest("link_"); link["return_url"] != visit.ReturnURL || link["refresh_url"] != visit.RefreshURL ||
		fake.Count("POST /v1/account_links") != 2 {
		t.Errorf("%v", link)
	}
	if unkeyed := fake.Unkeyed(); len(unkeyed) > 0 {
		t.Errorf("sent without an idempotency key: %v", unkeyed)
	}
}

func TestTheStateOfAnAccount(t *testing.T) {
	t.Parallel()
	p, fake := newProcessor(t)
	rail := stripepay.NewRail(p)
	opened, err := rail.OpenAccount(t.Context(), opening)
	if err != nil {
		t.Fatal(err)
	}
	type members = map[string]any
	for _, c := range []struct {
		name     string
		change   members
		want     payout.AccountStatus
		disabled string
	}{
		{"nothing is given yet", members{}, payout.AccountPending, "requirements.past_due"},
		{"all is given and checked", members{
			"details_submitted": true, "payouts_enabled": true, "capabilities": members{"transfers": "active"},
			"requirements": members{"disabled_reason": nil},
		}, payout.AccountReady, ""},
		{"transfers arrive and can't leave",
			members{"payouts_enabled": false, "requirements": members{"disabled_reason": "requirements.past_due"}},
			payout.AccountRestricted, "requirements.past_due"},
		{"Stripe is checking", members{"requirements": members{"disabled_reason": "requirements.pending_verification"}},
			payout.AccountPending, "requirements.pending_verification"},
		{"Stripe is looking into it", members{"requirements": members{"disabled_reason": "under_review"}},
			payout.AccountPending, "under_review"},
		{"payouts leave and transfers don't arrive", members{
			"payouts_enabled": true, "capabilities": members{"transfers": "inactive"},
			"requirements": members{"disabled_reason": "rejected.fraud"},
		}, payout.AccountRestricted, "rejected.fraud"},
		{"Stripe reports neither", members{"capabilities": nil, "requirements": nil}, payout.AccountPending, ""},
	} {
		fake.Change(opened.ID, c.change)
		if got, err := rail.FindAccount(t.Context(), opened.ID); err != nil || got.Status != c.want ||
			got.DisabledReason != c.disabled || got.ID != opened.ID {
			t.Errorf("%s: %+v, %v", c.name, got, err)
		}
	}
}

func TestWhatStripeRefusesOfAnAccount(t *testing.T) {
	t.Parallel()
	p, fake := newProcessor(t)
	rail := stripepay.NewRail(p)
	there := opening
	there.Country = stripefake.UnsupportedCountry
	if _, err := rail.OpenAccount(t.Context(), there); fault.CodeOf(err) != fault.ValidationFailed {
		t.Errorf("a country that nobody is paid in: %v", err)
	}
	for name, c := range map[string]struct {
		failure stripefake.Failure
		want    error
	}{
		"a cut connection":      {stripefake.Failure{}, ports.ErrOutcomeUnknown},
		"a fault of Stripe's":   {stripefake.Failure{Status: http.StatusInternalServerError}, ports.ErrOutcomeUnknown},
		"too many requests":     {stripefake.Failure{Status: http.StatusTooManyRequests}, ports.ErrProcessorUnavailable},
		"Connect is not set up": {stripefake.Failure{Status: http.StatusBadRequest}, ports.ErrProcessorUnavailable},
		"an account of nobody": {stripefake.Failure{Status: http.StatusNotFound, Code: "resource_missing"},
			ports.ErrNotFound},
		"an account that went": {stripefake.Failure{Status: http.StatusForbidden, Code: "account_invalid"},
			ports.ErrNotFound},
		"a key that may not do this": {stripefake.Failure{Status: http.StatusForbidden}, ports.ErrProcessorUnavailable},
	} {
		fake.Fail("/v1/account", c.failure)
		if _, err := rail.FindAccount(t.Context(), "acct_1"); !errors.Is(err, c.want) {
			t.Errorf("%s, asked for its state: %v", name, err)
		}
		if _, err := rail.LinkAccount(t.Context(), ports.PayoutAccountVisit{RailID: "acct_1"}); !errors.Is(err, c.want) {
			t.Errorf("%s, asked for its page: %v", name, err)
		}
		if _, err := rail.OpenAccount(t.Context(), opening); !errors.Is(err, c.want) {
			t.Errorf("%s, opened: %v", name, err)
		}
		fake.Heal()
	}
	if fake.Latest("acct_") != nil {
		t.Error("an account was opened")
	}
}
