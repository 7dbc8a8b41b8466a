package e2e_test

import (
	"fmt"
	"html"
	"net/url"
	"path"
	"strings"
	"sync"
	"testing"
	"time"

	"sundry/tests/harness"
)

type discountCode struct {
	ID, Code      string
	TimesRedeemed int
}

func (w *fixture) discountBody() harness.JSON {
	return harness.JSON{
		"code": harness.Unique("spring"), "percentOff": 20, "duration": "repeating", "durationInMonths": 3,
		"maxRedemptions": 100,
		"expiresAt":      "2100-01-01T00:00:00Z", "listingIds": []string{w.listing.ID},
	}
}

// discount makes a code; over replaces or adds members, null removes them.
func (w *fixture) discount(t *testing.T, over harness.JSON) (made discountCode) {
	t.Helper()
	body := w.discountBody()
	for name, value := range over {
		if value == nil {
			delete(body, name)
			continue
		}
		body[name] = value
	}
	w.AsCreator(t, post, "/v1/discounts", body).Want(t, 201).Into(t, &made)
	return made
}

func (w *fixture) redeemed(t *testing.T, made discountCode) int {
	t.Helper()
	w.AsCreator(t, get, "/v1/discounts/"+made.ID, nil).Want(t, 200).Into(t, &made)
	return made.TimesRedeemed
}

func TestADiscountIsMadeListedAndDeleted(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		made := w.AsCreator(t, post, "/v1/discounts",
			harness.JSON{"code": "Five-Off", "amountOffInCents": 500, "currency": "eur"}).Want(t, 201).Map(t)
		if made["code"] != "Five-Off" || made["percentOff"] != nil || fmt.Sprint(made["amountOffInCents"]) != "500" ||
			made["duration"] != "once" ||
			made["maxRedemptions"] != nil || fmt.Sprint(made["timesRedeemed"]) != "0" || made["active"] != true ||
			made["livemode"] != false {
			t.Errorf("made %v", made)
		}
		w.AsCreator(t, post, "/v1/discounts", harness.JSON{"code": "FIVE-OFF", "percentOff": 5}).Refuses(
			t, 400, "VALIDATION_FAILED", "code",
		)
		w.AsCreator(t, post, "/v1/discounts", harness.JSON{"percentOff": 101, "duration": "twice", "maxRedemptions": 0,
			"expiresAt": "yesterday"}).
			Refuses(t, 400, "VALIDATION_FAILED", "code", "percentOff", "duration", "maxRedemptions", "expiresAt")
		for _, at := range []string{"0001-01-01T00:00:00Z", "9999-12-31T23:59:59-12:00"} { // a zero time is no "never"
			w.AsCreator(t, post, "/v1/discounts", harness.JSON{"code": "A", "percentOff": 5, "expiresAt": at}).
				Refuses(t, 400, "VALIDATION_FAILED", "expiresAt")
		}
		w.AsCreator(t, post, "/v1/discounts", harness.JSON{"code": "A", "percentOff": 5,
			"listingIds": []string{newFixture(t, app).listing.ID}}).
			Refuses(t, 400, "VALIDATION_FAILED", "listingIds[0]")
		page := w.AsCreator(t, get, "/v1/discounts", nil).Want(t, 200).Map(t)
		if all := page["data"].([]any); len(all) != 1 || fmt.Sprint(all[0]) != fmt.Sprint(made) {
			t.Errorf("listed %v", page)
		}
		outsider := newFixture(t, app)
		address := "/v1/discounts/" + made["id"].(string)
		outsider.AsCreator(t, get, address, nil).Refuses(t, 404, "NOT_FOUND")
		outsider.AsCreator(t, "DELETE", address, nil).Refuses(t, 404, "NOT_FOUND")
		w.AsBackend(t, get, address, nil).Refuses(t, 401, "UNAUTHENTICATED")
		for range 2 {
			if gone := w.AsCreator(t, "DELETE", address, nil).Want(t, 200).Map(t); gone["active"] != false {
				t.Errorf("deleted %v", gone)
			}
		}
		if page := w.AsCreator(t, get, "/v1/discounts", nil).Want(t, 200).Map(t); len(page["data"].([]any)) != 0 {
			t.Errorf("listed %v", page)
		}
	})
}

