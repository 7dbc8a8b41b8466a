package e2e_test

import (
	"fmt"
	"strings"
	"testing"

	"sundry/tests/harness"
	"sundry/tests/stripefake"
)

// account is the payout account as the API shows it.
func (s stripeShop) account(t *testing.T) map[string]any {
	t.Helper()
	return s.AsBackend(t, get, "/v1/payout-account", nil).Want(t, 200).Map(t)
}

// reports makes Stripe send an event of the connected account, and waits for a status.
func (s stripeShop) reports(t *testing.T, eventID, accountID, want string) {
	t.Helper()
	s.accountEvent(t, eventID, accountID).Want(t, 200)
	harness.Eventually(t, "the account is "+want, func() bool { return s.account(t)["status"] == want })
}

// processed waits until every event so far was read again. Their tasks belong to no account, so an advance of its clock
// does not run them: one that is late would read what the stand-in reports by then.
func (s stripeShop) processed(t *testing.T) {
	t.Helper()
	harness.Eventually(t, "every event is processed", func() bool {
		return s.app.Count(t, "SELECT COUNT(*) FROM tasks WHERE kind = 'processor.event'") == 0
	})
}

func (s stripeShop) accountEvent(t *testing.T, eventID, accountID string) *harness.Response {
	t.Helper()
	return s.signed(t, harness.JSON{
		"id": eventID, "object": "event", "type": "account.updated", "livemode": false, "account": accountID,
		// The state in the event is old: it is read again.
		"data": harness.JSON{"object": harness.JSON{"id": accountID, "payouts_enabled": false}},
	})
}

func (s stripeShop) payoutStatuses(t *testing.T) (all []string) {
	t.Helper()
	var list struct{ Data []listedPayout }
	s.AsBackend(t, get, "/v1/payouts", nil).Want(t, 200).Into(t, &list)
	for _, p := range list.Data {
		all = append(all, fmt.Sprintf("%s %d", p.Status, p.AmountInCents))
	}
	return all
}

func (s stripeShop) advanceDays(t *testing.T, days int) {
	t.Helper()
	s.AsBackend(t, post, "/v1/sandbox/clock/advance", harness.JSON{"seconds": days * 24 * 3600}).Want(t, 200)
}

// A creator without an account at Stripe earns, and waits: nothing fails day after day. Once Stripe reports the
// account as ready, the next scheduled payout arrives there.
func TestPayoutsWaitForAPayoutAccount(t *testing.T) {
	t.Parallel()
	eachStripe(t, func(t *testing.T, s stripeShop) {
		s.AsCreator(t, patch, "/v1/creator", harness.JSON{"payoutSchedule": "daily"}).Want(t, 200)
		s.submit(t, s.open(t), stripefake.Succeeds).Want(t, 200)
		s.advanceDays(t, 10)
		if got := s.payoutStatuses(t); len(got) != 0 {
			t.Fatalf("without an account: %v", got)
		}
		s.AsBackend(t, post, "/v1/payouts", harness.JSON{"currency": "eur"}).Refuses(t, 409, "STATE_CONFLICT")
		v := s.Visit(t)
		if home := v.Open(t, "/dashboard"); !strings.Contains(home.Body, "you have no payout account yet") {
			t.Error("home does not show that payouts wait")
		}

		v.Open(t, "/dashboard/balance")
		if policy := v.Page.Header.Get("Content-Security-Policy"); !strings.Contains(policy,
			"form-action 'self' https://connect.stripe.com;") {
			t.Errorf("the form may not lead to Stripe: %s", policy)
		}
		v.Send(t, "/dashboard/balance/account", "country", "DE")
		accountID := text(t, s.account(t)["accountId"])
		if v.Page.Path != "/setup/"+accountID {
			t.Fatalf("the button led to %s", v.Page.Path)
		}
		if link := s.fake.Latest("link_"); !strings.HasSuffix(text(t, link["return_url"]),
			"/dashboard/balance/account/done") || !strings.HasSuffix(text(t, link["refresh_url"]), "/dashboard/balance") {
			t.Errorf("%v", link)
		}
		if back := v.Open(t, "/dashboard/balance/account/done"); !strings.Contains(back.Body, "Continue at Stripe") ||
			!strings.Contains(back.Body, "external account") {
			t.Errorf("back, with nothing filled in: %s", back.Body)
		}
		if a := s.account(t); a["status"] != "pending" || a["country"] != "DE" || len(a["requirementsDue"].([]any)) != 2 {
			t.Errorf("%v", a)
		}
		s.advanceDays(t, 2)
		if got := s.payoutStatuses(t); len(got) != 0 {
			t.Errorf("while pending: %v", got)
		}

		s.fake.Onboard(accountID)
		s.reports(t, "evt_ready", accountID, "ready")
		s.advanceDays(t, 1)
		// Of 20.00 euros 3.74 are Irish VAT, and the platform keeps 1.00.
		if got := fmt.Sprint(s.payoutStatuses(t)); got != "[paid 1526]" {
			t.Errorf("once it is ready: %s", got)
		}
		if sent := s.fake.Latest("tr_"); sent["destination"] != accountID || fmt.Sprint(sent["amount"]) != "1526" {
			t.Errorf("%v", sent)
		}
		if home := v.Open(t, "/dashboard"); strings.Contains(home.Body, "payouts wait") {
			t.Error("home still shows that payouts wait")
		}
		verified(t, s.app)
	})
}

