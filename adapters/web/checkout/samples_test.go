package checkout

import (
	"sundry/adapters/web/order"
	"sundry/adapters/web/order/ordertest"
)

// samples has every page there is, by a name a person can read.
func samples() map[string]order.Order {
	declined := ordertest.Once("payment_failed")
	declined.Failure = &order.Failure{
		Code: "CARD_DECLINED", Message: "Your card has insufficient funds. Try another card.",
	}
	failed := ordertest.Once("failed")
	failed.Failure = &order.Failure{Code: "CARD_DECLINED", Message: "Your card was declined."}
	final := ordertest.Paid(ordertest.Once("paid"))
	final.RedirectURL = ""
	partly, returned := ordertest.Paid(ordertest.Once("paid")), ordertest.Paid(ordertest.Once("already_paid"))
	partly.Receipt.Refunded, returned.Receipt.Refunded, returned.Receipt.DownloadURL = 900, 2900, ""
	embedded := ordertest.Once("pay")
	embedded.Embedded, embedded.Parents = true, []string{"https://fieldnotes.example"}
	changing := ordertest.Lesson("choose_time", 1, 1, "in_person")
	changing.Changing, changing.Embedded, changing.Parents = true, true, []string{"https://fieldnotes.example"}
	booked := ordertest.Paid(ordertest.Lesson("paid", 3, 3, "virtual"))
	booked.Booking.Times[0].ManageURL = "https://pay.example/a/1"
	booked.Booking.Times[0].MeetingURL = "https://meet.example/ada?room=1&x=2"
	booked.Booking.Times[1].Mode, booked.Booking.Times[1].Address = "in_person", "7 Bridge Street"
	booked.Booking.Times[2].Canceled = true
	late := ordertest.Lesson("expired", 1, 1, "virtual")
	late.AgainURL, late.Embedded = "https://pay.example/c/s3cr3t/again", true
	lost := ordertest.Lesson("slot_unavailable", 1, 1, "virtual")
	lost.AgainURL = "https://pay.example/c/s3cr3t/again"
	return map[string]order.Order{
		"choose a mode":    ordertest.Lesson("choose_mode", 1, 0, "virtual", "in_person"),
		"choose a time":    ordertest.Lesson("choose_time", 1, 0, "virtual"),
		"choose a pack":    ordertest.Lesson("choose_time", 3, 0, "virtual"),
		"choose again":     changing,
		"pay a lesson":     ordertest.Lesson("pay", 1, 1, "in_person"),
		"pay a pack":       ordertest.Lesson("payment_failed", 2, 2, "virtual"),
		"booked":           booked,
		"too late":         late,
		"time lost":        lost,
		"pay once":         ordertest.Once("pay"),
		"details":          ordertest.Once("details"),
		"pay subscription": ordertest.Subscription("pay"),
		"start trial":      ordertest.Trial("pay"),
		"get free product": ordertest.Free("details"),
		"declined":         declined,
		"authenticating":   ordertest.Once("authenticating"),
		"processing":       ordertest.Once("processing"),
		"paid":             ordertest.Paid(ordertest.Once("paid")),
		"paid, no return":  final,
		"partly refunded":  partly,
		"refunded":         returned,
		"trial started":    ordertest.Paid(ordertest.Trial("paid")),
		"already paid":     ordertest.Paid(ordertest.Once("already_paid")),
		"attempt cap":      failed,
		"expired":          ordertest.Once("expired"),
		"embedded":         embedded,
	}
}