func TestADiscountCodeReducesWhatIsPaid(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		code := w.discount(t, nil)
		session := w.NewSession(t, w.listing, "pro", harness.Unique("user"), harness.JSON{
			"discountCode": strings.ToUpper(code.Code),
		})
		shown := w.AsBackend(t, get, "/v1/checkout-sessions/"+session.ID, nil).Want(t, 200).Map(t)
		if got := fmt.Sprintf(
			"%v %v %v", shown["subtotalInCents"], shown["discountInCents"], shown["totalInCents"],
		); got != "1900 380 1520" {
			t.Errorf("the session shows %s", got)
		}
		if s := state(t, app, session); s["discountCode"] != code.Code || fmt.Sprint(s["totalInCents"]) != "1520" {
			t.Errorf("the page shows %v", s)
		}
		if n := w.redeemed(t, code); n != 0 {
			t.Errorf("redeemed %d times before anybody paid", n)
		}
		w.Pay(t, session, harness.CardDeclined).Refuses(t, 402, "CARD_DECLINED")
		if n := w.redeemed(t, code); n != 0 {
			t.Errorf("redeemed %d times by a declined card", n)
		}
		paid := w.Pay(t, session, harness.CardSucceeds).Want(t, 200).Map(t)
		if got := fmt.Sprintf(
			"%v %v %v", paid["subtotalInCents"], paid["discountInCents"], paid["totalInCents"],
		); got != "1900 380 1520" {
			t.Errorf("the receipt shows %s", got)
		}
		if n := w.redeemed(t, code); n != 1 {
			t.Errorf("redeemed %d times", n)
		}
		w.AsBackend(t, post, "/v1/checkout-sessions",
			harness.SessionBody(w.listing, "pro", "u", harness.JSON{"discountCode": "nothing"})).
			Refuses(t, 400, "VALIDATION_FAILED", "discountCode")
		elsewhere := w.Published(t, nil)
		w.AsBackend(t, post, "/v1/checkout-sessions",
			harness.SessionBody(elsewhere, "default", "u", harness.JSON{"discountCode": code.Code})).
			Refuses(t, 400, "VALIDATION_FAILED", "discountCode")
	})
}

func TestABuyerTypesACodeOnThePage(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		all := w.discount(t, harness.JSON{
			"percentOff": 100, "duration": "once", "durationInMonths": nil, "listingIds": nil,
		})
		listing := w.Published(t, nil)
		session := w.NewSession(t, listing, "default", harness.Unique("user"), nil)
		apply := func(code any) *harness.Response {
			return app.Ask(t, harness.Request{
				Method: post, Path: "/c/" + session.Secret() + "/discount", Body: harness.JSON{"code": code},
			})
		}
		apply("nothing").Refuses(t, 400, "VALIDATION_FAILED", "code")
		apply("").Refuses(t, 400, "VALIDATION_FAILED", "code")
		if s := apply(all.Code).Want(t, 200).Map(t); fmt.Sprint(s["totalInCents"]) != "0" || s["discountCode"] != all.Code {
			t.Errorf("with the code: %v", s)
		}
		if s := apply(nil).Want(t, 200).Map(t); fmt.Sprint(s["totalInCents"]) == "0" || s["discountCode"] != nil {
			t.Errorf("without it again: %v", s)
		}
		apply(all.Code).Want(t, 200)
		free := app.Ask(t, harness.Request{Method: post, Path: "/c/" + session.Secret() + "/pay",
			Body: harness.JSON{"email": "grace@example.com", "country": "IE"}}).Want(t, 200).Map(t)
		if free["status"] != "paid" {
			t.Errorf("nothing to pay, and it is %v", free)
		}
		apply(nil).Refuses(t, 409, "SESSION_ALREADY_PAID")
	})
}

