package usage

import (
	"encoding/json"
	"errors"
	"net/url"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/httpapi"
	"sundry/core/apiformat"
	"sundry/core/fault"
	"sundry/core/id"
	core "sundry/core/usage"
	"sundry/modules/usage"
)

// reportView is an accepted report.
type reportView struct {
	ID        string `json:"id"`
	Accepted  bool   `json:"accepted"`
	Duplicate bool   `json:"duplicate"`
}

func (h handlers) report(c *fiber.Ctx) error {
	in, reading := httpapi.Decode[core.ReportDraft](c)
	if reading != nil {
		return httpapi.MergeFieldErrors(reading, in.Check())
	}
	if err := httpapi.TakeKey(c, &in.IdempotencyKey); err != nil {
		return err
	}
	outcomes, err := h.Usage.Report(c.UserContext(), httpapi.Account(c), []core.ReportDraft{in})
	if err == nil {
		err = outcomes[0].Err
	}
	if err != nil {
		return err
	}
	return c.Status(fiber.StatusAccepted).JSON(reportView{outcomes[0].ID, true, outcomes[0].Duplicate})
}

type batchRequest struct {
	Events []core.ReportDraft `json:"events"`
}

// batchItemView is the result of one report of a batch. Error is its refusal.
type batchItemView struct {
	ID        *string        `json:"id"`
	Accepted  bool           `json:"accepted"`
	Duplicate bool           `json:"duplicate"`
	Error     *itemErrorView `json:"error"`
}

type itemErrorView struct {
	Code    fault.Code        `json:"code"`
	Message string            `json:"message"`
	Details []itemErrorDetail `json:"details"`
}

type itemErrorDetail struct {
	Field   string `json:"field"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

type batchView struct {
	Results []batchItemView `json:"results"`
}

func (h handlers) reportBatch(c *fiber.Ctx) error {
	in, reading := httpapi.Decode[batchRequest](c)
	var f fault.Violations
	f.Check(len(in.Events) > 0, "events", fault.DetailRequired, "Expected at least one report.")
	if f.Check(len(in.Events) <= usage.MaxBatch, "events", fault.DetailTooLong, "Expected at most 1000 reports.") {
		for i, draft := range in.Events {
			_ = f.Item("events", i).Merge(draft.Check()) // its only error is a fault of the request
		}
	}
	if err := httpapi.MergeFieldErrors(reading, f.Err()); err != nil {
		return err
	}
	outcomes, err := h.Usage.Report(c.UserContext(), httpapi.Account(c), in.Events)
	if err != nil {
		return err
	}
	view := batchView{make([]batchItemView, len(outcomes))}
	for i, o := range outcomes {
		view.Results[i] = batchItemView{
			Accepted: o.Err == nil, Duplicate: o.Duplicate, ID: apiformat.Text(o.ID), Error: newItemError(o.Err),
		}
	}
	return c.Status(fiber.StatusAccepted).JSON(view)
}

func newItemError(err error) *itemErrorView {
	var refused *fault.Error
	if !errors.As(err, &refused) {
		return nil
	}
	v := &itemErrorView{refused.Code, refused.Message, make([]itemErrorDetail, len(refused.Details))}
	for i, d := range refused.Details {
		v.Details[i] = itemErrorDetail(d)
	}
	return v
}

type voidView struct {
	ID     string `json:"id"`
	Voided bool   `json:"voided"`
}

func (h handlers) void(c *fiber.Ctx) error {
	key, err := url.PathUnescape(c.Params("idempotencyKey"))
	if err != nil || !httpapi.Storable(key) {
		return fault.NotFound("usage report")
	}
	reportID, err := h.Usage.Void(c.UserContext(), httpapi.Account(c), key)
	if err != nil {
		return err
	}
	return c.JSON(voidView{reportID, true})
}

// listedReportView shows a report as it was accepted, and its status.
type listedReportView struct {
	ID             string             `json:"id"`
	SubscriptionID string             `json:"subscriptionId"`
	Meter          string             `json:"meter"`
	MeterID        string             `json:"meterId"`
	Quantity       core.Quantity      `json:"quantity"`
	Dimensions     map[string]string  `json:"dimensions"`
	Timestamp      *string            `json:"timestamp"`
	ReceivedAt     *string            `json:"receivedAt"`
	IdempotencyKey *string            `json:"idempotencyKey"`
	PeriodStart    *string            `json:"periodStart"`
	Status         usage.ReportStatus `json:"status"`
	VoidedAt       *string            `json:"voidedAt"`
}

func newListedReportView(r usage.ReportEntry) listedReportView {
	return listedReportView{
		ID: r.ID, SubscriptionID: r.Stream.SubscriptionID, Meter: r.Stream.EventName, MeterID: r.Stream.MeterID,
		Quantity: r.Quantity, Dimensions: r.Dimensions.Map(), Timestamp: apiformat.Time(r.At),
		ReceivedAt:     apiformat.Time(r.ReceivedAt),
		IdempotencyKey: apiformat.Text(r.Key), PeriodStart: apiformat.Time(r.PeriodStart), Status: r.Status(),
		VoidedAt: apiformat.Time(r.VoidedAt),
	}
}

func (h handlers) listReports(c *fiber.Ctx) error {
	page, err := httpapi.QueryPage(c, id.UsageEvent)
	if err != nil {
		return err
	}
	var f fault.Violations
	query := usage.ReportQuery{
		SubscriptionID: httpapi.QueryText(c, &f, "subscriptionId"), CustomerID: httpapi.QueryText(c, &f, "customerId"),
		ExternalCustomerID: httpapi.QueryText(c, &f, "externalCustomerId"), EventName: httpapi.QueryText(c, &f, "meter"),
		From: httpapi.QueryTime(c, &f, "from"), To: httpapi.QueryTime(c, &f, "to"),
	}
	for _, one := range []struct{ name, value string }{
		{"customerId", query.CustomerID}, {"externalCustomerId", query.ExternalCustomerID},
	} {
		f.Check(one.value == "" || query.SubscriptionID == "", one.name, fault.DetailNotAllowed,
			"Send one of subscriptionId, customerId and externalCustomerId.")
	}
	f.Check(query.CustomerID == "" || query.ExternalCustomerID == "", "externalCustomerId", fault.DetailNotAllowed,
		"Send one of subscriptionId, customerId and externalCustomerId.")
	f.Check(query.From.IsZero() || query.To.IsZero() || query.From.Before(query.To), "to", fault.DetailOutOfRange,
		"Expected a time after from.")
	if err := f.Err(); err != nil {
		return err
	}
	return httpapi.RespondList(c, newListedReportView)(h.Usage.Reports(c.UserContext(), httpapi.Account(c), query, page))
}

var _ json.Marshaler = core.Quantity{} // responses show quantities as exact numbers
