// Package ordertest has orders for the tests of pages.
package ordertest

import (
	"time"

	"sundry/adapters/web/order"
	"sundry/core/locale"
)

// Once returns a one-time purchase.
func Once(state string) order.Order {
	return order.Order{
		Reader: locale.Default,
		ID:     "cs_01hzy3v7q8k4m2n6p9r5s7t1wx", Secret: "s3cr3t", State: state, Seller: "Field Notes Studio",
		Item: order.Item{
			Title: "The Letterpress Handbook", Type: "DIGITAL",
			Description: "A 180-page illustrated guide to setting, inking and printing type. PDF and EPUB.",
		},
		Currency: "eur", Subtotal: 2900, Total: 2900, NeedsCard: true,
		Buyer:     order.Buyer{Email: "ada@example.com"},
		CancelURL: "https://fieldnotes.example/books?from=checkout",
	}
}

// Subscription returns a discounted subscription with contained tax.
func Subscription(state string) order.Order {
	c := Once(state)
	c.Item = order.Item{
		Title: "Studio Pro", Type: "SUBSCRIPTION", Plan: "Team", Description: "Unlimited projects and five seats.",
	}
	c.Subtotal, c.Discount, c.Tax, c.TaxLabel, c.Total = 4900, 900, 717, "Tax included, 21.8% (Germany)", 4000
	c.Recurring = &order.Recurring{Unit: "month", Count: 1, Amount: 4900}
	return c
}

// Trial returns a subscription that begins with a trial.
func Trial(state string) order.Order {
	c := Subscription(state)
	c.Subtotal, c.Discount, c.Tax, c.Total = 0, 0, 0, 0
	c.Recurring = &order.Recurring{
		Unit: "month", Count: 1, Amount: 4900, First: 4900, TrialDays: 14,
		FirstChargeAt: time.Date(2026, 3, 22, 9, 0, 0, 0, time.UTC),
	}
	return c
}

// Free asks for no card.
func Free(state string) order.Order {
	c := Once(state)
	c.Item.Title = "Starter Type Specimens"
	c.Subtotal, c.Total, c.NeedsCard = 0, 0, false
	return c
}

// Paid returns an order once it is paid.
func Paid(c order.Order) order.Order {
	c.RedirectURL = "https://fieldnotes.example/thanks?checkout_id=cs_1&return_token=t"
	c.Receipt = &order.Receipt{
		Number: "R-2026-000042", URL: "/r/s3cr3t", Card: "Visa •••• 4242",
		PaidAt: time.Date(2026, 3, 8, 14, 5, 9, 0, time.UTC), DownloadURL: "https://files.example/handbook.pdf",
	}
	return c
}

// Lesson returns an appointment session of so many times, the first of them chosen so far; the clocks of New York
// change between the first two.
func Lesson(state string, sessions, chosen int, modes ...string) order.Order {
	c := Once(state)
	c.Item = order.Item{Title: "Press Lesson", Type: "APPOINTMENT"}
	c.Now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	c.ExpiresAt = c.Now.Add(30 * time.Minute)
	c.Booking = &order.Booking{
		Reader: locale.Default, ListingID: "lst_1", VariantID: "var_1", Minutes: 60, Sessions: sessions, Modes: modes,
		FullRefundHours: new(24),
	}
	for i := range chosen {
		at := time.Date(2026, 3, 7+i, 14, 0, 0, 0, time.UTC)
		c.Booking.Times = append(c.Booking.Times, order.Meeting{
			Reader: locale.Default, StartsAt: at, EndsAt: at.Add(time.Hour), Zone: "America/New_York", Mode: modes[0],
		})
	}
	if c.Choosing() {
		c.Booking.Calendar = &order.Calendar{Zone: "Europe/Paris", Until: "2026-04-30", Gap: 15}
	}
	if sessions > 1 {
		c.Subtotal, c.Total = 24000, 24000
	}
	return c
}
