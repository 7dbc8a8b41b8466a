package e2e_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"sundry/tests/harness"
)

// refused is a body that is not accepted and how it is refused. Without a code it is VALIDATION_FAILED.
type refused struct {
	body   any
	status int
	code   string
	fields []string
}

func (r refused) check(t *testing.T, name string, response *harness.Response) {
	t.Helper()
	if r.code == "" {
		r.status, r.code = 400, "VALIDATION_FAILED"
	}
	before := t.Failed()
	response.Refuses(t, r.status, r.code, r.fields...)
	if t.Failed() && !before {
		t.Errorf("that was %q: sent %.300v", name, r.body)
	}
}

// badURLs are redirect addresses that are not accepted.
var badURLs = []string{
	"", "shop.example", "/welcome", "//shop.example", "http://shop.example", "ftp://shop.example",
	"javascript:alert(1)", "data:text/html,x",
	"https://", "https:///x", "https://user@shop.example", "https://user:pass@shop.example/", "https:\\\\shop.example",
	"https://shop.example\\@evil.example",
	" https://shop.example", "https://shop.example/a b", "https://shop.example/\nx", "https://shop.example/\tx",
	"https://sh op.example", "https://shop.example:99999",
	"https://shop.example:x", "https://{CHECKOUT_SESSION_ID}.example", "http://localhost.evil.example",
	"http://127.0.0.1.evil.example", "https://[::1", "https://shop..example",
	"https://shop.example/" + strings.Repeat("a", 2048),
}

// goodURLs are, in the sandbox.
var goodURLs = []string{
	"https://shop.example", "https://shop.example:8443/a/b?c=d#e", "http://localhost:3000/x", "http://127.0.0.1/x",
	"http://[::1]:3000/", "HTTPS://Shop.Example/ü?q=ü",
	"https://shop.example/{CHECKOUT_SESSION_ID}", "https://shop.example/%7BCHECKOUT_SESSION_ID%7D",
	"https://xn--bcher-kva.example/",
}

