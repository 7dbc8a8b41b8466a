package web

import (
	"testing"
	"time"
)

// openapiSample holds each construct the reference page has to show.
const openapiSample = `
openapi: 3.1.0
info: {title: Sample API, version: v1, description: "First **bold** paragraph.\n\n- one ` + "`code`" + `\n- two"}
security: [{secretKey: []}]
tags:
  - {name: Checkout, description: Sell one thing.}
  - {name: Unused}
paths:
  /v1/checkout-sessions:
    parameters:
      - {name: Idempotency-Key, in: header, required: true, schema: {type: string, maxLength: 255}, description: Makes retries safe.}
    post:
      tags: [Checkout]
      operationId: createCheckoutSession
      summary: Create a checkout session
      description: Opens a page <script>alert(1)</script> for the buyer.
      requestBody:
        content: {application/json: {schema: {$ref: '#/components/schemas/NewSession'}}}
      responses:
        "201":
          description: Created
          headers: {X-Request-Id: {schema: {type: string}}}
          content: {application/json: {schema: {$ref: '#/components/schemas/Session'}}}
        "400": {$ref: '#/components/responses/Invalid'}
  /v1/checkout-sessions/{id}:
    get:
      tags: [Checkout]
      summary: Read a checkout session
      security: []
      parameters:
        - {name: id, in: path, required: true, schema: {type: string}, example: cs_1}
      responses: {"200": {description: The session, content: {application/json: {schema: {$ref: '#/components/schemas/Session'}}}}}
components:
  securitySchemes:
    secretKey: {type: http, scheme: bearer}
    returnToken: {type: apiKey, in: query, name: returnToken}
  responses:
    Invalid: {description: Every fault is listed., content: {application/json: {schema: {type: object}}}}
  schemas:
    NewSession:
      type: object
      required: [catalog, successUrl]
      properties:
        catalog:
          type: object
          required: [listing]
          properties:
            listing: {type: string, example: "studio-pro"}
        successUrl: {type: string, format: uri, example: "https://shop.example/it's"}
        uiMode: {enum: [hosted, embedded], type: string}
        metadata: {type: object, additionalProperties: {type: string}}
    Session:
      allOf:
        - $ref: '#/components/schemas/NewSession'
        - type: object
          properties:
            id: {type: string}
            expiresAt: {type: [string, "null"], format: date-time}
            related: {type: array, items: {$ref: '#/components/schemas/Session'}}
`

