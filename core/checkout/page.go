package checkout

import (
	"time"

	"sundry/core/payment"
)

// PageState selects the content of the hosted page. It follows from the session alone, so a reload or a second tab
// shows the same.
type PageState string

// The states of the page that follow from the session; the page itself knows loading, details and already paid.
const (
	PageChooseMode      PageState = "choose_mode" // a hybrid listing: where first, then when
	PageChooseTime      PageState = "choose_time"
	PageSlotUnavailable PageState = "slot_unavailable"
	PagePay             PageState = "pay"
	PageAuthenticating  PageState = "authenticating"
	PageProcessing      PageState = "processing"
	PagePaid            PageState = "paid"
	PagePaymentFailed   PageState = "payment_failed"
	PageFailed          PageState = "failed"
	PageExpired         PageState = "expired"
)

// Terminal reports whether the session is terminal, so that a new one must replace it.
func (p PageState) Terminal() bool {
	return p == PageExpired || p == PageFailed || p == PageSlotUnavailable
}

// Page returns the state of the page. live is the status of the live attempt ("" when there is none). held counts the
// chosen times that are still reserved for the buyer and have not begun.
func (s State) Page(live payment.Status, held int, now time.Time) PageState {
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
	case s.Offer.ForAppointments() && len(s.Slots) == 0:
		return s.selectionPage()
	case held < len(s.Slots):
		return PageSlotUnavailable
	case s.LastError.Code != "":
		return PagePaymentFailed
	}
	return PagePay
}

func (s State) selectionPage() PageState {
	if len(s.Offer.DeliveryModes) > 1 {
		return PageChooseMode
	}
	return PageChooseTime
}
