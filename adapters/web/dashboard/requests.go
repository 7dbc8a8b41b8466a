package dashboard

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/web/dashboard/ui"
	"sundry/core/id"
	"sundry/core/requestlog"
	"sundry/ports"
)

// requests is the log of what the account's backend asked the API for.
func (r *Routes) requests(c *fiber.Ctx, v *visit) error {
	l := &ui.List[requestlog.Record]{
		Path: base + "/requests", FileName: "api-requests",
		Filters: []ui.Filter{
			{Name: "status", Label: "Status", Options: ui.Choices(
				"", "", "Any status", "2", "Succeeded (2xx)", "4", "Refused (4xx)", "5", "Failed (5xx)", "400",
				"400 Invalid", "401", "401 Unauthenticated", "402", "402 Declined", "404", "404 Not found", "409",
				"409 Conflict", "429", "429 Too many",
			)},
			{Name: "q", Label: "Search", Placeholder: "Request ID or path"},
		},
		Columns: []ui.Column[requestlog.Record]{
			{Label: "Request", Cell: func(q requestlog.Record) ui.Cell {
				return ui.Cell{Text: ui.Data(q.Method + " " + q.Path), Mono: true, Sub: ui.Data(q.ID)}
			}},
			{Label: "Status", Cell: requestTone},
			{
				Label: "Error code", Cell: func(q requestlog.Record) ui.Cell { return ui.Text(orDash(q.Code)) },
				CSV: func(q requestlog.Record) string { return q.Code },
			},
			{
				Label: "Took", Num: true,
				Cell: func(q requestlog.Record) ui.Cell { return ui.Text(milliseconds(q.Duration)) },
				CSV:  func(q requestlog.Record) string { return fmt.Sprintf("%.1f", inMilliseconds(q.Duration)) },
			},
			{
				Label: "Key",
				Cell:  func(q requestlog.Record) ui.Cell { return ui.Mono(q.Key[max(0, strings.Index(q.Key, "…")):]) },
				CSV:   func(q requestlog.Record) string { return q.Key },
			},
			{Label: "Request ID", CSV: func(q requestlog.Record) string { return q.ID }},
			timeColumn(v, "Date", "", func(q requestlog.Record) time.Time { return q.At }),
		},
		Read: func(ctx context.Context, q ui.Query, page ports.Page) (ports.List[requestlog.Record], error) {
			return r.Requests.List(ctx, v.account(), requestSearch(q), page)
		},
		Empty: ui.Empty{
			Title:  "No requests yet",
			Text:   "Requests of your backend to the API appear here, each with its status. They need a secret key.",
			Code:   "curl -s " + r.layout.Config().BaseURL + "/v1/payments -H 'Authorization: Bearer sk_…'",
			Action: &ui.Action{Label: "Create a key", Href: base + "/keys/new", Tone: "primary"},
		},
	}
	return show(r, c, v, l, ui.Page{
		Title: "Requests",
		Lead:  "Find the request that an error’s requestId names. Kept for 30 days, the latest 10,000; bodies are not kept.",
	})
}

// requestSearch translates the filters to a query of the store. An id is looked up; anything else is a part of the
// path.
func requestSearch(q ui.Query) ports.RequestSearch {
	search := ports.RequestSearch{Path: q["q"]}
	if id.Valid(id.Request, q["q"]) {
		search.ID, search.Path = q["q"], ""
	}
	search.Status, _ = strconv.Atoi(q["status"]) // one of the options, or none
	return search
}

func requestTone(q requestlog.Record) ui.Cell {
	tone := "ok"
	switch {
	case q.Status >= fiber.StatusInternalServerError:
		tone = "bad"
	case q.Status >= fiber.StatusBadRequest:
		tone = "wait"
	}
	return ui.Badge(ui.Data(strconv.Itoa(q.Status)), tone)
}

func inMilliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// milliseconds writes how long something took, with a decimal where it matters.
func milliseconds(d time.Duration) string {
	if ms := inMilliseconds(d); ms < 10 {
		return fmt.Sprintf("%.1f ms", ms)
	}
	return fmt.Sprintf("%d ms", d.Milliseconds())
}