// loggedAccount checks that the audit log has one line of the account.
func (s stripeShop) loggedAccount(t *testing.T, accountID string) {
	t.Helper()
	lines := (&fixture{Account: s.Account}).auditLog(t, "payout_account_changed")
	if len(lines) != 1 || lines[0].ObjectID != accountID || lines[0].Actor == nil || lines[0].Actor.Type != "api_key" {
		t.Errorf("the audit log has %+v", lines)
	}
}

func TestEventsOfAPayoutAccountCountOnceInAnyOrder(t *testing.T) {
	t.Parallel()
	eachStripe(t, func(t *testing.T, s stripeShop) {
		session := harness.JSON{"country": "FR", "returnUrl": "https://shop.example/back"}
		s.AsBackend(t, post, "/v1/payout-account-sessions", harness.JSON{"returnUrl": "https://shop.example/back"}).Refuses(t,
			400, "VALIDATION_FAILED", "country")
		s.AsBackend(t, post, "/v1/payout-account-sessions", harness.JSON{"country": "xx", "returnUrl": "/back"}).Refuses(t,
			400, "VALIDATION_FAILED", "country", "returnUrl")
		s.AsBackend(t, post, "/v1/payout-account-sessions",
			harness.JSON{"country": stripefake.UnsupportedCountry, "returnUrl": "https://shop.example/back"}).
			Refuses(t, 400, "VALIDATION_FAILED", "country")
		if a := s.account(t); a["status"] != "none" || a["accountId"] != nil {
			t.Errorf("nothing was opened: %v", a)
		}
		first := s.AsBackend(t, post, "/v1/payout-account-sessions", session).Want(t, 201).Map(t)
		accountID := text(t, first["payoutAccount"].(map[string]any)["accountId"])
		s.loggedAccount(t, accountID)
		if again := s.AsBackend(t, post, "/v1/payout-account-sessions", session).
			Want(t, 201).Map(t); again["url"] != first["url"] || s.fake.Count("POST /v1/accounts") != 2 {
			t.Errorf("%v, and %d accounts were asked for", again, s.fake.Count("POST /v1/accounts"))
		}

		s.fake.Restrict(accountID)
		s.reports(t, "evt_restricted", accountID, "restricted")
		s.fake.Onboard(accountID)
		s.reports(t, "evt_ready", accountID, "ready")
		before := s.account(t)["updatedAt"]
		for _, old := range []string{"evt_restricted", "evt_late", "evt_ready"} { // doubled, and of before
			s.accountEvent(t, old, accountID).Want(t, 200)
		}
		s.accountEvent(t, "evt_foreign", "acct_of_somebody_else").Want(t, 200)
		s.processed(t)
		s.advanceDays(t, 1) // and so has whatever is due of the account
		if a := s.account(t); a["status"] != "ready" || a["updatedAt"] != before {
			t.Errorf("%v", a)
		}

		s.fake.Fail("/v1/accounts/"+accountID, stripefake.Failure{Status: 403, Code: "account_invalid"})
		s.reports(t, "evt_gone", accountID, "restricted")
		if a := s.account(t); a["disabledReason"] != "disconnected" {
			t.Errorf("%v", a)
		}
		s.processed(t) // one that is read again once Stripe knows the account connects it again
		s.fake.Heal()
		if other := s.AsBackend(t, post, "/v1/payout-account-sessions", session).
			Want(t, 201).Map(t)["payoutAccount"].(map[string]any); other["accountId"] == accountID ||
			other["status"] != "pending" {
			t.Errorf("in its place: %v", other)
		}
	})
}

// The sandbox's own rail pays everybody, and its page leads back at once.
func TestThePayoutAccountOfTheSandboxIsReady(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		if got := a.AsBackend(t, get, "/v1/payout-account", nil).Want(t, 200).Map(t); got["status"] != "ready" ||
			got["accountId"] != nil {
			t.Errorf("at first: %v", got)
		}
		opened := a.AsBackend(t, post, "/v1/payout-account-sessions",
			harness.JSON{"country": "DE", "returnUrl": "https://shop.example/back"}).Want(t, 201).Map(t)
		if opened["url"] != "https://shop.example/back" || opened["expiresAt"] != nil {
			t.Errorf("%v", opened)
		}
		v := a.Visit(t)
		v.Open(t, "/dashboard/balance")
		v.Send(t, "/dashboard/balance/account")
		if v.Page.Path != "/dashboard/balance" || !strings.Contains(v.Page.Body, "Your payout account is ready.") {
			t.Errorf("%d %s", v.Page.Status, v.Page.Path)
		}
		if got := a.AsBackend(t, get, "/v1/payout-account", nil).Want(t, 200).Map(t); got["status"] != "ready" ||
			got["country"] != "DE" {
			t.Errorf("afterwards: %v", got)
		}
	})
}