func TestBadCheckoutSessionsAreRefused(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w, other := newFixture(t, app), newFixture(t, app)
		draft, archived, appointment := w.NewListing(t, nil), w.Published(t, nil), w.Publish(t, w.appointment(t))
		w.AsCreator(t, remove, "/v1/listings/"+archived.ID, nil).Want(t, 200)
		body := func(over harness.JSON) harness.JSON { return harness.SessionBody(w.listing, "pro", "user_1", over) }
		byID := func(id string, over harness.JSON) harness.JSON {
			b := harness.SessionBody(w.listing, "pro", "user_1", harness.JSON{"catalog": nil, "listingId": id})
			maps.Copy(b, over)
			return b
		}
		catalog := func(over harness.JSON) harness.JSON {
			c := harness.JSON{"listing": w.listing.CatalogKey, "plan": "pro"}
			maps.Copy(c, over)
			return body(harness.JSON{"catalog": c})
		}
		pairs := harness.JSON{}
		for i := range 21 {
			pairs[fmt.Sprint("key", i)] = "value"
		}
		cases := map[string]refused{
			"nothing at all": {body: harness.JSON{}, fields: []string{"catalog", "successUrl"}},
			"both ways to name the offer": {
				body: body(harness.JSON{"listingId": w.listing.ID}), fields: []string{"listingId"},
			},
			"an empty catalog": {
				body: body(harness.JSON{"catalog": harness.JSON{}}), fields: []string{"catalog.listing"},
			},
			"no customer with a catalog": {
				body: body(harness.JSON{"externalCustomerId": nil}), fields: []string{"externalCustomerId"},
			},
			"a customer too long": {
				body:   body(harness.JSON{"externalCustomerId": strings.Repeat("é", 256)}),
				fields: []string{"externalCustomerId"},
			},
			"a control character": {
				body: body(harness.JSON{"externalCustomerId": "a\nb"}), fields: []string{"externalCustomerId"},
			},
			"an interval nobody has": {
				body: catalog(harness.JSON{"interval": "fortnight"}), fields: []string{"catalog.interval"},
			},
			"an empty interval": {
				body: catalog(harness.JSON{"interval": ""}), fields: []string{"catalog.interval"},
			},
			"a variant with a catalog": {
				body: body(harness.JSON{"variantId": "var_1"}), fields: []string{"variantId"},
			},
			"no e-mail address": {body: body(harness.JSON{"email": "grace"}), fields: []string{"email"}},
			"a country that is none": {
				body:   body(harness.JSON{"customer": harness.JSON{"country": "ZZ"}}),
				fields: []string{"customer.country"},
			},
			"a country in small letters": {
				body:   body(harness.JSON{"customer": harness.JSON{"country": "ie"}}),
				fields: []string{"customer.country"},
			},
			"a name too long": {
				body:   body(harness.JSON{"customer": harness.JSON{"name": strings.Repeat("x", 201)}}),
				fields: []string{"customer.name"},
			},
			"21 pairs of metadata": {body: body(harness.JSON{"metadata": pairs}), fields: []string{"metadata"}},
			"metadata of numbers": {
				body: body(harness.JSON{"metadata": harness.JSON{"a": 1}}), fields: []string{"metadata.a"},
			},
			"a mode nobody has": {body: body(harness.JSON{"uiMode": "popup"}), fields: []string{"uiMode"}},
			"a discount nobody has": {
				body: body(harness.JSON{"discountCode": "FREE"}), fields: []string{"discountCode"},
			},
			"a time for a subscription": {
				body: body(harness.JSON{
					"appointmentSlot": harness.JSON{"startsAt": "2030-01-01T09:00:00Z", "timezone": "Europe/Dublin"},
				}),
				fields: []string{"appointmentSlot"},
			},
			"a price of its own": {
				body: body(harness.JSON{"priceInCents": 1}), fields: []string{"priceInCents"},
			},
			"faults of reading and values": {
				body:   body(harness.JSON{"surprise": 1, "email": "x", "uiMode": 7}),
				fields: []string{"surprise", "email", "uiMode"},
			},

			"an unknown listing": {
				body: catalog(harness.JSON{"listing": "nothing-like-it"}), status: 404, code: "NOT_FOUND",
			},
			"an unknown plan": {
				body: catalog(harness.JSON{"plan": "nothing"}), status: 404, code: "NOT_FOUND",
			},
			"an interval it is not for": {
				body: catalog(harness.JSON{"interval": "day"}), status: 404, code: "NOT_FOUND",
			},
			"another creator's catalog": {
				body: catalog(harness.JSON{"listing": other.listing.CatalogKey}), status: 404, code: "NOT_FOUND",
			},
			"another creator's listing": {body: byID(other.listing.ID, nil), status: 404, code: "NOT_FOUND"},
			"an unknown id":             {body: byID(unknownListing, nil), status: 404, code: "NOT_FOUND"},
			"a slug for an id":          {body: byID(w.listing.Slug, nil), status: 404, code: "NOT_FOUND"},
			"a variant it has not": {
				body: byID(w.listing.ID, harness.JSON{"variantId": "var_01jqz5y2c4e6g8h0k2m4p6r8s0"}), status: 404,
				code: "NOT_FOUND",
			},
			"a draft": {body: byID(draft.ID, nil), status: 409, code: "LISTING_NOT_PURCHASABLE"},
			"a draft by its key": {
				body: catalog(harness.JSON{"listing": draft.CatalogKey, "plan": "default"}), status: 409,
				code: "LISTING_NOT_PURCHASABLE",
			},
			"an archived listing":         {body: byID(archived.ID, nil), status: 409, code: "LISTING_NOT_PURCHASABLE"},
			"an appointment not bookable": {body: byID(appointment.ID, nil), status: 400, code: "NOT_BOOKABLE"},
		}
		for i, bad := range badURLs {
			cases[fmt.Sprintf("successUrl %d %.40q", i, bad)] = refused{
				body: body(harness.JSON{"successUrl": bad}), fields: []string{"successUrl"},
			}
			cases[fmt.Sprintf("cancelUrl %d %.40q", i, bad)] = refused{
				body: body(harness.JSON{"cancelUrl": bad}), fields: []string{"cancelUrl"},
			}
		}
		for name, c := range cases {
			c.check(t, name, w.AsBackend(t, post, "/v1/checkout-sessions", c.body))
		}
		for _, good := range goodURLs {
			w.AsBackend(t, post, "/v1/checkout-sessions", body(harness.JSON{"successUrl": good, "cancelUrl": good})).Want(t, 201)
		}
	})
}

// A member that is required is never said to be one to leave out.
func TestCheckoutSession_EmptySuccessURL(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		body := harness.SessionBody(w.listing, "pro", "user_1", harness.JSON{"successUrl": ""})
		response := w.AsBackend(t, post, "/v1/checkout-sessions", body)
		response.Refuses(t, 400, "VALIDATION_FAILED", "successUrl")
		if want := "Specify where the buyer goes after paying."; !strings.Contains(string(response.Body), want) {
			t.Errorf("got %s, want %q in it", response.Body, want)
		}
	})
}

