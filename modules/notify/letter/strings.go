package letter

import (
	"fmt"
	"time"
)

// messages holds every string of the letters, by key. A translation is a second table with the same keys; %s and %d
// keep their order.
var messages = map[string]string{
	"brand":           "Sundry",
	"sandbox.subject": "[Test] %s",
	"sandbox.notice":  "This is a test from the sandbox. No money was moved.",

	"every.day.one":    "per day",
	"every.day.many":   "every %d days",
	"every.week.one":   "per week",
	"every.week.many":  "every %d weeks",
	"every.month.one":  "per month",
	"every.month.many": "every %d months",
	"every.year.one":   "per year",
	"every.year.many":  "every %d years",

	"receipt.subject":       "Your receipt from %s: %s",
	"receipt.preview":       "%s, %s",
	"receipt.heading":       "Thank you for your order",
	"receipt.heading_trial": "Your trial has started",
	"receipt.heading_free":  "It’s yours",
	"receipt.lead":          "Dear %s, this is your receipt from %s.",
	"receipt.lead_unnamed":  "This is your receipt from %s.",
	"receipt.item":          "Item",
	"receipt.subtotal":      "Subtotal",
	"receipt.discount":      "Discount",
	"receipt.tax":           "Tax",
	"receipt.tax_included":  "Tax included",
	"receipt.total":         "Amount paid",
	"receipt.number":        "Receipt number",
	"receipt.date":          "Date",
	"receipt.renews":        "Renews at %s %s until you cancel.",
	"receipt.after_trial":   "Nothing was charged today. From %s you pay %s %s until you cancel.",
	"receipt.download":      "Download",
	"receipt.view":          "View receipt",
	"receipt.merchant":      "Sold by Sundry, merchant of record for %s. Your statement will show SUNDRY.",
	"receipt.footer":        "You get this mail because your address was given when this order was placed. Nobody reads answers to it.",

	"apt.booked.subject":              "Confirmed: %s on %s at %s",
	"apt.booked.heading":              "Your appointment is confirmed",
	"apt.booked.lead":                 "You will meet %s. The attached file adds it to your calendar.",
	"apt.rescheduled.subject":         "New time: %s on %s at %s",
	"apt.rescheduled.heading":         "Your appointment was moved",
	"apt.rescheduled.lead":            "Your appointment with %s has a new time. The attached file updates your calendar.",
	"apt.canceled.subject":            "Canceled: %s on %s at %s",
	"apt.canceled.heading":            "Your appointment was canceled",
	"apt.canceled.lead":               "Your appointment with %s will not take place. The attached file removes it from your calendar.",
	"apt.reminder.subject":            "Reminder: %s on %s at %s",
	"apt.reminder.heading":            "Your appointment is coming up",
	"apt.reminder.lead":               "You will soon meet %s.",
	"apt.creator.booked.subject":      "Booked: %s on %s at %s",
	"apt.creator.booked.heading":      "Somebody booked a time",
	"apt.creator.booked.lead":         "You will meet %s.",
	"apt.creator.rescheduled.subject": "Moved: %s to %s at %s",
	"apt.creator.rescheduled.heading": "An appointment was moved",
	"apt.creator.rescheduled.lead":    "Your appointment with %s has a new time.",
	"apt.creator.canceled.subject":    "Canceled: %s on %s at %s",
	"apt.creator.canceled.heading":    "An appointment was canceled",
	"apt.creator.canceled.lead":       "Your appointment with %s will not take place. Its time can be booked again.",
	"apt.preview":                     "%s at %s",
	"apt.somebody":                    "a buyer",
	"apt.what":                        "What",
	"apt.with":                        "With",
	"apt.when":                        "When",
	"apt.unsaid":                      "Not said yet",
	"apt.before":                      "Before",
	"apt.where":                       "Where",
	"apt.reason":                      "Reason",
	"apt.join":                        "Open the meeting link",
	"apt.manage":                      "See, move or cancel it",
	"apt.see":                         "See what was canceled",
	"apt.footer.buyer":                "You get this mail because your address was given when this appointment was booked. Nobody reads answers to it.",
	"apt.footer.creator":              "You get this mail because the appointment is with you.",

	"endpoint.subject":        "A webhook endpoint was switched off",
	"endpoint.preview":        "Events for it wait until you enable it again.",
	"endpoint.heading":        "A webhook endpoint was switched off",
	"endpoint.lead":           "Dear %s, we have stopped sending events to one of your endpoints.",
	"endpoint.url":            "Endpoint",
	"endpoint.id":             "Id",
	"endpoint.reason":         "Reason",
	"endpoint.reason.gone":    "It answered 410 Gone.",
	"endpoint.reason.failing": "Every attempt of the last five days has failed.",
	"endpoint.time":           "Time",
	"endpoint.after":          "Nothing is lost: events wait. Mend the endpoint, then enable it with PATCH /v1/webhook-endpoints/%s and {\"enabled\": true}; everything that waits is sent then. The log of attempts is at GET /v1/webhook-endpoints/%s/deliveries.",
	"endpoint.footer":         "You get this mail because the endpoint belongs to your account.",
}

// words returns the message with the key, its arguments filled in. An unknown key is a mistake of ours, so it is shown.
func words(key string, args ...any) string {
	message, known := messages[key]
	if !known {
		return "[" + key + "]"
	}
	if len(args) == 0 {
		return message
	}
	return fmt.Sprintf(message, args...)
}

// every says how often a price is charged: "per month", "every 3 months".
func every(unit string, count int) string {
	if count <= 1 {
		return words("every." + unit + ".one")
	}
	return words("every."+unit+".many", count)
}

// day and moment read as on the pages.
func day(t time.Time) string    { return t.UTC().Format("2 January 2006") }
func moment(t time.Time) string { return t.UTC().Format("2 January 2006, 15:04 UTC") }
