package e2e_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"sundry/adapters/httpapi"
	"sundry/core/identity"
	"sundry/tests/harness"
)

// auditLine is a line of the audit log.
type auditLine struct {
	ID, Kind, Address, UserAgent, ObjectID, Note string
	Actor                                        *struct{ Type, ID, Name string }
}

// auditLog returns the lines of a kind ("" = all), newest first.
func (w *fixture) auditLog(t *testing.T, kind string) []auditLine {
	t.Helper()
	var list struct {
		Data    []auditLine
		HasMore bool
	}
	query := url.Values{"limit": {"100"}}
	if kind != "" {
		query.Set("kind", kind)
	}
	w.AsBackend(t, get, "/v1/audit-log?"+query.Encode(), nil).Want(t, 200).Into(t, &list)
	if list.HasMore {
		t.Fatal("the test sees a part of the log only")
	}
	return list.Data
}

// audited are the operations that leave a line. body, if set, replaces that of the valid request.
var audited = []struct {
	operation string
	kind      identity.AccountEventKind
	body      harness.JSON
	// object is the prefix of the line's object; note is a part of its note.
	object, note string
}{
	{operation: "POST /v1/api-keys", kind: identity.KeyCreated, object: "key_", note: "…"},
	{operation: "DELETE /v1/api-keys/{id}", kind: identity.KeyRevoked, object: "key_", note: "…"},
	{operation: "POST /v1/members", kind: identity.MemberInvited, object: "mbr_", note: "@example.com, support"},
	{operation: "PATCH /v1/members/{id}", kind: identity.MemberChanged, object: "mbr_", note: ", analyst"},
	{operation: "DELETE /v1/members/{id}", kind: identity.MemberRemoved, object: "mbr_", note: ", support"},
	{operation: "POST /v1/customers/{id}/erase", kind: identity.CustomerErased, object: "cus_"},
	{operation: "POST /v1/refunds", kind: identity.RefundCreated, object: "ref_", note: "5.00 eur"},
	{
		operation: "POST /v1/appointments/{id}/cancel", kind: identity.AppointmentCanceled,
		body: harness.JSON{"refund": false}, object: "apt_", note: "Type specimens",
	},
	{operation: "POST /v1/payout-account-sessions", kind: identity.PayoutAccountChanged, object: "acct_"},
	{operation: "POST /v1/payouts", kind: identity.PayoutRequested, object: "po_", note: "10.00 eur"},
	{operation: "POST /v1/webhook-endpoints", kind: identity.WebhookEndpointCreated, object: "we_", note: "https://"},
	{operation: "PATCH /v1/webhook-endpoints/{id}", kind: identity.WebhookEndpointChanged, object: "we_", note: "https://"},
	{
		operation: "POST /v1/webhook-endpoints/{id}/rotate-secret", kind: identity.WebhookEndpointChanged, object: "we_",
		note: "https://",
	},
	{operation: "DELETE /v1/webhook-endpoints/{id}", kind: identity.WebhookEndpointDeleted, object: "we_", note: "https://"},
	{operation: "POST /v1/listings/{id}/publish", kind: identity.ListingPublished, object: "lst_"},
	{operation: "DELETE /v1/listings/{ref}", kind: identity.ListingArchived, object: "lst_"},
	{
		operation: "PATCH /v1/listings/{ref}", kind: identity.PriceChanged, body: harness.JSON{"priceInCents": 4321},
		object: "lst_",
	},
	{operation: "POST /v1/listings/{id}/variants", kind: identity.PriceChanged, object: "lst_"},
	{operation: "DELETE /v1/listings/{id}/variants/{variantId}", kind: identity.PriceChanged, object: "lst_"},
	{operation: "PUT /v1/listings/{id}/plans/{planKey}", kind: identity.PlanChanged, object: "lst_"},
	{operation: "DELETE /v1/listings/{id}/plans/{planKey}", kind: identity.PlanChanged, object: "lst_"},
	{operation: "POST /v1/usage/prices", kind: identity.PriceChanged, object: "pri_"},
	{operation: "POST /v1/discounts", kind: identity.DiscountCreated, object: "dsc_", note: "spring-"},
	{operation: "DELETE /v1/discounts/{id}", kind: identity.DiscountDeleted, object: "dsc_", note: "spring-"},
	{operation: "POST /v1/payment-links", kind: identity.PaymentLinkCreated, object: "plink_"},
	{
		operation: "PATCH /v1/payment-links/{id}", kind: identity.PaymentLinkChanged,
		body: harness.JSON{"interval": "year"}, object: "plink_",
	},
	{operation: "DELETE /v1/payment-links/{id}", kind: identity.PaymentLinkDeactivated, object: "plink_"},
	{
		operation: "POST /v1/customer-access/{externalCustomerId}/grants", kind: identity.AccessGranted, object: "grt_",
		note: "user-",
	},
	{
		operation: "DELETE /v1/customer-access/{externalCustomerId}/grants/{id}", kind: identity.AccessRevoked,
		object: "grt_", note: "user-",
	},
	{operation: "POST /v1/subscriptions", kind: identity.SubscriptionCreated, object: "sub_", note: "pro"},
	{
		operation: "POST /v1/subscriptions/{id}/cancel", kind: identity.SubscriptionCanceled, object: "sub_",
		note: "basic",
	},
	{
		operation: "POST /v1/subscriptions/{id}/change", kind: identity.SubscriptionChanged, object: "sub_",
		note: "studio",
	},
	{operation: "POST /v1/subscriptions/{id}/pause", kind: identity.SubscriptionPaused, object: "sub_", note: "basic"},
	{
		operation: "POST /v1/subscriptions/{id}/resume", kind: identity.SubscriptionResumed, object: "sub_",
		note: "basic",
	},
	{operation: "POST /v1/invoices", kind: identity.InvoiceCreated, object: "inv_", note: ", 4.00 eur"},
	{operation: "POST /v1/invoices/{id}/pay", kind: identity.InvoiceCharged, object: "inv_", note: ", 4.00 eur"},
	{operation: "POST /v1/usage/billing-plans", kind: identity.BillingPlanCreated, object: "ubp_", note: "calls"},
	{
		operation: "POST /v1/usage/billing-plans/{id}/change", kind: identity.BillingPlanChanged, object: "ubp_",
		note: "calls",
	},
	{
		operation: "POST /v1/usage/billing-plans/{id}/end", kind: identity.BillingPlanEnded, object: "ubp_",
		note: "calls",
	},
	{
		operation: "PATCH /v1/creator", kind: identity.SettingsChanged, body: harness.JSON{"displayName": "Grace"},
		object: "crt_", note: "profile",
	},
	{operation: "PUT /v1/scheduling/availability", kind: identity.SettingsChanged, object: "crt_", note: "availability"},
	{operation: "PUT /v1/scheduling/meeting-settings", kind: identity.SettingsChanged, object: "crt_", note: "meetings"},
	{
		operation: "DELETE /v1/scheduling/meeting-accounts/{provider}", kind: identity.SettingsChanged, object: "crt_",
		note: "meeting account",
	},
	{operation: "POST /v1/disputes/{id}/files", kind: identity.DisputeFileAdded, object: "dsp_", note: "file_"},
	{
		operation: "DELETE /v1/disputes/{id}/files/{fileId}", kind: identity.DisputeFileDeleted, object: "dsp_",
		note: "file_",
	},
	{operation: "POST /v1/disputes/{id}/evidence", kind: identity.DisputeResponded, object: "dsp_", note: "evidence"},
	{operation: "POST /v1/disputes/{id}/accept", kind: identity.DisputeResponded, object: "dsp_", note: "accepted"},
	{operation: "GET /v1/export", kind: identity.ExportTaken, note: "everything"},
	{operation: "GET /v1/customers/{id}/export", kind: identity.ExportTaken, object: "cus_", note: "customer"},
}

