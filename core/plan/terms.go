// Package plan has the rules of plans and offers: prices, trials, and the access that comes with them.
package plan

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"sundry/core/apiformat"
	"sundry/core/intake"
	"sundry/core/listingtype"
	"sundry/core/money"
	"sundry/core/period"
	"sundry/core/tax"
)

// EntitlementType specifies how an entitlement's value reads and how several of one key combine.
type EntitlementType string

// The types of entitlements: booleans combine by OR, limits by the maximum, texts by the latest grant.
const (
	Boolean EntitlementType = "boolean"
	Limit   EntitlementType = "limit"
	Text    EntitlementType = "text"
)

// Entitlement is one thing that a plan allows. Exactly the member that Type names is meaningful.
type Entitlement struct {
	Key   string
	Type  EntitlementType
	Bool  bool
	Limit int64
	Text  string
	// PerSeat means that a limit is of one: a subscription gives it times its quantity.
	PerSeat bool
}

// Value returns the meaningful member: bool, int64 or string.
func (e Entitlement) Value() any {
	switch e.Type {
	case Limit:
		return e.Limit
	case Text:
		return e.Text
	case Boolean:
	}
	return e.Bool
}

type entitlementJSON struct {
	Key     string          `json:"key"`
	Type    EntitlementType `json:"type"`
	Value   json.RawMessage `json:"value"`
	PerSeat bool            `json:"perSeat,omitempty"`
}

