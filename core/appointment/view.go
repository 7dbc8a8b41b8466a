package appointment

import (
	"sundry/core/apiformat"
	"sundry/core/intake"
)

// View is an appointment as the API and the events appointment.* show it. Livemode and ManageURL are the
// API's alone, PreviousStartsAt is the event's of an appointment that was moved: each is left out where it is not set.
type View struct {
	ID                 string  `json:"id"`
	Status             Status  `json:"status"`
	Livemode           *bool   `json:"livemode,omitempty"`
	ListingID          string  `json:"listingId"`
	VariantID          string  `json:"variantId"`
	CheckoutID         string  `json:"checkoutId"`
	GroupID            *string `json:"groupId"`
	ExternalCustomerID *string `json:"externalCustomerId"`
	IntakeView
	StartsAt         *string      `json:"startsAt"`
	EndsAt           *string      `json:"endsAt"`
	Timezone         string       `json:"timezone"`
	DeliveryMode     DeliveryMode `json:"deliveryMode"`
	MeetingURL       *string      `json:"meetingUrl"`
	Address          *string      `json:"address"`
	FullRefundHours  *int         `json:"fullRefundHours"`
	CancelReason     *string      `json:"cancelReason"`
	CanceledAt       *string      `json:"canceledAt"`
	CanceledBy       *string      `json:"canceledBy"`
	RefundDecision   *string      `json:"refundDecision"`
	RefundID         *string      `json:"refundId"`
	Outcome          *string      `json:"outcome"`
	OutcomeAt        *string      `json:"outcomeAt"`
	ManageURL        string       `json:"manageUrl,omitempty"`
	CreatedAt        *string      `json:"createdAt"`
	PreviousStartsAt *string      `json:"previousStartsAt,omitempty"`
}

// IntakeView shows what a buyer answered, noted, and whom they invited.
type IntakeView struct {
	Answers []intake.Answer `json:"answers"`
	Notes   *string         `json:"notes"`
	Guests  []string        `json:"guests"`
}

// NewIntakeView shows a response.
func NewIntakeView(r intake.Response) IntakeView {
	view := IntakeView{Answers: []intake.Answer{}, Notes: apiformat.Text(r.Notes), Guests: []string{}}
	view.Answers, view.Guests = append(view.Answers, r.Answers...), append(view.Guests, r.Guests...)
	return view
}

// View shows the appointment as events do.
func (a State) View() View {
	return View{
		ID: a.ID, Status: a.Status, ListingID: a.ListingID, VariantID: a.VariantID, CheckoutID: a.CheckoutID,
		GroupID:            apiformat.Text(a.GroupID),
		ExternalCustomerID: apiformat.Text(a.ExternalCustomerID), IntakeView: NewIntakeView(a.Intake),
		StartsAt: apiformat.Time(a.StartsAt),
		EndsAt:   apiformat.Time(a.EndsAt),
		Timezone: a.Timezone, DeliveryMode: a.DeliveryMode, MeetingURL: apiformat.Text(a.MeetingURL),
		Address:         apiformat.Text(a.Address),
		FullRefundHours: a.RefundPolicy.Hours(), CancelReason: apiformat.Text(a.CancelReason),
		CanceledAt: apiformat.Time(a.CanceledAt),
		CanceledBy: apiformat.Text(string(a.CanceledBy)), RefundDecision: apiformat.Text(string(a.RefundDecision)),
		RefundID: apiformat.Text(a.RefundID), Outcome: apiformat.Text(string(a.Outcome)),
		OutcomeAt: apiformat.Time(a.OutcomeAt), CreatedAt: apiformat.Time(a.CreatedAt),
	}
}

// View shows the moved appointment with the time that it was moved from.
func (e Rescheduled) View() View {
	view := e.State.View()
	view.PreviousStartsAt = apiformat.Time(e.PreviousStartsAt)
	return view
}
