package e2e_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"sundry/tests/harness"
)

// topUp is a published listing whose plan sells €2.00 of prepaid use of the meter for €1.50, for 40 days.
func (m *metered) topUp(t *testing.T) harness.Listing {
	t.Helper()
	draft := m.NewListing(t, harness.JSON{"slug": harness.Unique("top-up"), "title": "Top-up", "priceInCents": 150})
	m.AsCreator(t, "PUT", "/v1/listings/"+draft.ID+"/plans/two", harness.JSON{
		"name": "Two", "prices": []harness.JSON{{"currency": "eur", "amountInCents": 150}},
		"usageCredits": []harness.JSON{{
			"amountInCents": 200, "currency": "eur", "meter": m.event, "expiresInDays": 40,
		}},
	}).Want(t, 200)
	return m.Publish(t, draft)
}

func (m *metered) buyTopUp(t *testing.T, listing harness.Listing) (checkoutID string) {
	t.Helper()
	session := m.NewSession(t, listing, "two", m.customer, nil)
	m.Pay(t, session, harness.CardSucceeds).Want(t, 200)
	return session.ID
}

// credit is a new usage credit's id.
func (m *metered) credit(t *testing.T) string {
	t.Helper()
	m.buyTopUp(t, m.topUp(t))
	ids, _ := m.credits(t)
	return ids[len(ids)-1]
}

// credits lists the customer's credits, the oldest first, as "used returned expired left reason".
func (m *metered) credits(t *testing.T) (ids, parts []string) {
	t.Helper()
	var page struct {
		Data []struct {
			ID                                                           string
			UsedInCents, ReturnedInCents, ExpiredInCents, BalanceInCents int64
			EndReason                                                    *string
		}
	}
	m.AsBackend(t, get, "/v1/usage/credits?externalCustomerId="+m.customer, nil).Want(t, 200).Into(t, &page)
	slices.Reverse(page.Data)
	for _, c := range page.Data {
		reason := ""
		if c.EndReason != nil {
			reason = *c.EndReason
		}
		ids = append(ids, c.ID)
		parts = append(parts, strings.TrimSpace(fmt.Sprintf("%d %d %d %d %s", c.UsedInCents, c.ReturnedInCents,
			c.ExpiredInCents, c.BalanceInCents, reason)))
	}
	return ids, parts
}

func TestLateUseLeavesACreditAfterTheLastInvoice(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		m := newFixture(t, app).metered(t, harness.CardSucceeds)
		start := clockOf(t, m.Account)
		m.report(t, "9")
		advance(t, m.Account, day+2*time.Minute)
		correction := m.reportBody(harness.Unique("report"), "-6")
		correction["timestamp"] = start.Add(time.Hour).Format(time.RFC3339)
		m.AsBackend(t, post, "/v1/usage/events", correction).Want(t, 202)
		m.report(t, "2")
		m.AsBackend(t, post, "/v1/subscriptions/"+m.subscriptionID+"/cancel", harness.JSON{"atPeriodEnd": false}).Want(t, 200)
		advance(t, m.Account, day)
		all := m.invoices(t)
		wantLines(t, all[0], "paid", "usage 9 = 90")
		wantLines(t, all[1], "paid", "usage 2 = 20", "late_usage 3 = -20")
		ids, parts := m.credits(t)
		if want := []string{"0 0 0 40"}; !slices.Equal(parts, want) {
			t.Fatalf("credits %q, want %q", parts, want)
		}
		one := m.AsBackend(t, get, "/v1/usage/credits/"+ids[0], nil).Want(t, 200).Map(t)
		if one["checkoutId"] != nil || one["paymentId"] != nil || one["meter"] != nil || one["expiresAt"] != nil {
			t.Errorf("the credit is %v, want one of no purchase, for all use and without an end", one)
		}
		verified(t, app)
	})
}