// unaudited are the operations of people and keys whose valid requests leave no line.
var unaudited = []string{
	"DELETE /v1/customers/{id}/payment-methods/{pmId}",
	"DELETE /v1/files/{id}",
	"DELETE /v1/usage/alerts/{id}",
	"PATCH /v1/customers/{id}",
	"PATCH /v1/invoices/{id}",
	"PATCH /v1/listings/{id}/variants/{variantId}", // of the name; a price leaves one
	"PATCH /v1/refunds/{id}",
	"PATCH /v1/subscriptions/{id}",
	"POST /v1/appointments/{id}/outcome",
	"POST /v1/appointments/{id}/reschedule",
	"POST /v1/card-setup-sessions",
	"POST /v1/checkout-sessions",
	"POST /v1/checkout-sessions/{id}/expire",
	"POST /v1/customer-access/{externalCustomerId}/credits/consume",
	"POST /v1/customer-portal-sessions",
	"POST /v1/customers",
	"POST /v1/files/{id}/complete",
	"POST /v1/listings",
	"POST /v1/listings/{id}/files",
	"POST /v1/sandbox/checkout-sessions/{id}/pay",
	"POST /v1/sandbox/clock/advance",
	"POST /v1/sandbox/customers/{id}/cards",
	"POST /v1/scheduling/feed/rotate",
	"POST /v1/subscriptions/{id}/change/preview",
	"POST /v1/tasks/{id}/retry",
	"POST /v1/usage/alerts",
	"POST /v1/usage/events",
	"POST /v1/usage/events/batch",
	"POST /v1/usage/events/{idempotencyKey}/void",
	"POST /v1/usage/meters",
	"POST /v1/usage/products",
	"POST /v1/webhook-endpoints/{id}/deliveries/{deliveryId}/redeliver",
	"POST /v1/webhook-endpoints/{id}/replay",
	"POST /v1/webhook-endpoints/{id}/test",
	"PUT /v1/catalog", // of a meter; its listings, discounts and endpoints leave some
	"PUT /v1/files/{id}/parts/{number}",
}

