package subscriptions

import (
	"github.com/gofiber/fiber/v2"

	"sundry/adapters/httpapi"
	"sundry/core/fault"
	"sundry/core/metadata"
	"sundry/core/money"
	"sundry/core/plan"
	core "sundry/core/subscription"
	"sundry/ports"
)

// takeOverRequest is the body of POST /v1/subscriptions.
type takeOverRequest struct {
	CustomerID         *string            `json:"customerId"`
	ExternalCustomerID *string            `json:"externalCustomerId"`
	Catalog            *catalogRequest    `json:"catalog"`
	Quantity           *int               `json:"quantity"`
	PaymentMethodID    *string            `json:"paymentMethodId"`
	PaidUntil          *string            `json:"paidUntil"`
	TrialEndsAt        *string            `json:"trialEndsAt"`
	Anchor             *string            `json:"anchor"`
	StartedAt          *string            `json:"startedAt"`
	CreditInCents      *int64             `json:"creditInCents"`
	CancelAtPeriodEnd  *bool              `json:"cancelAtPeriodEnd"`
	Metadata           *map[string]string `json:"metadata"`
}

type catalogRequest struct {
	Listing       *string `json:"listing"`
	Plan          *string `json:"plan"`
	Interval      *string `json:"interval"`
	IntervalCount *int    `json:"intervalCount"`
	Currency      *string `json:"currency"`
}

// checked reads the request but for its customer.
func (in takeOverRequest) checked(f *fault.Violations) ports.TakeOver {
	t := ports.TakeOver{
		Quantity: httpapi.ValueOf(in.Quantity), PaymentMethodID: httpapi.ValueOf(in.PaymentMethodID),
		From: core.TakeOver{
			PaidUntil:     httpapi.ReadTime(f, "paidUntil", in.PaidUntil),
			TrialEndsAt:   httpapi.ReadTime(f, "trialEndsAt", in.TrialEndsAt),
			Anchor:        httpapi.ReadTime(f, "anchor", in.Anchor),
			StartedAt:     httpapi.ReadTime(f, "startedAt", in.StartedAt),
			CreditInMinor: httpapi.ValueOf(in.CreditInCents), CancelAtPeriodEnd: httpapi.ValueOf(in.CancelAtPeriodEnd),
		},
		Metadata: metadata.Pairs{}.Merge(httpapi.ValueOf(in.Metadata)),
	}
	f.Check((in.CustomerID == nil) != (in.ExternalCustomerID == nil), "customerId", fault.DetailRequired,
		"Expected either customerId or externalCustomerId.")
	f.Check(in.PaymentMethodID == nil || *in.PaymentMethodID != "", "paymentMethodId", fault.DetailInvalid,
		"Expected the id of a saved card; leave it out for the latest.")
	f.Check((in.PaidUntil == nil) != (in.TrialEndsAt == nil), "paidUntil", fault.DetailRequired,
		"Expected either paidUntil or trialEndsAt: a subscription that is paid for now begins with a checkout session.")
	plan.CheckSeats(f, "quantity", in.Quantity)
	metadata.Check(httpapi.ValueOf(in.Metadata), f.Nest("metadata"))
	t.Catalog = in.Catalog.choice(f.Nest("catalog"))
	return t
}

// choice reads what is sold. A listing is required.
func (c *catalogRequest) choice(f *fault.Violations) ports.CatalogChoice {
	if c == nil {
		c = &catalogRequest{}
	}
	choice := ports.CatalogChoice{Listing: httpapi.ValueOf(c.Listing), Plan: httpapi.ValueOf(c.Plan)}
	f.Check(choice.Listing != "", "listing", fault.DetailRequired, "Give the listing's catalog key.")
	f.Check(c.Plan == nil || choice.Plan != "", "plan", fault.DetailInvalid,
		"Expected the key of a plan; leave it out for the default plan.")
	choice.Every = httpapi.ReadCadence(f, c.Interval, c.IntervalCount)
	if c.Currency != nil {
		var err error
		choice.Currency, err = money.ParseCurrency(*c.Currency)
		_ = f.Nest("currency").Merge(err)
	}
	return choice
}

func (h handlers) post(c *fiber.Ctx) error {
	in, reading := httpapi.Decode[takeOverRequest](c)
	var f fault.Violations
	t := in.checked(&f)
	if err := httpapi.MergeFieldErrors(reading, f.Err()); err != nil {
		return err
	}
	buyer, err := h.Customers.Find(c.UserContext(), httpapi.Account(c), httpapi.ValueOf(in.CustomerID),
		httpapi.ValueOf(in.ExternalCustomerID))
	if err != nil {
		return err
	}
	t.CustomerID = buyer.ID
	return httpapi.RespondStatus(c, fiber.StatusCreated, h.newView)(
		h.Subscriptions.TakeOver(c.UserContext(), httpapi.Account(c), t),
	)
}
