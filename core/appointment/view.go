package appointment

import "sundry/core/apiformat"

// View is an appointment as the API and the events appointment.* show it (contract §7, §9). Livemode and ManageURL are the
// API's alone, PreviousStartsAt is the event's of an appointment that was moved: each is left out where it is not set.
type View struct {
	ID                 string       `json:"id"`
	Status             Status       `json:"status"`
	Livemode           *bool        `json:"livemode,omitempty"`
	ListingID          string       `json:"listingId"`
	VariantID          string       `json:"variantId"`
	CheckoutID         string       `json:"checkoutId"`
	ExternalCustomerID *string      `json:"externalCustomerId"`
	StartsAt           *string      `json:"startsAt"`
	EndsAt             *string      `json:"endsAt"`
	Timezone           string       `json:"timezone"`
	DeliveryMode       DeliveryMode `json:"deliveryMode"`
	MeetingURL         *string      `json:"meetingUrl"`
	Address            *string      `json:"address"`
	FullRefundHours    *int         `json:"fullRefundHours"`
	CancelReason       *string      `json:"cancelReason"`
	CanceledAt         *string      `json:"canceledAt"`
	CanceledBy         *string      `json:"canceledBy"`
	RefundDecision     *string      `json:"refundDecision"`
	RefundID           *string      `json:"refundId"`
	ManageURL          string       `json:"manageUrl,omitempty"`
	CreatedAt          *string      `json:"createdAt"`
	PreviousStartsAt   *string      `json:"previousStartsAt,omitempty"`
}

// View shows the appointment as events do.
func (s State) View() View {
	return View{
		ID: s.ID, Status: s.Status, ListingID: s.ListingID, VariantID: s.VariantID, CheckoutID: s.CheckoutID,
		ExternalCustomerID: apiformat.Text(s.ExternalCustomerID), StartsAt: apiformat.Time(s.StartsAt), EndsAt: apiformat.Time(s.EndsAt),
		Timezone: s.Timezone, DeliveryMode: s.DeliveryMode, MeetingURL: apiformat.Text(s.MeetingURL), Address: apiformat.Text(s.Address),
		FullRefundHours: s.RefundPolicy.Hours(), CancelReason: apiformat.Text(s.CancelReason), CanceledAt: apiformat.Time(s.CanceledAt),
		CanceledBy: apiformat.Text(string(s.CanceledBy)), RefundDecision: apiformat.Text(string(s.RefundDecision)),
		RefundID: apiformat.Text(s.RefundID), CreatedAt: apiformat.Time(s.CreatedAt),
	}
}