func TestAuditLog_EachOperationLeavesALineOrNot(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, c := range audited {
		known[c.operation] = true
	}
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		for _, op := range harness.Operations(t) {
			if op.Method == get || op.Auth == httpapi.Public || known[op.Line()] {
				continue
			}
			if !slices.Contains(unaudited, op.Line()) {
				t.Errorf("%s is neither in audited nor in unaudited", op.Line())
				continue
			}
			r := w.request(t, op)
			lines := func() int64 {
				return app.Count(t, "SELECT COUNT(*) FROM account_events WHERE creator_id = $1", w.ID)
			}
			before := lines()
			if response := app.Ask(t, r); response.Status >= 300 {
				t.Errorf("%s responds with %d %s", op.Line(), response.Status, response.Body)
			}
			if n := lines() - before; n != 0 {
				t.Errorf("%s leaves %d lines, want 0", op.Line(), n)
			}
		}
	})
}

func TestAuditLog_OneLineForEachAction(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		operations := map[string]harness.Operation{}
		for _, op := range harness.Operations(t) {
			operations[op.Line()] = op
		}
		for _, c := range audited {
			op, known := operations[c.operation]
			if !known {
				t.Fatalf("there is no operation %s", c.operation)
			}
			r := w.request(t, op)
			if c.body != nil {
				r.Body = c.body
			}
			before := w.auditLog(t, "")
			if response := app.Ask(t, r); response.Status >= 300 {
				t.Fatalf("%s responds with %d %s", c.operation, response.Status, response.Body)
			}
			after := w.auditLog(t, "")
			if len(after) != len(before)+1 {
				t.Errorf("%s leaves %d lines: %+v", c.operation, len(after)-len(before), after[:len(after)-len(before)])
				continue
			}
			line := after[0]
			if line.Kind != string(c.kind) || !strings.HasPrefix(line.ObjectID, c.object) ||
				(c.object == "") != (line.ObjectID == "") || !strings.Contains(line.Note, c.note) {
				t.Errorf("%s leaves %+v", c.operation, line)
			}
			by, id := "creator", w.ID
			if r.Bearer == w.Key {
				by, id = "api_key", "key_"
			}
			if a := line.Actor; a == nil || a.Type != by || !strings.HasPrefix(a.ID, id) || line.Address == "" ||
				by == "api_key" && a.Name != "tests (sk_test_…"+w.Key[len(w.Key)-4:]+")" {
				t.Errorf("%s leaves a line by %+v from %q", c.operation, a, line.Address)
			}
		}
	})
}

