package usage

import (
	"github.com/gofiber/fiber/v2"

	"sundry/adapters/httpapi"
	"sundry/core/apiformat"
	"sundry/core/fault"
	core "sundry/core/usage"
)

type summaryView struct {
	// One of these is the query's; the other is null.
	SubscriptionID     *string        `json:"subscriptionId"`
	ExternalCustomerID *string        `json:"externalCustomerId"`
	Meters             []measuredView `json:"meters"`
}

type measuredView struct {
	Key            string           `json:"key"`
	MeterID        string           `json:"meterId"`
	SubscriptionID string           `json:"subscriptionId"`
	Aggregation    core.Aggregation `json:"aggregation"`
	Quantity       core.Quantity    `json:"quantity"`
	Included       int64            `json:"included"`
	PeriodStart    *string          `json:"periodStart"`
	PeriodEnd      *string          `json:"periodEnd"`
	AsOf           *string          `json:"asOf"`
}

func (h handlers) summary(c *fiber.Ctx) error {
	var f fault.Violations
	subscriptionID := httpapi.QueryText(c, &f, "subscriptionId")
	externalCustomerID := httpapi.QueryText(c, &f, "externalCustomerId")
	f.Check((subscriptionID != "") != (externalCustomerID != ""), "subscriptionId", fault.DetailRequired,
		"Expected either the id of a subscription or externalCustomerId.")
	if err := f.Err(); err != nil {
		return err
	}
	read, of := h.Usage.Summary, subscriptionID
	if externalCustomerID != "" {
		read, of = h.Usage.SummaryOfCustomer, externalCustomerID
	}
	all, err := read(c.UserContext(), httpapi.Account(c), of)
	if err != nil {
		return err
	}
	view := summaryView{
		SubscriptionID: apiformat.Text(subscriptionID), ExternalCustomerID: apiformat.Text(externalCustomerID),
		Meters: make([]measuredView, len(all)),
	}
	for i, m := range all {
		view.Meters[i] = measuredView{
			Key: m.Stream.EventName, MeterID: m.Stream.MeterID, SubscriptionID: m.Stream.SubscriptionID,
			Aggregation: m.Aggregation, Quantity: m.Quantity, Included: m.Stream.Included,
			PeriodStart: apiformat.Time(m.Period.Start), PeriodEnd: apiformat.Time(m.Period.End),
			AsOf: apiformat.Time(m.AsOf),
		}
	}
	return c.JSON(view)
}
