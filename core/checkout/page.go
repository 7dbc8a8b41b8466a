package checkout

import (
	"time"

	"sundry/core/payment"
)

// PageState is what the hosted page shows. It follows from the session alone, so a reload or a second tab lands right.
type PageState string

// The states of contract §6 that a session without an appointment passes through.
const (
	PagePay            PageState = "pay"
	PageAuthenticating PageState = "authenticating"
	PageProcessing     PageState = "processing"
	PagePaid           PageState = "paid"
	PagePaymentFailed  PageState = "payment_failed"
	PageFailed         PageState = "failed"
	PageExpired        PageState = "expired"
)

// Page is what the page shows now; live is the status of the live attempt ("" when there is none).
func (s State) Page(live payment.Status, now time.Time) PageState {
	switch s.Status {
	case StatusPaid:
		return PagePaid
	case StatusFailed:
		return PageFailed
	case StatusExpired:
		return PageExpired
	case StatusProcessing:
	}
	switch {
	case live == payment.RequiresAction:
		return PageAuthenticating
	case s.LivePaymentID != "":
		return PageProcessing
	case !now.Before(s.ExpiresAt):
		return PageExpired
	case s.LastError.Code != "":
		return PagePaymentFailed
	}
	return PagePay
}