// What is refused, what changes nothing, what buyers do and what is only read leaves no line.
func TestAuditLog_NothingElseLeavesALine(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		listing, endpoint := w.book(t, 2000), w.endpoint(t)
		_, receipt := w.sell(t, listing, harness.CardSucceeds, nil)
		appointment := w.booked(t)
		m := w.metered(t, cardFailsLater)
		var invoice invoiceBody
		m.AsBackend(t, post, "/v1/invoices", m.invoiceBody(harness.Unique("march"), 500)).Want(t, 402).Into(t, &invoice)
		plan := subscribe(t, w.Account, plans(t, w.Account, 0), "basic", harness.Unique("user"), harness.CardSucceeds)
		before := w.auditLog(t, "")

		w.sell(t, listing, harness.CardSucceeds, nil)
		w.send(t, appointment, "/cancel", url.Values{"reason": {"Ill."}})
		m.payOnPage(t, invoice, harness.CardSucceeds)
		portal := visit(t, w.Account, plan.CustomerID)
		mine := portal + "/plans/" + plan.ID
		for _, of := range []string{"/cancel", "/resume"} {
			submit(t, app, mine+of, nil)
		}
		submit(t, app, mine+"/change", url.Values{"plan": {"studio"}, "interval": {"month"}})
		w.advance(t, 32*24*3600) // renews the plan and bills the use of 32 days
		if got := subscription(t, w.Account, plan.ID); got.Plan != "studio" || got.CancelAtPeriodEnd ||
			!got.CurrentPeriodStart.Equal(plan.CurrentPeriodEnd) {
			t.Errorf("the buyer's subscription is %+v", got)
		}
		submit(t, app, mine+"/cancel", nil)
		if got := subscription(t, w.Account, plan.ID); !got.CancelAtPeriodEnd {
			t.Errorf("the buyer's canceled subscription is %+v", got)
		}
		w.refund(t, text(t, receipt["paymentId"]), 1_000_000).Refuses(t, 409, "NOT_REFUNDABLE")
		w.AsBackend(t, get, "/v1/webhook-endpoints/"+endpoint, nil).Want(t, 200)
		w.AsCreator(t, patch, "/v1/listings/"+listing.ID, harness.JSON{"title": "Another title"}).Want(t, 200)
		w.NewListing(t, nil)
		if after := w.auditLog(t, ""); len(after) != len(before) {
			t.Errorf("%+v", after[:len(after)-len(before)])
		}
	})
}