// MarshalJSON renders {key, type, value, perSeat}, the last one only where it is true.
func (e Entitlement) MarshalJSON() ([]byte, error) {
	value, err := apiformat.JSON(e.Value())
	if err != nil {
		return nil, err
	}
	return apiformat.JSON(entitlementJSON{e.Key, e.Type, value, e.PerSeat})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (e *Entitlement) UnmarshalJSON(raw []byte) error {
	var in entitlementJSON
	if err := json.Unmarshal(raw, &in); err != nil {
		return err
	}
	*e = Entitlement{Key: in.Key, Type: in.Type, PerSeat: in.PerSeat}
	switch in.Type {
	case Boolean:
		return json.Unmarshal(in.Value, &e.Bool)
	case Limit:
		return json.Unmarshal(in.Value, &e.Limit)
	case Text:
		return json.Unmarshal(in.Value, &e.Text)
	}
	return fmt.Errorf("unknown entitlement type %q", in.Type)
}

// Credit is a number of units that a plan gives to be used up. Renews grants them again each period.
type Credit struct {
	Key    string `json:"key"`
	Unit   string `json:"unit"`
	Amount int64  `json:"amount"`
	Renews bool   `json:"renews"`
}

// Meter is a usage meter whose first units a plan includes.
type Meter struct {
	EventName string `json:"eventName"`
	Included  int64  `json:"included"`
}

// Terms define the access that a plan grants.
type Terms struct {
	Entitlements []Entitlement `json:"entitlements"`
	Credits      []Credit      `json:"credits"`
	Meters       []Meter       `json:"meters"`
	// UsageCredits are prepaid use, which a purchase adds to what the customer has.
	UsageCredits []UsageCredit `json:"usageCredits,omitempty"`
}

// Offer is one plan of one listing at one price, frozen when a checkout session is made: later edits of the catalog
// never touch an open session.
type Offer struct {
	CreatorID   string           `json:"creatorId"`
	ListingID   string           `json:"listingId"`
	ListingKey  string           `json:"listingKey"`
	ListingType listingtype.Type `json:"listingType"`
	Title       string           `json:"title"`
	// Description is the beginning of the listing's, as the buyer read it.
	Description string `json:"description,omitempty"`
	// Pictures of it; the first one represents it.
	Pictures []Picture `json:"pictures,omitempty"`
	// Features are the texts that the listing shows as included, beside the terms.
	Features []string `json:"features,omitempty"`
	// VariantID, VariantName, DurationMinutes, SessionCount and DeliveryModes describe the variant of an appointment
	// listing; empty for all others. DurationMinutes is of each session. The buyer chooses among DeliveryModes.
	VariantID       string   `json:"variantId,omitempty"`
	VariantName     string   `json:"variantName,omitempty"`
	DurationMinutes int      `json:"durationMinutes,omitempty"`
	SessionCount    int      `json:"sessionCount,omitempty"`
	DeliveryModes   []string `json:"deliveryModes,omitempty"`
	// FullRefundHours is the notice, in hours before the start of an appointment, that earns its buyer a full refund; nil
	// where nothing is promised.
	FullRefundHours *int `json:"fullRefundHours,omitempty"`
	// Intake holds the questions to a buyer of appointments.
	Intake   intake.Form `json:"intake,omitzero"`
	PlanKey  string      `json:"planKey"`
	PlanName string      `json:"planName"`
	PriceID  string      `json:"priceId"`
	// Interval is empty for a one-time price.
	Interval      period.Interval `json:"interval,omitempty"`
	IntervalCount int             `json:"intervalCount,omitempty"`
	// TrialDays is zero unless the first charge comes after a trial.
	TrialDays int `json:"trialDays,omitempty"`
	// OneTrial and OneSubscription are the limits of the listing: a customer has one trial of it, and one running
	// subscription.
	OneTrial        bool `json:"oneTrial,omitempty"`
	OneSubscription bool `json:"oneSubscription,omitempty"`
	// Price is the price of a period. For a quantity of more than one, Quantity is that quantity and UnitPrice the price
	// of one; both are zero otherwise. WithSeats sets all three.
	Price     money.Amount `json:"price"`
	Quantity  int          `json:"quantity,omitempty"`
	UnitPrice money.Amount `json:"unitPrice,omitzero"`
	// MayChange names the parts that the buyer may change before paying. Intervals lists the prices to choose from, this
	// one included; it is empty where there is no choice.
	MayChange Changes `json:"mayChange,omitzero"`
	Intervals []Price `json:"intervals,omitempty"`
	// TaxBehavior specifies whether the price contains its tax; "" is inclusive.
	TaxBehavior tax.Behavior `json:"taxBehavior,omitempty"`
	Terms       Terms        `json:"terms"`
	// DownloadURL is the file that a DIGITAL listing delivers after payment; empty when it has none.
	DownloadURL string `json:"downloadUrl,omitempty"`
	// HasFiles reports whether the seller had uploaded files for the buyers.
	HasFiles bool `json:"hasFiles,omitempty"`
}

// Name returns the offer's name to its buyer: the listing's, with that of the plan where that says more, and the
// quantity.
func (o Offer) Name() string {
	name := o.Title
	if o.PlanName != "" && o.PlanName != o.Title {
		name += " – " + o.PlanName
	}
	return o.counted(name)
}

// PlanTitle returns the plan's name to the buyer, with the quantity; "" where that says no more than the title.
func (o Offer) PlanTitle() string {
	if o.PlanKey == DefaultKey || o.PlanName == o.Title {
		return o.counted("")
	}
	return o.counted(o.PlanName)
}

// counted adds the quantity to a name.
func (o Offer) counted(name string) string {
	if o.Seats() == 1 {
		return name
	}
	return strings.TrimSpace(name + " × " + strconv.Itoa(o.Seats()))
}

// Picture is a picture of what is sold: a path of ours, or an address on another host.
type Picture struct {
	URL string `json:"url"`
	// Alt describes the picture; "" when it only decorates.
	Alt string `json:"alt,omitempty"`
}

// ForAppointments reports whether the buyer chooses times before paying.
func (o Offer) ForAppointments() bool { return o.VariantID != "" }

// Recurring reports whether buying the offer starts a subscription.
func (o Offer) Recurring() bool { return o.Interval != "" }

// LimitsTrial reports whether buying the offer begins a trial that a customer has once.
func (o Offer) LimitsTrial() bool { return o.OneTrial && o.TrialDays > 0 }

// DueNow returns the amount due at checkout: zero when a trial comes first.
func (o Offer) DueNow() money.Amount {
	if o.Recurring() && o.TrialDays > 0 {
		return money.Amount{Currency: o.Price.Currency}
	}
	return o.Price
}
