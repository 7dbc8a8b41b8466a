package e2e_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"sundry/adapters/httpapi"
	"sundry/tests/harness"
)

// fixture is an account that has one of everything, and a valid request for every operation.
type fixture struct {
	*harness.Account
	listing harness.Listing  // ACTIVE, with the plan "pro"
	hook    string           // see endpoint
	hours   *harness.Listing // see sessionHours
	usage   *metered         // see usageOf
}

// endpointBody names a host that nobody responds at.
func endpointBody() harness.JSON {
	return harness.JSON{
		"url": "https://hooks.example.com/in", "events": []string{"customer.access_changed", "dispute.*"},
	}
}

func (w *fixture) newEndpoint(t *testing.T) (id string) {
	t.Helper()
	var made struct{ ID string }
	w.AsBackend(t, http.MethodPost, "/v1/webhook-endpoints", endpointBody()).Want(t, 201).Into(t, &made)
	return made.ID
}

// endpoint is the account's first webhook endpoint, enabled: nothing listens at its address, so days that another
// operation advances the clock by disable it.
func (w *fixture) endpoint(t *testing.T) string {
	t.Helper()
	if w.hook == "" {
		w.hook = w.newEndpoint(t)
	}
	w.AsBackend(t, http.MethodPatch, "/v1/webhook-endpoints/"+w.hook, harness.JSON{"enabled": true}).Want(t, 200)
	return w.hook
}

// delivery is a new delivery to the first endpoint, of a test event.
func (w *fixture) delivery(t *testing.T) (id, eventID string) {
	t.Helper()
	var made struct{ ID, EventID string }
	w.AsBackend(t, http.MethodPost, "/v1/webhook-endpoints/"+w.endpoint(t)+"/test", nil).Want(t, 202).Into(t, &made)
	return made.ID, made.EventID
}

func newFixture(t *testing.T, app *harness.App) *fixture {
	t.Helper()
	w := &fixture{Account: app.NewAccount(t)}
	w.listing = w.subscription(t)
	return w
}

// subscription is a published SUBSCRIPTION listing with the plan "pro": €19 a month, or €190 a year. A customer may buy
// it as often as a test does.
func (w *fixture) subscription(t *testing.T) harness.Listing {
	t.Helper()
	draft := w.NewListing(t, harness.JSON{
		"type": "SUBSCRIPTION", "slug": harness.Unique("studio"), "title": "Studio", "priceInCents": 1900,
		"oneSubscriptionPerCustomer": false,
		"metadata": harness.JSON{
			"interval": "month", "intervalCount": 1, "trialDays": 0, "features": []string{"exports"},
		},
	})
	w.AsCreator(t, http.MethodPut, "/v1/listings/"+draft.ID+"/plans/pro", planBody()).Want(t, 200)
	return w.Publish(t, draft)
}

func planBody() harness.JSON {
	return harness.JSON{
		"name": "Pro", "isDefault": true, "trialDays": 0,
		"prices": []harness.JSON{
			{"interval": "month", "intervalCount": 1, "currency": "eur", "amountInCents": 1900},
			{"interval": "year", "intervalCount": 1, "currency": "eur", "amountInCents": 19000},
		},
		"entitlements": []harness.JSON{
			{"key": "exports", "type": "boolean", "value": true},
			{"key": "projects", "type": "limit", "value": 50},
			{"key": "support", "type": "text", "value": "mail"},
		},
		"credits": []harness.JSON{{"key": "renders", "unit": "render", "amount": 100, "renews": true}},
		"meters":  []harness.JSON{},
	}
}

func listingBody() harness.JSON {
	return harness.JSON{
		"type": "DIGITAL", "slug": harness.Unique("specimens"), "title": "Type specimens",
		"description":  "Forty-eight pages.",
		"priceInCents": 1200, "currency": "eur",
		"metadata": harness.JSON{
			"downloadUrl": "https://cdn.example.com/specimens.pdf", "fileFormat": "pdf", "fileSize": 4096,
			"pageCount": 48,
		},
	}
}

// appointment is a draft APPOINTMENT listing.
func (w *fixture) appointment(t *testing.T) harness.Listing {
	t.Helper()
	return w.NewListing(t, harness.JSON{"type": "APPOINTMENT", "metadata": harness.JSON{"deliveryMethod": "virtual"}})
}