func TestBadPaymentsAreRefusedAndNothingIsTried(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		session := w.session(t)
		page := "/c/" + session.Secret()
		for name, c := range map[string]struct {
			path string
			refused
		}{
			"the backend without a card": {
				"", refused{body: harness.JSON{}, fields: []string{"cardNumber"}},
			},
			"the backend with a real card": {
				"", refused{body: harness.JSON{"cardNumber": "4929123456789016"}, fields: []string{"cardNumber"}},
			},
			"the backend with every fault": {
				"",
				refused{
					body:   harness.JSON{"cardNumber": "1", "email": "x", "country": "zz"},
					fields: []string{"cardNumber", "email", "country"},
				},
			},
			"the backend with times": {
				"",
				refused{
					body:   harness.JSON{"cardNumber": harness.CardSucceeds, "appointmentSlots": []any{}},
					fields: []string{"appointmentSlots"},
				},
			},
			"the page without an address": {
				page + "/pay",
				refused{body: harness.JSON{"cardNumber": harness.CardSucceeds}, fields: []string{"email"}},
			},
			"the page without a card": {
				page + "/pay",
				refused{body: harness.JSON{"email": "grace@example.com"}, fields: []string{"cardNumber"}},
			},
			"the page with every fault": {
				page + "/pay",
				refused{
					body:   harness.JSON{"email": "x", "country": "zz", "cardNumber": "1"},
					fields: []string{"email", "country", "cardNumber"},
				},
			},
			"details with a card": {
				page + "/details",
				refused{body: harness.JSON{"cardNumber": harness.CardSucceeds}, fields: []string{"cardNumber"}},
			},
			"details with no address": {
				page + "/details", refused{body: harness.JSON{"email": "grace"}, fields: []string{"email"}},
			},
			"a response to nothing": {
				page + "/authenticate", refused{body: harness.JSON{}, fields: []string{"approve"}},
			},
			"a response of the wrong type": {
				page + "/authenticate", refused{body: harness.JSON{"approve": "yes"}, fields: []string{"approve"}},
			},
			"the page, faults and a member too many": {
				page + "/pay",
				refused{
					body:   harness.JSON{"email": "x", "country": "zz", "cardNumber": "1", "tip": 5},
					fields: []string{"email", "country", "cardNumber", "tip"},
				},
			},
			"details, faults of all kinds": {
				page + "/details",
				refused{
					body:   harness.JSON{"email": "x", "country": "zz", "cardNumber": "1", "tip": 5},
					fields: []string{"email", "country", "cardNumber", "tip"},
				},
			},
			"the backend, faults of all kinds": {
				"",
				refused{
					body: harness.JSON{
						"cardNumber": "1", "email": "x", "country": "zz", "tip": 5,
						"appointmentSlots": []any{harness.JSON{"startsAt": "soon"}},
					},
					fields: []string{
						"cardNumber", "email", "country", "tip", "appointmentSlots[0].startsAt",
						"appointmentSlots[0].timezone",
					},
				},
			},
			"an amount of the buyer's": {
				page + "/pay",
				refused{
					body: harness.JSON{
						"email": "grace@example.com", "cardNumber": harness.CardSucceeds, "totalInCents": 1,
					},
					fields: []string{"totalInCents"},
				},
			},
			"another secret": {
				"/c/" + flip(session.Secret()) + "/pay",
				refused{body: harness.JSON{"cardNumber": harness.CardSucceeds}, status: 404, code: "NOT_FOUND"},
			},
			"the id in place of the secret": {
				"/c/" + session.ID + "/pay",
				refused{body: harness.JSON{"cardNumber": harness.CardSucceeds}, status: 404, code: "NOT_FOUND"},
			},
			"an unknown session": {
				"/v1/sandbox/checkout-sessions/cs_01jqz5y2c4e6g8h0k2m4p6r8s0/pay",
				refused{body: harness.JSON{"cardNumber": harness.CardSucceeds}, status: 404, code: "NOT_FOUND"},
			},
			"the secret in place of the id": {
				"/v1/sandbox/checkout-sessions/" + session.Secret() + "/pay",
				refused{body: harness.JSON{"cardNumber": harness.CardSucceeds}, status: 404, code: "NOT_FOUND"},
			},
		} {
			path := c.path
			if path == "" {
				path = "/v1/sandbox/checkout-sessions/" + session.ID + "/pay"
			}
			c.check(t, name, w.AsBackend(t, post, path, c.body))
		}
		if receipt := w.Receipt(t, session); receipt["status"] != "processing" || receipt["lastPaymentError"] != nil {
			t.Errorf("something was tried: %v", receipt)
		}
		w.Pay(t, session, harness.CardSucceeds).Want(t, 200)
	})
}