// What is refused, repeated or done already leaves no second line.
func TestAuditLog_OneLineForRepeatedRequests(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		customer := harness.Unique("user")
		grants := "/v1/customer-access/" + customer + "/grants"
		before := len(w.auditLog(t, ""))
		var want []string
		leaves := func(kind identity.AccountEventKind) { want = append([]string{string(kind)}, want...) }

		code := w.discountBody()
		discount := text(t, w.AsCreator(t, post, "/v1/discounts", code).Want(t, 201).Map(t)["id"])
		leaves(identity.DiscountCreated)
		w.AsCreator(t, post, "/v1/discounts", code).Refuses(t, 400, "VALIDATION_FAILED", "code")
		for range 2 {
			w.AsCreator(t, remove, "/v1/discounts/"+discount, nil).Want(t, 200)
		}
		leaves(identity.DiscountDeleted)

		document := harness.JSON{
			"version": 1, "listings": []harness.JSON{}, "discounts": []harness.JSON{{"code": "AUTUMN", "percentOff": 5}},
		}
		for _, query := range []string{"?dryRun=true", "", ""} {
			w.AsBackend(t, put, "/v1/catalog"+query, document).Want(t, 200)
		}
		leaves(identity.DiscountCreated)

		w.AsCreator(t, post, "/v1/payment-links", harness.JSON{"listingId": w.listing.ID, "plan": "nowhere"}).Want(t, 404)
		link := "/v1/payment-links/" + w.link(t)
		leaves(identity.PaymentLinkCreated)
		w.AsCreator(t, patch, link, harness.JSON{"plan": "nowhere"}).Want(t, 404)
		for range 2 {
			w.AsCreator(t, patch, link, harness.JSON{"successUrl": "https://shop.example/thanks"}).Want(t, 200)
		}
		leaves(identity.PaymentLinkChanged)
		w.AsCreator(t, patch, link, harness.JSON{"active": false}).Want(t, 200)
		leaves(identity.PaymentLinkDeactivated)
		w.AsCreator(t, remove, link, nil).Want(t, 200)
		w.AsCreator(t, patch, link, harness.JSON{"active": true}).Want(t, 200)
		leaves(identity.PaymentLinkChanged)

		var grant string
		for range 2 {
			grant = text(t, w.Once(t, customer, post, grants, grantBody()).Want(t, 201).Map(t)["id"])
		}
		leaves(identity.AccessGranted)
		over := grantBody()
		over["expiresAt"] = "2020-01-01T00:00:00.000Z"
		w.AsBackend(t, post, grants, over).Refuses(t, 400, "VALIDATION_FAILED", "expiresAt")
		w.AsBackend(t, remove, "/v1/customer-access/someone-else/grants/"+grant, nil).Refuses(t, 404, "NOT_FOUND")
		for range 2 {
			w.AsBackend(t, remove, grants+"/"+grant, nil).Want(t, 200)
		}
		leaves(identity.AccessRevoked)

		lines := w.auditLog(t, "")
		var got []string
		for _, line := range lines[:len(lines)-before] {
			got = append(got, line.Kind)
		}
		if !slices.Equal(got, want) {
			t.Errorf("the lines are %v, want %v", got, want)
		}
		if granted := w.auditLog(t, string(identity.AccessGranted)); len(granted) != 1 || granted[0].ObjectID != grant ||
			granted[0].Note != customer {
			t.Errorf("the lines of granted access are %+v", granted)
		}
	})
}