func TestUsageCreditsPayInvoicesFirst(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		m := newFixture(t, app).metered(t, harness.CardSucceeds)
		listing := m.topUp(t)
		m.buyTopUp(t, listing)
		portal := read(t, app, visit(t, m.Account, m.customerID))
		for _, want := range []string{"Prepaid use", "For " + m.event, "Expires on ", "€2.00 of €2.00 left"} {
			if !strings.Contains(portal, want) {
				t.Errorf("the portal lacks %q", want)
			}
		}
		second := m.buyTopUp(t, listing)
		m.report(t, "110") // 10 × 10 and 100 × 0.5
		preview := m.AsBackend(t, get, "/v1/usage/billing-plans/"+m.planID+"/preview", nil).Want(t, 200).Map(t)
		if asJSON(t, preview["usageCreditInCents"])+" "+asJSON(t, preview["totalInCents"]) != "150 0" {
			t.Errorf("preview %v of %v", preview["usageCreditInCents"], preview["totalInCents"])
		}
		advance(t, m.Account, day+2*time.Minute)
		m.report(t, "510") // 100 + 250
		advance(t, m.Account, day)
		m.report(t, "10")
		m.AsBackend(t, post, "/v1/refunds", harness.JSON{
			"checkoutId": second, "amountInCents": 30, "reason": "requested_by_customer",
		}).Want(t, 201)
		advance(t, m.Account, day)
		all := m.invoices(t)
		wantLines(t, all[0], "paid", "usage 110 = 150", "prepaid  = -150")
		wantLines(t, all[1], "paid", "usage 510 = 350", "prepaid  = -50", "prepaid  = -200")
		wantLines(t, all[2], "paid", "usage 10 = 100")
		ids, parts := m.credits(t)
		if want := []string{"200 0 0 0 used_up", "200 0 0 0 used_up"}; !slices.Equal(parts, want) {
			t.Errorf("credits %q, want %q", parts, want)
		}
		one := m.AsBackend(t, get, "/v1/usage/credits/"+ids[0], nil).Want(t, 200).Map(t)
		for _, path := range []string{"/v1/export", "/v1/customers/" + m.customerID + "/export"} {
			lines := readLines(t, m.AsBackend(t, get, path, nil).Want(t, 200).Body)["usage_credit"]
			if len(lines) != 2 || asJSON(t, lines[1]) != asJSON(t, one) {
				t.Errorf("%s has %s, want at its end %s", path, asJSON(t, lines), asJSON(t, one))
			}
		}
		if uses := asJSON(t, one["uses"]); strings.Count(uses, "invoiceId") != 2 || !strings.Contains(uses, all[0].ID) {
			t.Errorf("uses %s", uses)
		}
		m.verified(t, app)
	})
}

func TestARefundThatKeepsAccessLeavesPrepaidUse(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		m := newFixture(t, app).metered(t, harness.CardSucceeds)
		bought := m.buyTopUp(t, m.topUp(t))
		for _, refund := range []harness.JSON{{"amountInCents": 75}, {}} {
			refund["checkoutId"], refund["reason"], refund["keepAccess"] = bought, "requested_by_customer", true
			m.AsBackend(t, post, "/v1/refunds", refund).Want(t, 201)
		}
		if _, parts := m.credits(t); !slices.Equal(parts, []string{"0 0 0 200"}) {
			t.Errorf("credits %q, want all of one that is kept", parts)
		}
		m.verified(t, app)
	})
}

func TestUsageCreditsExpireAndGoBack(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		m := newFixture(t, app).metered(t, harness.CardSucceeds)
		listing := m.topUp(t)
		m.buyTopUp(t, listing)
		refunded, disputed := m.buyTopUp(t, listing), m.NewSession(t, listing, "two", m.customer, nil)
		m.Pay(t, disputed, harness.CardDisputed).Want(t, 200)
		refund := func(amount any) {
			m.AsBackend(t, post, "/v1/refunds", harness.JSON{
				"checkoutId": refunded, "amountInCents": amount, "reason": "requested_by_customer",
			}).Want(t, 201)
		}
		refund(75)
		advance(t, m.Account, time.Minute)
		if _, parts := m.credits(t); parts[1] != "0 100 0 100" {
			t.Errorf("after half of the money: %q", parts)
		}
		refund(nil)
		m.report(t, "10")
		advance(t, m.Account, day+2*time.Minute)
		wantLines(t, m.invoices(t)[0], "paid", "usage 10 = 100", "prepaid  = -100")
		advance(t, m.Account, 41*day)
		_, parts := m.credits(t)
		if want := []string{"100 0 100 0 expired", "0 200 0 0 returned"}; !slices.Equal(parts[:2], want) {
			t.Errorf("credits %q, want %q", parts, want)
		}
		var page struct {
			Data []struct{ Type string }
		}
		m.AsBackend(t, get, "/v1/events?type=usage_credit.*&limit=100", nil).Want(t, 200).Into(t, &page)
		counts := map[string]int{}
		for _, e := range page.Data {
			counts[e.Type]++
		}
		if counts["usage_credit.granted"] != 3 || counts["usage_credit.ended"] != 3 || counts["usage_credit.low"] != 0 {
			t.Errorf("events %v", counts)
		}
		if page := m.Visit(t).Open(t, "/dashboard/customers/"+m.customerID); !strings.Contains(page.Body, "Usage credits") {
			t.Error("the customer's page lacks the credits")
		}
		putCatalogBack(t, m.Account)
		m.verified(t, app)
	})
}

// verified fails the test when an invariant does not hold.
func (m *metered) verified(t *testing.T, app *harness.App) {
	t.Helper()
	if lines, err := app.Program.Verify(t.Context()); err != nil || len(lines) > 0 {
		t.Errorf("verify: %q, %v", lines, err)
	}
}
