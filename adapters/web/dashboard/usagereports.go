package dashboard

import (
	"cmp"
	"context"
	"net/url"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/web/dashboard/ui"
	"sundry/core/fault"
	core "sundry/core/usage"
	"sundry/modules/usage"
	"sundry/ports"
)

// reportTones are the statuses of reports.
var reportTones = map[usage.ReportStatus]ui.Cell{
	usage.ReportOpen: ui.Badge("Not billed yet", "wait"), usage.ReportInvoiced: ui.Badge("Billed", "ok"),
	usage.ReportLate: ui.Badge("Late, on the next invoice", "wait"), usage.ReportVoided: ui.Badge("Voided", "mute"),
}

// reportsOf links to the reports that a filter selects.
func reportsOf(filter, value string) ui.Action {
	return ui.Link("Reports", base+"/usage/reports?"+url.Values{filter: {value}}.Encode())
}

// usageReports lists the reports that were accepted: what a quantity is made of.
func (r *Routes) usageReports(c *fiber.Ctx, v *visit) error {
	names, meters, err := r.meterNames(c.UserContext(), v)
	if err != nil {
		return err
	}
	options := ui.Choices("", "", "Every meter")
	for _, m := range meters {
		options = append(options, ui.Option{Value: m.EventName, Label: ui.Data(m.Name)})
	}
	customers := r.names(v)
	l := &ui.List[usage.ReportEntry]{
		Path: base + "/usage/reports", FileName: "usage-reports",
		Filters: []ui.Filter{
			{Name: "meter", Label: "Meter", Options: options},
			{Name: "customer", Label: "Customer", Placeholder: "cus_… or your own ID"},
			{Name: "subscription", Label: "Subscription", Placeholder: "sub_…"},
			{Name: "from", Label: "Used from", Date: true},
			{Name: "until", Label: "Used until", Date: true},
		},
		Columns: []ui.Column[usage.ReportEntry]{
			timeColumn(v, "Used", "", func(e usage.ReportEntry) time.Time { return e.At }),
			{Label: "Meter", Cell: func(e usage.ReportEntry) ui.Cell {
				name := cmp.Or(names[e.Stream.MeterID], e.Stream.EventName)
				return ui.Cell{Text: ui.Data(name), Sub: ui.Data(shortKey(e.Key))}
			}, CSV: func(e usage.ReportEntry) string { return e.Stream.EventName }},
			{
				Label: "Quantity", Num: true,
				Cell: func(e usage.ReportEntry) ui.Cell {
					return ui.Cell{Text: ui.Data(e.Quantity.String()), Sub: ui.Data(core.Describe(e.Dimensions))}
				},
				CSV: func(e usage.ReportEntry) string { return e.Quantity.String() },
			},
			{Label: "Customer", Cell: func(e usage.ReportEntry) ui.Cell {
				return customers.cell(e.Stream.CustomerID, e.Stream.ExternalCustomerID)
			}},
			{Label: "Status", Cell: func(e usage.ReportEntry) ui.Cell { return reportTones[e.Status()] }},
			{Label: "Subscription", Cell: func(e usage.ReportEntry) ui.Cell {
				return ui.TextLink(e.Stream.SubscriptionID, base+"/subscriptions/"+e.Stream.SubscriptionID)
			}},
			{Label: "Idempotency key", CSV: func(e usage.ReportEntry) string { return e.Key }},
			{Label: "ID", CSV: func(e usage.ReportEntry) string { return e.ID }},
			{Label: "Received", CSV: func(e usage.ReportEntry) string { return ui.ExactTime(e.ReceivedAt) }},
		},
		Read: named(customers, func(e usage.ReportEntry) string { return e.Stream.CustomerID },
			func(ctx context.Context, q ui.Query, page ports.Page) (ports.List[usage.ReportEntry], error) {
				found, err := r.Usage.Reports(ctx, v.account(), reportQuery(q), page)
				if fault.Is(err, fault.NotFoundCode) || fault.Is(err, fault.StateConflict) {
					return ports.List[usage.ReportEntry]{}, nil // of no subscription, or of one that has not begun
				}
				return found, err
			}),
		Match: func(q ui.Query, e usage.ReportEntry) bool {
			return q.Is("customer", e.Stream.CustomerID) || q.Is("customer", e.Stream.ExternalCustomerID)
		},
		Empty: ui.Empty{
			Title: "Nothing reported yet",
			Text:  "Usage that your app reports appears here, each report with its status.",
		},
	}
	return show(r, c, v, l, ui.Page{
		Nav: base + "/usage", Title: "Usage reports", Lead: "What your app reported, the latest first.", Up: usageUp(),
	})
}

// reportQuery returns the query of a list's filters. The list checks that the subscription, if any, is the customer's.
func reportQuery(q ui.Query) usage.ReportQuery {
	days := q.Days("from", "until")
	query := usage.ReportQuery{EventName: q["meter"], From: days.From, To: days.To, SubscriptionID: q["subscription"]}
	switch customer := q["customer"]; {
	case query.SubscriptionID != "":
	case strings.HasPrefix(customer, "cus_"):
		query.CustomerID = customer
	default:
		query.ExternalCustomerID = customer
	}
	return query
}

// maxShownKey bounds the characters of an idempotency key that a line shows; files have all of it.
const maxShownKey = 30

// shortKey cuts a key that would make the list wider than its page.
func shortKey(key string) string {
	if all := []rune(key); len(all) > maxShownKey {
		return string(all[:maxShownKey]) + "…"
	}
	return key
}