// What a key decides about subscriptions, invoices and billing plans leaves one line, whatever is asked for again.
func TestAuditLog_OneLineForEachDecision(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		m, unpaid := *w.usageOf(t), "/v1/invoices/"+w.unpaid(t)
		listing := plans(t, w.Account, 0)
		sub := subscribe(t, w.Account, listing, "basic", harness.Unique("user"), harness.CardSucceeds)
		poor := subscribe(t, w.Account, listing, "basic", harness.Unique("user"), cardFailsLater)
		before := len(w.auditLog(t, ""))
		var want []string
		leaves := func(kind identity.AccountEventKind, note string) {
			want = append([]string{string(kind) + " " + note}, want...)
		}
		at := func(what string) string { return "/v1/subscriptions/" + sub.ID + what }

		var invoice struct{ Number string }
		w.AsBackend(t, post, unpaid+"/pay", nil).Want(t, 200).Into(t, &invoice)
		leaves(identity.InvoiceCharged, invoice.Number+", 4.00 eur")
		w.AsBackend(t, post, unpaid+"/pay", nil).Refuses(t, 409, "STATE_CONFLICT")
		w.AsBackend(t, post, "/v1/subscriptions/"+poor.ID+"/change", harness.JSON{
			"plan": "studio", "interval": "month", "prorationMode": "charge_now",
		}).Refuses(t, 402, "CARD_DECLINED")
		leaves(identity.SubscriptionChanged, "studio") // its charge was started

		for range 2 {
			ask(t, w.Account, sub.ID, "cancel", harness.JSON{"atPeriodEnd": true})
		}
		leaves(identity.SubscriptionCanceled, "basic")
		w.AsBackend(t, post, at("/pause"), nil).Refuses(t, 409, "STATE_CONFLICT")
		ask(t, w.Account, sub.ID, "resume", nil)
		leaves(identity.SubscriptionResumed, "basic")
		w.AsBackend(t, post, at("/resume"), nil).Refuses(t, 409, "STATE_CONFLICT")
		next := harness.JSON{"plan": "studio", "interval": "month", "quantity": 2, "prorationMode": "next_period"}
		for range 2 {
			ask(t, w.Account, sub.ID, "change", next)
		}
		leaves(identity.SubscriptionChanged, "studio × 2")
		next["plan"] = "nowhere"
		w.AsBackend(t, post, at("/change"), next).Want(t, 404)
		ask(t, w.Account, sub.ID, "pause", nil)
		leaves(identity.SubscriptionPaused, "basic")
		w.AsBackend(t, post, at("/pause"), nil).Refuses(t, 409, "STATE_CONFLICT")
		advanceTo(t, w.Account, sub.CurrentPeriodEnd.AddDate(0, 0, 1))
		ask(t, w.Account, sub.ID, "resume", nil) // for the price of another period
		leaves(identity.SubscriptionResumed, "studio × 2")
		ask(t, w.Account, sub.ID, "cancel", harness.JSON{"atPeriodEnd": false})
		leaves(identity.SubscriptionCanceled, "studio × 2")
		w.AsBackend(t, post, at("/cancel"), harness.JSON{"atPeriodEnd": false}).Refuses(t, 409, "STATE_CONFLICT")

		body := m.invoiceBody(harness.Unique("march"), 500)
		w.AsBackend(t, post, "/v1/invoices", body).Want(t, 201).Into(t, &invoice)
		leaves(identity.InvoiceCreated, invoice.Number+", 4.00 eur")
		w.AsBackend(t, post, "/v1/invoices", body).Refuses(t, 409, "IDEMPOTENCY_KEY_REUSED")

		m.meterID = m.meter(t)
		m.planID = m.make(t, "/v1/usage/billing-plans", m.planBody())
		event := text(t, w.AsBackend(t, get, "/v1/usage/meters/"+m.meterID, nil).Want(t, 200).Map(t)["eventName"])
		leaves(identity.BillingPlanCreated, event)
		w.AsBackend(t, post, "/v1/usage/billing-plans", m.planBody()).Refuses(t, 409, "STATE_CONFLICT")
		price := m.make(t, "/v1/usage/prices", priceBody(m.productID))
		leaves(identity.PriceChanged, "usage price")
		plan := "/v1/usage/billing-plans/" + m.planID
		for range 2 {
			w.AsBackend(t, post, plan+"/change", harness.JSON{"priceId": price}).Want(t, 200)
		}
		leaves(identity.BillingPlanChanged, event)
		w.AsBackend(t, post, plan+"/end", nil).Want(t, 200)
		leaves(identity.BillingPlanEnded, event)
		w.AsBackend(t, post, plan+"/end", nil).Refuses(t, 409, "STATE_CONFLICT")

		lines := w.auditLog(t, "")
		var got []string
		for _, line := range lines[:len(lines)-before] {
			got = append(got, line.Kind+" "+line.Note)
		}
		if !slices.Equal(got, want) {
			t.Errorf("the lines are %q, want %q", got, want)
		}
	})
}