func newTestPages(t *testing.T, sandbox bool) *Pages {
	t.Helper()
	p, err := NewPages(Site{BaseURL: "https://pay.example", Sandbox: sandbox}, []byte(openapiSample))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func onceCheckout(state string) Checkout {
	return Checkout{
		ID: "cs_01hzy3v7q8k4m2n6p9r5s7t1wx", Secret: "s3cr3t", State: state, Seller: "Field Notes Studio",
		Item: Item{
			Title: "The Letterpress Handbook", Type: "DIGITAL",
			Description: "A 180-page illustrated guide to setting, inking and printing by hand. PDF and EPUB.",
		},
		Currency: "eur", Subtotal: 2900, Total: 2900, NeedsCard: true,
		Buyer:     Buyer{Email: "ada@example.com"},
		CancelURL: "https://fieldnotes.example/books?from=checkout",
	}
}

func subscriptionCheckout(state string) Checkout {
	c := onceCheckout(state)
	c.Item = Item{Title: "Studio Pro", Type: "SUBSCRIPTION", Plan: "Team", Description: "Unlimited projects and five seats."}
	c.Subtotal, c.Discount, c.Tax, c.TaxIncluded, c.Total = 4900, 900, 717, true, 4000
	c.Recurring = &Recurring{Unit: "month", Count: 1, Amount: 4900}
	return c
}

func trialCheckout(state string) Checkout {
	c := subscriptionCheckout(state)
	c.Subtotal, c.Discount, c.Tax, c.Total = 0, 0, 0, 0
	c.Recurring = &Recurring{Unit: "month", Count: 1, Amount: 4900, TrialDays: 14, FirstChargeAt: time.Date(2026, 3, 22, 9, 0, 0, 0, time.UTC)}
	return c
}

func freeCheckout(state string) Checkout {
	c := onceCheckout(state)
	c.Item.Title = "Starter Type Specimens"
	c.Subtotal, c.Total, c.NeedsCard = 0, 0, false
	return c
}

func paidCheckout(c Checkout) Checkout {
	c.RedirectURL = "https://fieldnotes.example/thanks?checkout_id=cs_1&return_token=t"
	c.Receipt = &Receipt{
		Number: "R-2026-000042", URL: "/r/s3cr3t", Card: "Visa •••• 4242",
		PaidAt: time.Date(2026, 3, 8, 14, 5, 9, 0, time.UTC), DownloadURL: "https://files.example/handbook.pdf",
	}
	return c
}

// lesson is an appointment session of so many times, the first of them chosen so far; the clocks of New York change
// between the first two.
func lesson(state string, sessions, chosen int, modes ...string) Checkout {
	c := onceCheckout(state)
	c.Item = Item{Title: "Press lesson", Type: "APPOINTMENT"}
	c.Now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	c.ExpiresAt = c.Now.Add(30 * time.Minute)
	c.Booking = &Booking{ListingID: "lst_1", VariantID: "var_1", Minutes: 60, Sessions: sessions, Modes: modes}
	for i := range chosen {
		at := time.Date(2026, 3, 7+i, 14, 0, 0, 0, time.UTC)
		c.Booking.Times = append(c.Booking.Times, Meeting{StartsAt: at, EndsAt: at.Add(time.Hour), Zone: "America/New_York", Mode: modes[0]})
	}
	if c.Choosing() {
		c.Booking.Calendar = &Calendar{Zone: "Europe/Paris", Until: "2026-04-30", Gap: 15}
	}
	if sessions > 1 {
		c.Subtotal, c.Total = 24000, 24000
	}
	return c
}

// sampleCheckouts has every page there is, by a name a person can read.
func sampleCheckouts() map[string]Checkout {
	declined := onceCheckout("payment_failed")
	declined.Failure = &Failure{Code: "CARD_DECLINED", Message: "Your card has insufficient funds. Try another card."}
	failed := onceCheckout("failed")
	failed.Failure = &Failure{Code: "CARD_DECLINED", Message: "Your card was declined."}
	final := paidCheckout(onceCheckout("paid"))
	final.RedirectURL = ""
	embedded := onceCheckout("pay")
	embedded.Embedded, embedded.Parents = true, []string{"https://fieldnotes.example"}
	changing := lesson("choose_time", 1, 1, "in_person")
	changing.Changing, changing.Embedded, changing.Parents = true, true, []string{"https://fieldnotes.example"}
	booked := paidCheckout(lesson("paid", 3, 3, "virtual"))
	booked.Booking.Times[0].ManageURL = "https://pay.example/a/1"
	booked.Booking.Times[0].MeetingURL = "https://meet.example/ada?room=1&x=2"
	booked.Booking.Times[1].Mode, booked.Booking.Times[1].Address = "in_person", "7 Bridge Street"
	booked.Booking.Times[2].Canceled = true
	late := lesson("expired", 1, 1, "virtual")
	late.AgainURL, late.Embedded = "https://pay.example/c/s3cr3t/again", true
	lost := lesson("slot_unavailable", 1, 1, "virtual")
	lost.AgainURL = "https://pay.example/c/s3cr3t/again"
	return map[string]Checkout{
		"choose a mode":    lesson("choose_mode", 1, 0, "virtual", "in_person"),
		"choose a time":    lesson("choose_time", 1, 0, "virtual"),
		"choose a pack":    lesson("choose_time", 3, 0, "virtual"),
		"choose anew":      changing,
		"pay a lesson":     lesson("pay", 1, 1, "in_person"),
		"pay a pack":       lesson("payment_failed", 2, 2, "virtual"),
		"booked":           booked,
		"too late":         late,
		"time lost":        lost,
		"pay once":         onceCheckout("pay"),
		"details":          onceCheckout("details"),
		"pay subscription": subscriptionCheckout("pay"),
		"start trial":      trialCheckout("pay"),
		"get free product": freeCheckout("details"),
		"declined":         declined,
		"authenticating":   onceCheckout("authenticating"),
		"processing":       onceCheckout("processing"),
		"paid":             paidCheckout(onceCheckout("paid")),
		"paid, no return":  final,
		"trial started":    paidCheckout(trialCheckout("paid")),
		"already paid":     paidCheckout(onceCheckout("already_paid")),
		"attempt cap":      failed,
		"expired":          onceCheckout("expired"),
		"embedded":         embedded,
	}
}