// A payment link applies a discount code. Its page says of one that is refused that it takes nothing off.
func TestAPaymentLinkTakesADiscountCode(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		code := w.discount(t, nil)
		var link struct{ URL string }
		w.AsCreator(t, post, "/v1/payment-links", w.linkBody()).Want(t, 201).Into(t, &link)
		opened := func(given string) (harness.Session, url.Values) {
			t.Helper()
			res := app.Ask(t, harness.Request{Method: get, Path: "/l/" + path.Base(link.URL),
				Query: url.Values{"discount_code": {given}}}).Want(t, 303)
			address, query, _ := strings.Cut(res.Header.Get("Location"), "?")
			shown, err := url.ParseQuery(query)
			if err != nil {
				t.Fatal(err)
			}
			return harness.Session{CheckoutURL: address}, shown
		}
		page := func(session harness.Session, query url.Values) string {
			t.Helper()
			res := app.Ask(t, harness.Request{Method: get, Path: "/c/" + session.Secret(), Query: query}).Want(t, 200)
			return string(res.Body)
		}
		const refused = `role="alert">This code can’t be used for this order.</p>`
		taken, query := opened(code.Code)
		if s := state(t, app, taken); fmt.Sprint(s["totalInCents"]) != "1520" || len(query) > 0 {
			t.Errorf("with a good code: %v at %v", s, query)
		}
		if strings.Contains(page(taken, url.Values{"refused_code": {"other"}}), refused) {
			t.Errorf("the page of a code that was applied says %q", refused)
		}
		if bare, query := opened(""); len(query) > 0 || strings.Contains(page(bare, query), refused) {
			t.Errorf("without a code the page says %q at %v", refused, query)
		}
		usedUp, foreign := w.discount(t, harness.JSON{"maxRedemptions": 1}), w.Published(t, nil)
		w.Pay(t, w.NewSession(t, w.listing, "pro", harness.Unique("user"), harness.JSON{"discountCode": usedUp.Code}),
			harness.CardSucceeds).Want(t, 200)
		expired := w.discount(t, harness.JSON{"expiresAt": time.Now().Add(time.Hour)})
		w.AsBackend(t, post, "/v1/sandbox/clock/advance", harness.JSON{"seconds": 7200}).Want(t, 200)
		for name, given := range map[string]string{
			"unknown": "nothing", "used up": usedUp.Code, "expired": expired.Code, "no code at all": `"><b>ä`,
			"another listing's": w.discount(t, harness.JSON{"listingIds": []string{foreign.ID}}).Code,
		} {
			session, query := opened(given)
			if s := state(t, app, session); fmt.Sprint(s["totalInCents"]) != "1900" {
				t.Errorf("%s: %v", name, s)
			}
			if shown := page(session, query); !strings.Contains(shown, refused) ||
				!strings.Contains(shown, `value="`+html.EscapeString(given)+`"`) {
				t.Errorf("%s: the page at %v says nothing of it", name, query)
			}
			w.AsBackend(t, post, "/v1/checkout-sessions",
				harness.SessionBody(w.listing, "pro", harness.Unique("user"), harness.JSON{"discountCode": given})).
				Refuses(t, 400, "VALIDATION_FAILED", "discountCode")
		}
	})
}

// Twelve buyers pay at once with a code that three may use, with good cards and bad ones.
func TestADiscountIsNeverRedeemedMoreOftenThanItMayBe(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		const most = 3
		code := w.discount(t, harness.JSON{"maxRedemptions": most})
		sessions := make([]harness.Session, 12)
		for i := range sessions {
			sessions[i] = w.NewSession(
				t, w.listing, "pro", harness.Unique("user"), harness.JSON{"discountCode": code.Code},
			)
		}
		var all sync.WaitGroup
		for i, session := range sessions {
			all.Go(func() {
				card := harness.CardSucceeds
				if i%4 == 0 {
					card = harness.CardDeclined
				}
				for range 2 { // a click too many
					response := w.Pay(t, session, card)
					if response.Status == 409 && !strings.Contains(string(response.Body), "LIMIT_REACHED") &&
						!strings.Contains(string(response.Body), "SESSION_ALREADY_PAID") &&
						!strings.Contains(string(response.Body), "STATE_CONFLICT") {
						t.Errorf("paying: %s", response.Body)
					}
				}
			})
		}
		all.Wait()
		for i, session := range sessions { // what declined cards have released is there for others
			if i%4 != 0 {
				w.Pay(t, session, harness.CardSucceeds)
			}
		}
		reduced := 0
		for _, session := range sessions {
			receipt := w.Receipt(t, session)
			if receipt["status"] == "paid" && fmt.Sprint(receipt["discountInCents"]) != "0" {
				reduced++
			}
		}
		if n := w.redeemed(t, code); reduced != most || n != most {
			t.Errorf("%d payments were reduced and %d uses counted, want %d", reduced, n, most)
		}
	})
}