// variant adds a variant that is not the default to an appointment listing and returns its id.
func (w *fixture) variant(t *testing.T, listing harness.Listing) string {
	t.Helper()
	var made struct{ VariantID string }
	w.AsCreator(t, http.MethodPost, "/v1/listings/"+listing.ID+"/variants", variantBody()).Want(t, 201).Into(t, &made)
	return made.VariantID
}

func variantBody() harness.JSON {
	return harness.JSON{
		"name": "Pack of five", "durationMinutes": 60, "sessionCount": 5, "priceInCents": 40000, "isDefault": false,
	}
}

func (w *fixture) linkBody() harness.JSON {
	return harness.JSON{
		"listingId": w.listing.ID, "plan": "pro", "interval": "month", "successUrl": "https://shop.example/welcome",
		"active": true,
	}
}

func (w *fixture) link(t *testing.T) string {
	t.Helper()
	var made struct{ ID string }
	w.AsCreator(t, http.MethodPost, "/v1/payment-links", w.linkBody()).Want(t, 201).Into(t, &made)
	return made.ID
}

func (w *fixture) session(t *testing.T) harness.Session {
	t.Helper()
	return w.NewSession(t, w.listing, "pro", harness.Unique("user"), nil)
}

func (w *fixture) grant(t *testing.T, customer string) string {
	t.Helper()
	var made struct{ ID string }
	w.AsBackend(t, http.MethodPost, "/v1/customer-access/"+customer+"/grants", grantBody()).Want(t, 201).Into(t, &made)
	return made.ID
}

func grantBody() harness.JSON {
	return harness.JSON{
		"entitlements": []harness.JSON{{"key": "beta", "type": "boolean", "value": true}},
		"credits":      []harness.JSON{{"key": "renders", "unit": "render", "amount": 25}},
		"expiresAt":    "2100-01-01T00:00:00.000Z", "note": "Conference guest",
	}
}

func bodyOfPage() harness.JSON {
	return harness.JSON{"email": "grace@example.com", "name": "Grace Hopper", "country": "IE", "postalCode": "D02 X285"}
}

func availabilityBody() harness.JSON {
	return harness.JSON{
		"timezone": "Europe/Paris",
		"weekly": []harness.JSON{
			{"weekday": "monday", "start": "09:00", "end": "12:30"},
			{"weekday": "monday", "start": "14:00", "end": "24:00"},
			{"weekday": "friday", "start": "22:00", "end": "02:00"},
		},
		"overrides": []harness.JSON{
			{"date": "2026-12-25", "windows": []harness.JSON{}},
			{"date": "2026-12-27", "windows": []harness.JSON{{"start": "10:00", "end": "16:00"}}},
		},
		"busyCalendarUrls": []string{"https://calendar.example.com/ada.ics"},
	}
}

// valid makes a request that the operation accepts, with fresh objects where accepting it uses them up.
type valid func(t *testing.T, w *fixture) (path string, body harness.JSON)

