package web

import (
	"fmt"
	"strings"
)

// messages holds every string of the pages, by key. A translation is a second table with
// the same keys; %s and %d keep their order. Keys under "js." are handed to the scripts.
var messages = map[string]string{
	"brand":     "Sundry",
	"skip":      "Skip to content",
	"days.one":  "1 day",
	"days.many": "%d days",

	"interval.day.one":    "per day",
	"interval.day.many":   "every %d days",
	"interval.week.one":   "per week",
	"interval.week.many":  "every %d weeks",
	"interval.month.one":  "per month",
	"interval.month.many": "every %d months",
	"interval.year.one":   "per year",
	"interval.year.many":  "every %d years",

	"billed.day.one":    "Billed daily",
	"billed.day.many":   "Billed every %d days",
	"billed.week.one":   "Billed weekly",
	"billed.week.many":  "Billed every %d weeks",
	"billed.month.one":  "Billed monthly",
	"billed.month.many": "Billed every %d months",
	"billed.year.one":   "Billed yearly",
	"billed.year.many":  "Billed every %d years",

	"title.loading":        "Checkout",
	"title.details":        "Checkout",
	"title.pay":            "Checkout",
	"title.payment_failed": "Payment declined",
	"title.authenticating": "Confirm with your bank",
	"title.processing":     "Confirming payment",
	"title.paid":           "Payment complete",
	"title.already_paid":   "Already paid",
	"title.failed":         "Payment not completed",
	"title.expired":        "Checkout expired",

	"sandbox.badge":  "Sandbox",
	"sandbox.banner": "No real money moves here.",
	"sandbox.try":    "Pay with test card",
	"sandbox.card":   "4242 4242 4242 4242",
	"sandbox.more":   "Test cards",
	"sandbox.hint":   "Any future expiry date and any security code work. Real card numbers are refused.",

	"card.succeeds":    "Payment succeeds",
	"card.declined":    "Declined",
	"card.funds":       "Declined: insufficient funds",
	"card.expired":     "Declined: expired card",
	"card.cvc":         "Declined: wrong security code",
	"card.auth_once":   "Bank asks to confirm, once",
	"card.auth_always": "Bank asks to confirm, every time",
	"card.later_fails": "Succeeds now, later charges fail",
	"card.disputed":    "Succeeds, then is disputed",
	"card.timeout":     "Charged, but the answer is lost",
	"card.processing":  "Stays processing until the clock moves",

	"summary.label":  "Order summary",
	"summary.toggle": "Order details",
	"back.to":        "Back to %s",

	"headline.buy":       "%s",
	"headline.subscribe": "Subscribe to %s",
	"headline.trial":     "Try %s",
	"trial.free":         "%s free",
	"price.free":         "Free",
	"cadence.then":       "Then %s %s",
	"line.subtotal":      "Subtotal",
	"line.discount":      "Discount",
	"line.tax":           "Tax",
	"line.tax_included":  "Tax included",
	"line.total":         "Total",
	"line.paid":          "Paid",
	"line.due":           "Due today",
	"line.after_trial":   "Due on %s",
	"merchant":           "Sold by Sundry, merchant of record for %s",
	"merchant.note":      "Your statement will show SUNDRY. Sundry handles payment, tax and refunds for this order.",

	"pay.contact":           "Contact",
	"pay.email":             "Email",
	"pay.details":           "Your details",
	"pay.payment":           "Payment",
	"pay.card":              "Card number",
	"pay.expiry":            "Expiry date",
	"pay.expiry_hint":       "MM / YY",
	"pay.cvc":               "Security code",
	"pay.cvc_hint":          "3 or 4 digits",
	"pay.name":              "Name on card",
	"pay.your_name":         "Name",
	"pay.optional":          "optional",
	"pay.country":           "Country or region",
	"pay.country_none":      "Select a country",
	"pay.postal":            "Postal code",
	"pay.amount":            "Pay %s",
	"pay.trial":             "Start free trial",
	"pay.subscribe":         "Subscribe",
	"pay.free":              "Get it",
	"pay.no_card":           "This is free. No card is needed.",
	"pay.declined_title":    "Your payment did not go through",
	"pay.declined_fallback": "The card was declined. You have not been charged. Try another card.",
	"pay.noscript":          "This page needs JavaScript to send your card details safely. Please turn it on and reload.",
	"terms.once":            "One payment, nothing recurring.",
	"terms.free":            "You are charged nothing, now or later.",
	"terms.subscription":    "Renews at %s %s until you cancel. You can cancel at any time.",
	"terms.trial":           "Nothing is charged today. From %s you pay %s %s until you cancel. Cancel before then and you pay nothing.",
	"terms.secure":          "The shop never sees your card number.",

	"auth.bank":    "Test bank",
	"auth.badge":   "Simulated",
	"auth.heading": "Confirm this payment",
	"auth.lead":    "A real bank would ask you to approve this payment in its app or with a code. In the sandbox you choose how it ends.",
	"auth.shop":    "Merchant",
	"auth.amount":  "Amount",
	"auth.approve": "Complete authentication",
	"auth.refuse":  "Fail authentication",

	"processing.heading": "Confirming your payment",
	"processing.lead":    "This usually takes a few seconds. You will be charged at most once, even if you close or reload this page.",
	"processing.slow":    "Still waiting for the payment processor. You can leave this page open or come back to it later: it always shows where your payment is.",

	"paid.heading":         "Payment complete",
	"paid.heading_free":    "It’s yours",
	"paid.heading_trial":   "Your trial has started",
	"paid.already_heading": "This order is already paid",
	"paid.already_lead":    "It was paid in another tab or earlier. You were charged once.",
	"paid.lead":            "Thank you for your order from %s.",
	"paid.item":            "Item",
	"paid.amount":          "Amount paid",
	"paid.date":            "Date",
	"paid.card":            "Paid with",
	"paid.number":          "Receipt number",
	"paid.download":        "Download",
	"paid.receipt":         "View receipt",
	"paid.continue":        "Continue to %s",
	"paid.close":           "Done",
	"paid.end":             "You can close this page.",

	"failed.heading":  "This payment could not be completed",
	"failed.lead":     "The order was closed after too many attempts, and you have not been charged. Please start again from the shop.",
	"expired.heading": "This checkout has expired",
	"expired.lead":    "Checkout pages stay open for a limited time. You have not been charged. Start again from the shop to get a new one.",
	"ended.back":      "Back to %s",
	"ended.alone":     "Return to the shop where you started.",

	"receipt.title":    "Receipt %s",
	"receipt.heading":  "Receipt",
	"receipt.from":     "Sold by",
	"receipt.behalf":   "Merchant of record for %s",
	"receipt.to":       "Sold to",
	"receipt.item":     "Description",
	"receipt.paid":     "Amount paid",
	"receipt.refunded": "Refunded",
	"receipt.print":    "Print or save as PDF",
	"receipt.order":    "Order",
	"receipt.test":     "Test receipt from the sandbox. No money was moved.",

	"error.400.title": "This address is not valid",
	"error.400.lead":  "Part of it cannot be read. Check that you copied the whole link, or ask the shop for a new one.",
	"error.404.title": "Page not found",
	"error.404.lead":  "This address leads nowhere. If you followed a checkout link, check that it is complete, or ask the shop for a new one.",
	"error.410.title": "This link is no longer active",
	"error.410.lead":  "The seller has switched this payment link off, or the product is no longer sold. Ask the seller for a new one.",
	"error.429.title": "Too many requests",
	"error.429.lead":  "Please wait a moment, then try again.",
	"error.500.title": "Something went wrong on our side",
	"error.500.lead":  "The error was recorded. If you were paying, open the checkout page again: it always shows whether the payment was made.",
	"error.request":   "Reference",

	"js.invalid_email":   "Enter an email address like name@example.com.",
	"js.invalid_card":    "Enter the full card number.",
	"js.luhn":            "This card number has a typing error.",
	"js.invalid_expiry":  "Enter the expiry date as month and year.",
	"js.past_expiry":     "This card has expired.",
	"js.invalid_cvc":     "Enter the security code from the card.",
	"js.invalid_country": "Select your country or region.",
	"js.invalid_field":   "Check this value.",
	"js.working":         "Processing…",
	"js.declined":        "The card was declined. You have not been charged. Try another card.",
	"js.rate_limited":    "Too many attempts in a short time. Wait a moment, then try again.",
	"js.unreachable":     "We could not reach the payment service. Nothing has been charged. Please try again.",
	"js.unknown":         "We lost the connection while paying. Checking what happened…",
	"js.refused":         "This could not be accepted. Please check your details and try again.",
	"js.check_title":     "Please check your details",
	"js.declined_title":  "Your payment did not go through",
	"js.offline":         "We cannot reach the checkout. Check your connection, then try again. Trying again never charges you twice.",
	"js.redirecting":     "Taking you back to %s…",
	"js.filled":          "Test card filled in.",

	"docs.heading":     "Documentation",
	"docs.title":       "API reference",
	"docs.guide_title": "Getting started",
	"docs.filter":      "Filter endpoints",
	"docs.filter_hint": "Path, method or words",
	"docs.contents":    "Contents",
	"docs.auth.none":   "No authentication",
	"docs.auth":        "Authentication",
	"docs.params":      "Parameters",
	"docs.body":        "Request body",
	"docs.responses":   "Responses",
	"docs.required":    "required",
	"docs.example":     "Example",
	"docs.copy":        "Copy",
	"docs.copied":      "Copied",
	"docs.none":        "No endpoint matches.",
	"docs.matches":     "%d endpoints shown.",
	"docs.raw":         "OpenAPI document",
	"docs.any_key":     "any key",

	"guide.level_0":    "Level 0: a payment link",
	"guide.level_1":    "Level 1: a catalog checkout",
	"guide.level_2":    "Level 2: confirm the payment",
	"guide.overlay":    "The overlay",
	"guide.errors":     "Errors and retries",
	"guide.test_cards": "Test cards",

	"landing.title":       "Sundry: sell anything digital, grant access reliably",
	"landing.heading":     "Sell a product. Grant access. Nothing else to run.",
	"landing.lead":        "Hosted checkout, subscriptions and durable access snapshots behind one small API. Start with a link to share; move up when you need more.",
	"landing.docs":        "Read the guide",
	"landing.api":         "API reference",
	"landing.curl":        "From listing to access",
	"landing.sandbox":     "You are on a sandbox",
	"landing.hint":        "The demo creator’s sign-in, a secret key and a payment link were printed when the server first started. Buy with card 4242 4242 4242 4242.",
	"landing.one_title":   "Share a payment link",
	"landing.one":         "No code. Make a link for a listing and send it to anyone.",
	"landing.two_title":   "Or open a checkout",
	"landing.two":         "Read the recipe, create a session, redirect the buyer. Retries are safe.",
	"landing.three_title": "Read access, not events",
	"landing.three":       "One snapshot per customer, with a version and an ETag. Poll it, or hold the request open until it changes.",
}

// text gives a message with its values filled in. An unknown key shows itself, and a
// test keeps that from ever reaching a page.
func text(key string, values ...any) string {
	message, known := messages[key]
	if !known {
		return key
	}
	if len(values) == 0 {
		return message
	}
	return fmt.Sprintf(message, values...)
}

// scriptTexts are the messages the scripts show, without their prefix.
func scriptTexts() map[string]string {
	out := map[string]string{}
	for key, message := range messages {
		if name, ok := strings.CutPrefix(key, "js."); ok {
			out[name] = message
		}
	}
	return out
}
