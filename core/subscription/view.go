package subscription

import (
	"encoding/json"

	"sundry/core/apiformat"
	"sundry/core/plan"
)

// View is a subscription as the API shows it and as its events carry it.
type View struct {
	ID                 string  `json:"id"`
	Livemode           bool    `json:"livemode"`
	Status             Status  `json:"status"`
	CheckoutID         *string `json:"checkoutId"`
	CustomerID         string  `json:"customerId"`
	ExternalCustomerID *string `json:"externalCustomerId"`
	ListingID          string  `json:"listingId"`
	ListingKey         string  `json:"listingKey"`
	pricedView
	Currency           string            `json:"currency"`
	PaymentMethodID    *string           `json:"paymentMethodId"`
	StartedAt          *string           `json:"startedAt"`
	CurrentPeriodStart *string           `json:"currentPeriodStart"`
	CurrentPeriodEnd   *string           `json:"currentPeriodEnd"`
	TrialEndsAt        *string           `json:"trialEndsAt"`
	CancelAtPeriodEnd  bool              `json:"cancelAtPeriodEnd"`
	CanceledAt         *string           `json:"canceledAt"`
	CancelReason       *string           `json:"cancelReason"`
	PausedAt           *string           `json:"pausedAt"`
	EndedAt            *string           `json:"endedAt"`
	NextAttemptAt      *string           `json:"nextAttemptAt"`
	GraceEndsAt        *string           `json:"graceEndsAt"`
	CreditInCents      int64             `json:"creditInCents"`
	PlannedChange      *PlannedView      `json:"plannedChange"`
	Discount           *DiscountView     `json:"discount"`
	Metadata           map[string]string `json:"metadata"`
}

// pricedView shows the plan of an offer and its price in its quantity.
type pricedView struct {
	Plan              string `json:"plan"`
	PriceID           string `json:"priceId"`
	Interval          string `json:"interval"`
	IntervalCount     int    `json:"intervalCount"`
	AmountInCents     int64  `json:"amountInCents"`
	Quantity          int    `json:"quantity"`
	UnitAmountInCents int64  `json:"unitAmountInCents"`
}

func newPricedView(o plan.Offer) pricedView {
	return pricedView{
		Plan: o.PlanKey, PriceID: o.PriceID, Interval: string(o.Interval), IntervalCount: o.IntervalCount,
		AmountInCents: o.Price.Minor, Quantity: o.Seats(), UnitAmountInCents: o.Unit().Minor,
	}
}

// PlannedView shows the plan of the next period.
type PlannedView struct {
	pricedView
	EffectiveAt *string `json:"effectiveAt"`
}

// DiscountView is a running discount.
type DiscountView struct {
	Code             string  `json:"code"`
	PercentOff       *int    `json:"percentOff"`
	AmountOffInCents *int64  `json:"amountOffInCents"`
	EndsAt           *string `json:"endsAt"`
}

// UpdatedView is the data of subscription.updated.
type UpdatedView struct {
	View
	Previous map[string]json.RawMessage `json:"previous"`
}

// ChargeFailedView is the data of subscription.dunning.
type ChargeFailedView struct {
	View
	Attempt     int     `json:"attempt"`
	DeclineCode *string `json:"declineCode"`
}

// NewView shows a subscription.
func NewView(s State, livemode bool) View {
	return View{
		ID: s.ID, Livemode: livemode, Status: s.Status, CheckoutID: apiformat.Text(s.CheckoutID), CustomerID: s.CustomerID,
		ExternalCustomerID: apiformat.Text(s.ExternalCustomerID), ListingID: s.Offer.ListingID,
		ListingKey:      s.Offer.ListingKey,
		pricedView:      newPricedView(s.Offer),
		Currency:        string(s.Offer.Price.Currency),
		PaymentMethodID: apiformat.Text(s.PaymentMethodID), StartedAt: apiformat.Time(s.StartedAt),
		CurrentPeriodStart: apiformat.Time(s.CurrentPeriodStart), CurrentPeriodEnd: apiformat.Time(s.CurrentPeriodEnd),
		TrialEndsAt: apiformat.Time(s.TrialEndsAt), CancelAtPeriodEnd: s.CancelAtPeriodEnd,
		CanceledAt: apiformat.Time(s.CanceledAt), CancelReason: apiformat.Text(string(s.CancelReason)),
		PausedAt: apiformat.Time(s.PausedAt), EndedAt: apiformat.Time(s.EndedAt),
		NextAttemptAt: apiformat.Time(s.Dunning.NextAttemptAt), GraceEndsAt: apiformat.Time(s.Dunning.GraceEndsAt),
		CreditInCents: s.Credit.Minor, PlannedChange: newPlannedView(s.NextOffer(), s), Discount: newDiscountView(s.Discount),
		Metadata: s.Metadata.Map(),
	}
}

// NewUpdatedView returns the data of subscription.updated.
func NewUpdatedView(e Updated, livemode bool) UpdatedView {
	return UpdatedView{NewView(e.State, livemode), e.Previous}
}

// NewChargeFailedView returns the data of subscription.dunning.
func NewChargeFailedView(e ChargeFailed, livemode bool) ChargeFailedView {
	return ChargeFailedView{NewView(e.State, livemode), e.Dunning.Attempts, apiformat.Text(e.Dunning.DeclineCode)}
}

func newPlannedView(o *plan.Offer, s State) *PlannedView {
	if o == nil {
		return nil
	}
	return &PlannedView{newPricedView(*o), apiformat.Time(s.CurrentPeriodEnd)}
}

func newDiscountView(d *Discount) *DiscountView {
	if d == nil {
		return nil
	}
	v := &DiscountView{Code: d.Code, EndsAt: apiformat.Time(d.EndsAt)}
	if d.PercentOff > 0 {
		v.PercentOff = &d.PercentOff
	} else {
		v.AmountOffInCents = &d.AmountOff.Minor
	}
	return v
}