// validRequests has one for every operation that is not a plain GET without parameters in its path.
var validRequests = map[string]valid{
	"PATCH /v1/creator": func(*testing.T, *fixture) (string, harness.JSON) {
		return "", harness.JSON{
			"displayName": "Ada's Studio", "accentColor": "#4f46e5", "supportEmail": "help@example.com",
			"refundPolicy": "Within 14 days.",
		}
	},
	"POST /v1/auth/sign-up": func(*testing.T, *fixture) (string, harness.JSON) {
		return "", harness.JSON{
			"email": harness.Unique("new") + "@example.com", "password": harness.Password, "displayName": "Ada",
		}
	},
	"POST /v1/auth/sign-in": func(_ *testing.T, w *fixture) (string, harness.JSON) {
		return "", harness.JSON{"email": w.Email, "password": harness.Password}
	},
	"POST /v1/auth/refresh": func(t *testing.T, w *fixture) (string, harness.JSON) {
		return "", harness.JSON{"refreshToken": w.signIn(t).RefreshToken}
	},
	"POST /v1/auth/sign-out": func(t *testing.T, w *fixture) (string, harness.JSON) {
		return "", harness.JSON{"refreshToken": w.signIn(t).RefreshToken}
	},
	"POST /v1/api-keys": func(*testing.T, *fixture) (string, harness.JSON) {
		return "", harness.JSON{"name": "Backend", "expiresAt": "2100-01-01T00:00:00.000Z"}
	},
	"DELETE /v1/api-keys/{id}": func(t *testing.T, w *fixture) (string, harness.JSON) {
		var made struct{ ID string }
		w.AsCreator(t, http.MethodPost, "/v1/api-keys", harness.JSON{"name": "short-lived"}).Want(t, 201).Into(t, &made)
		return made.ID, nil
	},
	"POST /v1/members": func(*testing.T, *fixture) (string, harness.JSON) {
		return "", harness.JSON{"email": harness.Unique("grace") + "@example.com", "role": "support"}
	},
	"PATCH /v1/members/{id}": func(t *testing.T, w *fixture) (string, harness.JSON) {
		return w.invite(t, "support").ID, harness.JSON{"role": "analyst"}
	},
	"DELETE /v1/members/{id}": func(t *testing.T, w *fixture) (string, harness.JSON) {
		return w.invite(t, "support").ID, nil
	},
	"POST /v1/listings":          func(*testing.T, *fixture) (string, harness.JSON) { return "", listingBody() },
	"GET /v1/listings/mine/{id}": func(_ *testing.T, w *fixture) (string, harness.JSON) { return w.listing.ID, nil },
	"GET /v1/listings/{ref}":     func(_ *testing.T, w *fixture) (string, harness.JSON) { return w.listing.Slug, nil },
	"DELETE /v1/listings/{ref}": func(t *testing.T, w *fixture) (string, harness.JSON) {
		return w.Published(t, nil).ID,
			nil
	},
	"POST /v1/listings/{id}/publish": func(t *testing.T, w *fixture) (string, harness.JSON) {
		return w.NewListing(t, nil).ID, nil
	},
	"PATCH /v1/listings/{ref}": func(t *testing.T, w *fixture) (string, harness.JSON) {
		body := listingBody()
		delete(body, "type")
		body["catalogKey"] = harness.Unique("key")
		return w.NewListing(t, nil).ID, body
	},
	"POST /v1/listings/{id}/variants": func(t *testing.T, w *fixture) (string, harness.JSON) {
		return w.appointment(t).ID, variantBody()
	},
	"PATCH /v1/listings/{id}/variants/{variantId}": func(t *testing.T, w *fixture) (string, harness.JSON) {
		listing := w.appointment(t)
		return listing.ID + " " + w.variant(t, listing), variantBody()
	},
	"DELETE /v1/listings/{id}/variants/{variantId}": func(t *testing.T, w *fixture) (string, harness.JSON) {
		listing := w.appointment(t)
		return listing.ID + " " + w.variant(t, listing), nil
	},
	"GET /v1/listings/{id}/plans": func(_ *testing.T, w *fixture) (string, harness.JSON) { return w.listing.ID, nil },
	"PUT /v1/listings/{id}/plans/{planKey}": func(_ *testing.T, w *fixture) (string, harness.JSON) {
		return w.listing.ID + " " + harness.Unique("plan"), planBody()
	},
	"DELETE /v1/listings/{id}/plans/{planKey}": func(t *testing.T, w *fixture) (string, harness.JSON) {
		return w.subscription(t).ID + " pro", nil
	},
	"GET /v1/catalog/listings/{catalogKey}/recipe": func(_ *testing.T, w *fixture) (string,
		harness.JSON) {
		return w.listing.CatalogKey, nil
	},
	"POST /v1/payment-links": func(_ *testing.T, w *fixture) (string, harness.JSON) {
		return "",
			w.linkBody()
	},
	"GET /v1/payment-links/{id}": func(t *testing.T, w *fixture) (string,
		harness.JSON) {
		return w.link(t), nil
	},
	"DELETE /v1/payment-links/{id}": func(t *testing.T, w *fixture) (string,
		harness.JSON) {
		return w.link(t), nil
	},
	"PATCH /v1/payment-links/{id}": func(t *testing.T, w *fixture) (string,
		harness.JSON) {
		return w.link(t), w.linkBody()
	},
	"POST /v1/discounts": func(_ *testing.T, w *fixture) (string, harness.JSON) {
		return "",
			w.discountBody()
	},
	"GET /v1/discounts/{id}": func(t *testing.T, w *fixture) (string,
		harness.JSON) {
		return w.discount(t, nil).ID, nil
	},
	"DELETE /v1/discounts/{id}": func(t *testing.T, w *fixture) (string,
		harness.JSON) {
		return w.discount(t, nil).ID, nil
	},
	"POST /v1/checkout-sessions": func(_ *testing.T, w *fixture) (string, harness.JSON) {
		return "", harness.SessionBody(w.listing, "pro", harness.Unique("user"), harness.JSON{
			"catalog": harness.JSON{"listing": w.listing.CatalogKey, "plan": "pro", "interval": "year"},
			"email":   "grace@example.com", "uiMode": "embedded", "referenceId": "order-1001",
			"metadata": harness.JSON{"campaign": "spring"},
			"customer": harness.JSON{
				"name": "Grace Hopper", "country": "IE", "postalCode": "D02 X285", "taxId": "IE1234567T",
			},
		})
	},
	"GET /v1/checkout-sessions/{id}": func(t *testing.T, w *fixture) (string,
		harness.JSON) {
		return w.session(t).ID, nil
	},
	"POST /v1/checkout-sessions/{id}/expire": func(t *testing.T, w *fixture) (string,
		harness.JSON) {
		return w.session(t).ID, nil
	},
	"GET /v1/checkout-sessions/{id}/receipt": func(t *testing.T, w *fixture) (string,
		harness.JSON) {
		return w.session(t).ID, nil
	},
	"GET /v1/customer-access/{externalCustomerId}": func(*testing.T, *fixture) (string, harness.JSON) {
		return harness.Unique("user"), nil
	},
	"GET /v1/customer-access/{externalCustomerId}/explain": func(*testing.T, *fixture) (string, harness.JSON) {
		return harness.Unique("user"), nil
	},
	"POST /v1/customer-access/{externalCustomerId}/grants": func(*testing.T, *fixture) (string, harness.JSON) {
		return harness.Unique("user"), grantBody()
	},
	"DELETE /v1/customer-access/{externalCustomerId}/grants/{id}": func(t *testing.T, w *fixture) (string, harness.JSON) {
		customer := harness.Unique("user")
		return customer + " " + w.grant(t, customer), nil
	},
	"POST /v1/customer-access/{externalCustomerId}/credits/consume": func(t *testing.T, w *fixture) (string,
		harness.JSON) {
		customer := harness.Unique("user")
		w.grant(t, customer)
		return customer, harness.JSON{"key": "renders", "amount": 3, "idempotencyKey": harness.Unique("render")}
	},
	"POST /v1/webhook-endpoints":     func(*testing.T, *fixture) (string, harness.JSON) { return "", endpointBody() },
	"GET /v1/webhook-endpoints/{id}": func(t *testing.T, w *fixture) (string, harness.JSON) { return w.endpoint(t), nil },
	"PATCH /v1/webhook-endpoints/{id}": func(t *testing.T, w *fixture) (string, harness.JSON) {
		body := endpointBody()
		body["enabled"] = true
		return w.newEndpoint(t), body
	},
	"DELETE /v1/webhook-endpoints/{id}": func(t *testing.T, w *fixture) (string,
		harness.JSON) {
		return w.newEndpoint(t), nil
	},
	"GET /v1/webhook-endpoints/{id}/secret": func(t *testing.T, w *fixture) (string,
		harness.JSON) {
		return w.endpoint(t), nil
	},
	"POST /v1/webhook-endpoints/{id}/rotate-secret": func(t *testing.T, w *fixture) (string,
		harness.JSON) {
		return w.newEndpoint(t), nil
	},
	"POST /v1/webhook-endpoints/{id}/test": func(t *testing.T, w *fixture) (string,
		harness.JSON) {
		return w.newEndpoint(t), nil
	},
	"GET /v1/webhook-endpoints/{id}/deliveries": func(t *testing.T, w *fixture) (string,
		harness.JSON) {
		return w.endpoint(t), nil
	},
	"POST /v1/webhook-endpoints/{id}/deliveries/{deliveryId}/redeliver": func(t *testing.T, w *fixture) (string,
		harness.JSON) {
		w.hook = "" // another operation moves the clock so far that an endpoint that fails is disabled
		id, _ := w.delivery(t)
		return w.endpoint(t) + " " + id, nil
	},
	"POST /v1/webhook-endpoints/{id}/replay": func(t *testing.T, w *fixture) (string, harness.JSON) {
		return w.newEndpoint(t), harness.JSON{"from": "2020-01-01T00:00:00.000Z", "to": "2100-01-01T00:00:00.000Z"}
	},
	"POST /v1/tasks/{id}/retry": func(t *testing.T, w *fixture) (string,
		harness.JSON) {
		return taskID(w.failedTask(t)), nil
	},
	"POST /v1/customers/{id}/erase": func(t *testing.T, w *fixture) (string, harness.JSON) {
		return w.placed(t, nil), nil
	},
	"GET /v1/customers/{id}/export": func(t *testing.T, w *fixture) (string, harness.JSON) {
		return w.placed(t, nil), nil
	},
	"PUT /v1/catalog": func(*testing.T, *fixture) (string, harness.JSON) {
		return "", harness.JSON{"version": 1, "listings": []harness.JSON{}, "usage": harness.JSON{"meters": []harness.JSON{
			{"name": "Files", "eventName": "files", "aggregation": "LAST"},
		}, "products": []harness.JSON{}}}
	},
	"PUT /v1/scheduling/availability": func(*testing.T, *fixture) (string, harness.JSON) { return "", availabilityBody() },
	"PUT /v1/scheduling/meeting-settings": func(*testing.T, *fixture) (string, harness.JSON) {
		return "", harness.JSON{
			"virtual":  harness.JSON{"provider": "jitsi", "url": "https://jitsi.example.com/team"},
			"inPerson": harness.JSON{"address": "1 Rue de Rivoli\n75001 Paris"},
		}
	},
	"DELETE /v1/scheduling/meeting-accounts/{provider}": func(t *testing.T, w *fixture) (string, harness.JSON) {
		return w.meetingAccount(t), nil
	},
	"GET /m/{room}": func(t *testing.T, w *fixture) (string, harness.JSON) { return w.meetingRoom(t), nil },
	"GET /v1/listings/{id}/readiness": func(t *testing.T, w *fixture) (string, harness.JSON) {
		return w.appointment(t).ID,
			nil
	},
	"GET /v1/listings/{id}/available-dates": func(t *testing.T, w *fixture) (string, harness.JSON) {
		return w.Publish(t, w.appointment(t)).ID, nil
	},
	"GET /v1/listings/{id}/slots": func(_ *testing.T, w *fixture) (string, harness.JSON) {
		return w.listing.ID,
			nil
	},
	"GET /v1/listings/{id}/slots/range": func(t *testing.T, w *fixture) (string,
		harness.JSON) {
		return w.Publish(t, w.appointment(t)).ID, nil
	},
	"GET /calendar/{secret}.ics": func(t *testing.T, w *fixture) (string, harness.JSON) { return w.feed(t), nil },
	"GET /v1/events/{id}": func(t *testing.T, w *fixture) (string, harness.JSON) {
		w.Pay(t, w.session(t), harness.CardSucceeds).Want(t, 200)
		return w.found(t, "/v1/events", url.Values{"type": {"payment.completed"}})[0], nil
	},
	"GET /v1/appointments/{id}": func(t *testing.T, w *fixture) (string, harness.JSON) { return w.booked(t).ID, nil },
	"POST /v1/appointments/{id}/reschedule": func(t *testing.T, w *fixture) (string, harness.JSON) {
		return w.booked(t).ID, harness.JSON{
			"appointmentSlot": harness.JSON{
				"startsAt": w.openTime(t), "timezone": "Europe/Dublin", "deliveryMode": "in_person",
			},
		}
	},
	"POST /v1/appointments/{id}/cancel": func(t *testing.T, w *fixture) (string, harness.JSON) {
		return w.booked(t).ID, harness.JSON{"reason": "The coach is ill."}
	},
	"POST /v1/appointments/{id}/outcome": func(t *testing.T, w *fixture) (string, harness.JSON) {
		return w.begun(t).ID, harness.JSON{"outcome": "completed"}
	},
	"POST /v1/sandbox/checkout-sessions/{id}/pay": func(t *testing.T, w *fixture) (string, harness.JSON) {
		return w.session(t).ID, harness.JSON{
			"cardNumber": harness.CardSucceeds, "email": "grace@example.com", "country": "IE",
		}
	},
	"POST /v1/refunds": func(t *testing.T, w *fixture) (string, harness.JSON) {
		_, receipt := w.sell(t, w.book(t, 2000), harness.CardSucceeds, nil)
		return "", harness.JSON{
			"paymentId": receipt["paymentId"], "amountInCents": 500, "reason": "requested_by_customer",
			"keepAccess": true,
		}
	},
	"GET /v1/payments/{id}": func(t *testing.T, w *fixture) (string, harness.JSON) {
		_, receipt := w.sell(t, w.book(t, 2000), harness.CardSucceeds, nil)
		return text(t, receipt["paymentId"]), nil
	},
	"PATCH /v1/refunds/{id}": func(t *testing.T, w *fixture) (string, harness.JSON) {
		return w.refunded(t), harness.JSON{"metadata": harness.JSON{"ticket": "7"}}
	},
	"GET /v1/refunds/{id}": func(t *testing.T, w *fixture) (string, harness.JSON) { return w.refunded(t), nil },
	"GET /v1/disputes/{id}": func(t *testing.T, w *fixture) (string, harness.JSON) {
		id, _ := w.dispute(t, w.book(t, 2000))
		return id, nil
	},
	"POST /v1/disputes/{id}/evidence": func(t *testing.T, w *fixture) (string, harness.JSON) {
		id, _ := w.dispute(t, w.book(t, 2000))
		return id, harness.JSON{"text": "It was delivered.", "fileUrls": []string{"https://example.com/proof.pdf"}}
	},
	"GET /v1/disputes/{id}/evidence": func(t *testing.T, w *fixture) (string, harness.JSON) {
		id, _ := w.dispute(t, w.book(t, 2000))
		return id, nil
	},
	"POST /v1/disputes/{id}/files": func(t *testing.T, w *fixture) (string, harness.JSON) {
		id, _ := w.dispute(t, w.book(t, 2000))
		return id, nil
	},
	"DELETE /v1/disputes/{id}/files/{fileId}": func(t *testing.T, w *fixture) (string, harness.JSON) {
		id, _ := w.dispute(t, w.book(t, 2000))
		return id + " " + w.disputeFile(t, id, "a.pdf"), nil
	},
	"POST /v1/disputes/{id}/accept": func(t *testing.T, w *fixture) (string, harness.JSON) {
		id, _ := w.dispute(t, w.book(t, 2000))
		return id, nil
	},
	"POST /v1/payout-account-sessions": func(*testing.T, *fixture) (string, harness.JSON) {
		return "/v1/payout-account-sessions", harness.JSON{"country": "DE", "returnUrl": "https://shop.example/payouts"}
	},
	"POST /v1/payouts": func(t *testing.T, w *fixture) (string, harness.JSON) {
		w.startOver(t)
		w.paid(t)
		return "", harness.JSON{"currency": "eur", "amountInCents": 1000}
	},
	"GET /v1/payouts/{id}": func(t *testing.T, w *fixture) (string,
		harness.JSON) {
		return w.startOver(t).paid(t), nil
	},
	"GET /v1/payouts/{id}/statement": func(t *testing.T, w *fixture) (string,
		harness.JSON) {
		return w.startOver(t).paid(t), nil
	},
	"POST /v1/usage/meters": func(*testing.T, *fixture) (string, harness.JSON) {
		return "", harness.JSON{
			"name": "API calls", "eventName": harness.Unique("calls"), "aggregation": "SUM", "dimensions": []string{"model"},
		}
	},
	"GET /v1/usage/meters/{id}": func(t *testing.T, w *fixture) (string, harness.JSON) {
		return w.usageOf(t).meterID,
			nil
	},
	"POST /v1/usage/products": func(*testing.T, *fixture) (string, harness.JSON) {
		return "", harness.JSON{"name": "API access", "type": "SERVICE"}
	},
	"GET /v1/usage/products/{id}": func(t *testing.T, w *fixture) (string, harness.JSON) {
		return w.usageOf(t).productID,
			nil
	},
	"POST /v1/usage/prices": func(t *testing.T, w *fixture) (string, harness.JSON) {
		body := priceBody(w.usageOf(t).productID)
		body["rates"] = []harness.JSON{
			{"when": harness.JSON{"model": "large"}, "tiers": []harness.JSON{{"unitAmountInCents": 20}}},
		}
		return "", body
	},
	"GET /v1/usage/prices/{id}": func(t *testing.T, w *fixture) (string, harness.JSON) {
		return w.usageOf(t).priceID,
			nil
	},
	"POST /v1/usage/billing-plans": func(t *testing.T, w *fixture) (string, harness.JSON) {
		m := *w.usageOf(t)
		m.meterID = m.make(t, "/v1/usage/meters", harness.JSON{
			"name": "More calls", "eventName": harness.Unique("calls"), "aggregation": "MAX",
		})
		return "", m.planBody()
	},
	"GET /v1/usage/billing-plans/{id}": func(t *testing.T, w *fixture) (string,
		harness.JSON) {
		return w.usageOf(t).planID, nil
	},
	"GET /v1/usage/billing-plans/{id}/preview": func(t *testing.T, w *fixture) (string,
		harness.JSON) {
		return w.usageOf(t).planID, nil
	},
	"POST /v1/usage/billing-plans/{id}/change": func(t *testing.T, w *fixture) (string, harness.JSON) {
		m := w.usageOf(t)
		return m.planID, harness.JSON{"priceId": m.make(t, "/v1/usage/prices", priceBody(m.productID))}
	},
	"POST /v1/usage/billing-plans/{id}/end": func(t *testing.T, w *fixture) (string, harness.JSON) {
		m := *w.usageOf(t)
		m.meterID = m.make(t, "/v1/usage/meters", harness.JSON{
			"name": "Calls of a while", "eventName": harness.Unique("calls"), "aggregation": "MAX",
		})
		return m.make(t, "/v1/usage/billing-plans", m.planBody()), nil
	},
	"POST /v1/usage/events": func(t *testing.T, w *fixture) (string, harness.JSON) {
		body := w.usageOf(t).reportBody(harness.Unique("report"), "12.5")
		body["timestamp"] = clockOf(t, w.Account).Format(time.RFC3339)
		return "", body
	},
	"GET /v1/usage/events": func(t *testing.T, w *fixture) (string, harness.JSON) {
		return "?subscriptionId=" + w.usageOf(t).subscriptionID, nil
	},
	"POST /v1/usage/events/batch": func(t *testing.T, w *fixture) (string, harness.JSON) {
		body := w.usageOf(t).reportBody(harness.Unique("report"), "12.5")
		body["timestamp"] = clockOf(t, w.Account).Format(time.RFC3339)
		return "", harness.JSON{"events": []harness.JSON{body}}
	},
	"POST /v1/usage/events/{idempotencyKey}/void": func(t *testing.T, w *fixture) (string,
		harness.JSON) {
		return w.usageOf(t).report(t, "1"), nil
	},
	"GET /v1/usage/summary": func(t *testing.T, w *fixture) (string, harness.JSON) {
		return "?subscriptionId=" + w.usageOf(t).subscriptionID, nil
	},
	"POST /v1/usage/alerts": func(t *testing.T, w *fixture) (string, harness.JSON) {
		return "",
			w.usageOf(t).alertBody()
	},
	"GET /v1/usage/credits/{id}": func(t *testing.T, w *fixture) (string, harness.JSON) {
		return w.usageOf(t).credit(t), nil
	},
	"GET /v1/usage/alerts/{id}": func(t *testing.T, w *fixture) (string, harness.JSON) {
		return w.usageOf(t).alert(t),
			nil
	},
	"DELETE /v1/usage/alerts/{id}": func(t *testing.T, w *fixture) (string, harness.JSON) {
		return w.usageOf(t).alert(t),
			nil
	},
	"POST /v1/invoices": func(t *testing.T, w *fixture) (string, harness.JSON) {
		return "", w.usageOf(t).invoiceBody(harness.Unique("march"), 500)
	},
	"GET /v1/invoices/{id}": func(t *testing.T, w *fixture) (string,
		harness.JSON) {
		return w.usageOf(t).pushed(t).ID, nil
	},
	"PATCH /v1/invoices/{id}": func(t *testing.T, w *fixture) (string, harness.JSON) {
		return w.usageOf(t).pushed(t).ID, harness.JSON{"metadata": harness.JSON{"order": "7"}}
	},
	"GET /v1/invoices/{id}/explain": func(t *testing.T, w *fixture) (string,
		harness.JSON) {
		return w.usageOf(t).pushed(t).ID, nil
	},
	"POST /v1/invoices/{id}/pay": func(t *testing.T, w *fixture) (string, harness.JSON) { return w.unpaid(t), nil },
	"GET /d/{kind}/{secret}": func(t *testing.T, w *fixture) (string, harness.JSON) {
		return w.creditNote(t),
			nil
	},
	"GET /d/{kind}/{secret}/pdf": func(t *testing.T, w *fixture) (string, harness.JSON) {
		return w.creditNote(t),
			nil
	},
	"GET /i/{secret}": func(t *testing.T, w *fixture) (string,
		harness.JSON) {
		return w.usageOf(t).pushed(t).secret(), nil
	},
	"GET /i/{secret}/pdf": func(t *testing.T, w *fixture) (string,
		harness.JSON) {
		return w.usageOf(t).pushed(t).secret(), nil
	},
	"POST /i/{secret}/pay": func(t *testing.T, w *fixture) (string,
		harness.JSON) {
		return w.usageOf(t).pushed(t).secret(), nil
	},
	"POST /v1/sandbox/clock/advance": func(*testing.T, *fixture) (string, harness.JSON) {
		return "",
			harness.JSON{"seconds": 1}
	},
	"GET /c/{secret}/state": func(t *testing.T, w *fixture) (string, harness.JSON) {
		return w.session(t).Secret(),
			nil
	},
	"POST /c/{secret}/slots": func(t *testing.T, w *fixture) (string, harness.JSON) { return w.undecided(t) },
	"POST /c/{secret}/details": func(t *testing.T, w *fixture) (string, harness.JSON) {
		return w.session(t).Secret(),
			bodyOfPage()
	},
	"POST /c/{secret}/discount": func(t *testing.T, w *fixture) (string, harness.JSON) {
		return w.session(t).Secret(), harness.JSON{"code": w.discount(t, nil).Code}
	},
	"POST /c/{secret}/change": func(t *testing.T, w *fixture) (string, harness.JSON) {
		session := w.NewSession(t, w.listing, "pro", harness.Unique("user"),
			harness.JSON{"buyerMayChange": []string{"interval", "quantity"}})
		return session.Secret(), harness.JSON{"interval": "year", "quantity": 2}
	},
	"POST /c/{secret}/pay": func(t *testing.T, w *fixture) (string, harness.JSON) {
		session, body := w.session(t), bodyOfPage()
		body["cardNumber"] = harness.CardSucceeds
		return session.Secret(), w.Agreed(t, session, body)
	},
	"GET /c/{secret}/challenge": func(t *testing.T, w *fixture) (string, harness.JSON) { return w.challenged(t), nil },
	"POST /c/{secret}/authenticate": func(t *testing.T, w *fixture) (string, harness.JSON) {
		return w.challenged(t), harness.JSON{"approve": true}
	},
}