// A cancellation with a refund leaves a line of each; what is canceled already leaves no other one.
func TestAuditLog_CancelWithRefund(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		byKey, onPage := w.booked(t), w.booked(t)
		v := w.Visit(t)
		before := len(w.auditLog(t, ""))
		w.AsBackend(t, post, "/v1/appointments/"+byKey.ID+"/cancel", nil).Want(t, 200)
		w.AsBackend(t, post, "/v1/appointments/"+byKey.ID+"/cancel", nil).Refuses(t, 409, "STATE_CONFLICT")
		v.Open(t, "/dashboard/bookings/"+onPage.ID)
		v.Send(t, "/dashboard/bookings/"+onPage.ID+"/cancel", "refund", "true")
		lines := w.auditLog(t, "")
		var got []string
		for _, line := range lines[:len(lines)-before] {
			object := line.ObjectID
			if strings.HasPrefix(object, "ref_") {
				object = "ref_ " + line.Note
			}
			got = append(got, line.Kind+" "+object+" "+line.Actor.Type)
		}
		want := []string{
			"appointment_canceled " + onPage.ID + " creator", "refund_created ref_ 12.00 eur creator",
			"appointment_canceled " + byKey.ID + " api_key", "refund_created ref_ 12.00 eur api_key",
		}
		if !slices.Equal(got, want) {
			t.Errorf("the lines are %q, want %q", got, want)
		}
	})
}

func TestAuditLog_IsFilteredPagedAndExported(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		listing := w.book(t, 2000)
		w.AsCreator(t, patch, "/v1/listings/"+listing.ID, harness.JSON{"priceInCents": 2100}).Want(t, 200)
		w.AsBackend(t, post, "/v1/webhook-endpoints", harness.JSON{
			"url": "https://hooks.example/audited", "events": []string{"payment.completed"},
		}).Want(t, 201)

		prices := w.auditLog(t, string(identity.PriceChanged))
		if len(prices) != 1 || prices[0].ObjectID != listing.ID {
			t.Errorf("prices: %+v", prices)
		}
		w.AsBackend(t, get, "/v1/audit-log?kind=gossip", nil).Refuses(t, 400, "VALIDATION_FAILED", "kind")
		if others := newFixture(t, app).auditLog(t, string(identity.PriceChanged)); len(others) != 0 {
			t.Errorf("another account reads %+v", others)
		}
		var limited struct{ Key string }
		w.AsCreator(t, post, "/v1/api-keys", harness.JSON{"name": "limited", "scopes": []string{"refunds"}}).
			Want(t, 201).Into(t, &limited)
		w.Ask(t, harness.Request{Method: get, Path: "/v1/audit-log", Bearer: limited.Key}).Refuses(t, 403, "FORBIDDEN")

		all, seen := w.auditLog(t, ""), []string{}
		for cursor := ""; ; {
			var page struct {
				Data       []auditLine
				NextCursor string
			}
			w.AsCreator(t, get, "/v1/audit-log?limit=2"+cursor, nil).Want(t, 200).Into(t, &page)
			for _, line := range page.Data {
				seen = append(seen, line.ID)
			}
			if page.NextCursor == "" {
				break
			}
			cursor = "&cursor=" + page.NextCursor
		}
		if len(seen) != len(all) || seen[0] != all[0].ID || seen[len(seen)-1] != all[len(all)-1].ID {
			t.Errorf("page by page %v, at once %+v", seen, all)
		}

		v := w.Visit(t)
		file := v.Open(t, "/dashboard/security/log?kind=webhook_endpoint_created&format=csv").Body
		if !strings.Contains(file, "https://hooks.example/audited,tests (sk_test_…") ||
			strings.Contains(file, "Price changed") {
			t.Errorf("the file: %s", file)
		}
		exports := w.auditLog(t, string(identity.ExportTaken))
		if len(exports) != 1 || exports[0].Note != "access-log.csv" || exports[0].Actor.ID != w.ID ||
			exports[0].UserAgent == "" {
			t.Errorf("exports: %+v", exports)
		}
	})
}