func TestASessionNamesAVariantByItsKey(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		w.sessionHours(t)
		listing := w.appointment(t)
		pack := w.AsCreator(t, post, "/v1/listings/"+listing.ID+"/variants", harness.JSON{
			"key": "five-pack", "name": "Pack of five", "durationMinutes": 60, "sessionCount": 5, "priceInCents": 40000,
		}).Want(t, 201).Map(t)
		if pack["key"] != "five-pack" {
			t.Errorf("made %v", pack)
		}
		w.AsCreator(t, post, "/v1/listings/"+listing.ID+"/variants", harness.JSON{"key": "five-pack", "durationMinutes": 30}).
			Refuses(t, 400, "VALIDATION_FAILED", "key")
		w.AsCreator(t, "PATCH", "/v1/listings/"+listing.ID+"/variants/"+pack["variantId"].(string),
			harness.JSON{"key": "six-pack"}).
			Refuses(t, 400, "VALIDATION_FAILED", "key")
		listing = w.Publish(t, listing)
		body := func(variant string) harness.JSON {
			return harness.SessionBody(listing, "default", harness.Unique("user"), harness.JSON{
				"catalog": harness.JSON{"listing": listing.CatalogKey, "variant": variant},
			})
		}
		made := w.AsBackend(t, post, "/v1/checkout-sessions", body("five-pack")).Want(t, 201).Map(t)
		if made["variantId"] != pack["variantId"] || fmt.Sprint(made["totalInCents"]) != "40000" {
			t.Errorf("opened %v", made)
		}
		if catalog := made["catalog"].(map[string]any); catalog["variant"] != "five-pack" || catalog["plan"] != "default" {
			t.Errorf("the session names %v", catalog)
		}
		w.AsBackend(t, post, "/v1/checkout-sessions", body("six-pack")).Refuses(t, 404, "NOT_FOUND")
	})
}

// Renewals are reduced as long as the code specifies, counted from the first payment.
func TestADiscountReducesTheRenewalsThatItIsFor(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		for duration, want := range map[string]string{"once": "[1900 1900 950]", "repeating": "[1900 950 950]",
			"forever": "[950 950 950]"} {
			w := newFixture(t, app)
			over := harness.JSON{"percentOff": 50, "duration": duration, "durationInMonths": nil}
			if duration == "repeating" {
				over["durationInMonths"] = 2
			}
			code := w.discount(t, over)
			session := w.NewSession(
				t, w.listing, "pro", harness.Unique("user"), harness.JSON{"discountCode": code.Code},
			)
			w.Pay(t, session, harness.CardSucceeds).Want(t, 200)
			s := subscription(t, w.Account, w.Receipt(t, session)["subscriptionId"].(string))
			for range 2 {
				advanceTo(t, w.Account, s.CurrentPeriodEnd.Add(time.Hour))
				s = subscription(t, w.Account, s.ID)
			}
			var events struct {
				Data []struct {
					Data struct{ TotalInCents int64 }
				}
			}
			w.AsBackend(t, get, "/v1/events?type=payment.completed", nil).Want(t, 200).Into(t, &events)
			var totals []int64
			for _, e := range events.Data {
				totals = append(totals, e.Data.TotalInCents)
			}
			if got := fmt.Sprint(totals); got != want {
				t.Errorf("%s: paid, the last first, %s; want %s", duration, got, want)
			}
		}
	})
}

// The page and the mail of a trial name what the first payment costs with the code, which is what it then costs.
func TestATrialNamesItsDiscountedFirstPayment(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w, buyer := newFixture(t, app), harness.Unique("grace")+"@example.com"
		listing := w.Published(t, harness.JSON{
			"type": "SUBSCRIPTION", "priceInCents": 1000, "metadata": harness.JSON{"interval": "month", "trialDays": 14},
		})
		code := w.discount(t, harness.JSON{
			"percentOff": 40, "duration": "once", "durationInMonths": nil, "listingIds": nil,
		})
		session := w.NewSession(t, listing, "default", harness.Unique("user"), harness.JSON{"discountCode": code.Code})
		page := string(app.Ask(t, harness.Request{Method: get, Path: "/c/" + session.Secret()}).Want(t, 200).Body)
		for _, want := range []string{
			"Then €6.00, and €10.00 per month once the discount ends", "Off the first payment",
			"you’ll pay €6.00, and €10.00 per month once the discount ends, until you cancel.",
		} {
			if !strings.Contains(page, want) {
				t.Errorf("the page lacks %q", want)
			}
		}
		w.payAs(t, session, buyer)
		workOff(t, w.Account)
		const mailed = "will charge your card €6.00, and €10.00 per month once the discount ends, until you cancel."
		if mails := mailsTo(t, app, buyer); len(mails) != 1 || !strings.Contains(mails[0].Parts["text/plain"], mailed) {
			t.Errorf("the mails don't say %q: %v", mailed, mails)
		}
		w.advance(t, 15*24*3600)
		var paid struct {
			Data []struct{ AmountInCents int64 }
		}
		w.AsBackend(t, get, "/v1/payments?status=succeeded", nil).Want(t, 200).Into(t, &paid)
		if len(paid.Data) == 0 || paid.Data[0].AmountInCents != 600 {
			t.Errorf("paid after the trial: %+v, want 600", paid.Data)
		}
	})
}