// challenged is the secret of a session whose buyer the bank asks for confirmation.
func (w *fixture) challenged(t *testing.T) string {
	t.Helper()
	session := w.session(t)
	w.Ask(t, harness.Request{Method: http.MethodPost, Path: "/c/" + session.Secret() + "/pay", Body: harness.JSON{
		"email": "grace@example.com", "cardNumber": harness.CardAsksOnce,
	}}).Want(t, 200)
	return session.Secret()
}

// validQueries maps an operation to the query parameters that it requires.
var validQueries = map[string]string{
	"addDisputeFile": "?name=proof.pdf", "getReceipt": "?headless=true", "getSlots": "?date=2026-03-08",
	"getAvailableDates": "?from=2026-03-01&to=2026-03-31", "getSlotsRange": "?from=2026-03-01&to=2026-03-31",
}

func (w *fixture) signIn(t *testing.T) (in signedIn) {
	t.Helper()
	w.Ask(t, harness.Request{Method: http.MethodPost, Path: "/v1/auth/sign-in",
		Body: harness.JSON{"email": w.Email, "password": harness.Password}}).
		Want(t, 200).Into(t, &in)
	return in
}

// request is a valid request for the operation, with the credential that it wants.
func (w *fixture) request(t *testing.T, op harness.Operation) harness.Request {
	t.Helper()
	r := harness.Request{Method: op.Method, Path: op.Path, Bearer: w.credential(op)}
	build, known := validRequests[op.Line()]
	if !known {
		if op.TakesBody() || strings.Contains(op.Path, "{") {
			t.Fatalf("%s has no line in validRequests", op.Line())
		}
		return r
	}
	arguments, body := build(t, w)
	r.Bearer = w.credential(op) // building may have started over
	if query, found := strings.CutPrefix(arguments, "?"); found {
		r.Path, arguments = r.Path+"?"+query, ""
	}
	for argument := range strings.FieldsSeq(arguments) {
		r.Path = placeholder.ReplaceAllStringFunc(r.Path, once(argument))
	}
	if body != nil {
		r.Body = body
	}
	if op.TakesBytes() {
		r.Body, r.Headers = []byte(partContent), map[string]string{"Content-Type": "application/octet-stream"}
	}
	r.Path += validQueries[op.OperationID]
	return r
}

// credential returns the credential that the operation's auth mode requires; "" for none.
func (w *fixture) credential(op harness.Operation) string {
	switch op.Auth {
	case httpapi.AccessToken:
		return w.Token
	case httpapi.SecretKey, httpapi.SecretKeyOrReturnToken, httpapi.SecretKeyOrAccessToken:
		return w.Key
	case httpapi.Public:
	}
	return ""
}
