package dashboard

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"sundry/core/apirequest"
	"sundry/core/id"
	"sundry/ports"
)

// requests is the log of what the account's backend asked the API for.
func (r *Routes) requests(c *fiber.Ctx, v *visit) error {
	l := &list[apirequest.Record]{
		path: base + "/requests", name: "api-requests",
		filters: []filter{
			{Name: "status", Label: "Status", Options: choices("", "", "Any status", "2", "Succeeded (2xx)", "4", "Refused (4xx)", "5", "Failed (5xx)",
				"400", "400 Invalid", "401", "401 Unauthenticated", "402", "402 Declined", "404", "404 Not found", "409", "409 Conflict", "429", "429 Too many")},
			{Name: "q", Label: "Search", Placeholder: "Request ID or path"},
		},
		columns: []column[apirequest.Record]{
			{label: "Request", cell: func(q apirequest.Record) cell { return cell{Text: q.Method + " " + q.Path, Mono: true, Sub: q.ID} }},
			{label: "Status", cell: requestTone},
			{label: "Error code", cell: func(q apirequest.Record) cell { return text(orDash(q.Code)) }, csv: func(q apirequest.Record) string { return q.Code }},
			{label: "Took", num: true, cell: func(q apirequest.Record) cell { return text(milliseconds(q.Duration)) }, csv: func(q apirequest.Record) string { return fmt.Sprintf("%.1f", inMilliseconds(q.Duration)) }},
			{label: "Key", cell: func(q apirequest.Record) cell { return mono(q.Key[max(0, strings.Index(q.Key, "…")):]) }, csv: func(q apirequest.Record) string { return q.Key }},
			{label: "Request ID", csv: func(q apirequest.Record) string { return q.ID }},
			{label: "Date", cell: func(q apirequest.Record) cell { return v.moment(q.At) }, csv: func(q apirequest.Record) string { return exact(q.At) }},
		},
		read: func(ctx context.Context, q query, page ports.Page) (ports.List[apirequest.Record], error) {
			return r.Requests.List(ctx, v.account(), requestSearch(q), page)
		},
		empty: empty{Title: "No requests yet", Text: "What your backend asks the API for is listed here, with what became of it. Requests need a secret key.",
			Code:   "curl -s " + r.layout.Config().BaseURL + "/v1/payments -H 'Authorization: Bearer sk_…'",
			Action: &action{Label: "Create a key", Href: base + "/keys/new", Tone: "primary"}},
	}
	return show(r, c, v, l, page{Title: "Requests", Lead: "Find the request that an error’s requestId names. Kept for 30 days, the latest 10,000; bodies are not kept."})
}

// requestSearch is what the database is asked for: an id is looked up, anything else is a part of the path.
func requestSearch(q query) ports.RequestSearch {
	search := ports.RequestSearch{Path: q["q"]}
	if id.Valid(id.Request, q["q"]) {
		search.ID, search.Path = q["q"], ""
	}
	search.Status, _ = strconv.Atoi(q["status"]) // one of the options, or none
	return search
}

func requestTone(q apirequest.Record) cell {
	tone := "ok"
	switch {
	case q.Status >= fiber.StatusInternalServerError:
		tone = "bad"
	case q.Status >= fiber.StatusBadRequest:
		tone = "wait"
	}
	return badge(strconv.Itoa(q.Status), tone)
}

func inMilliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// milliseconds writes how long something took, with a decimal where it matters.
func milliseconds(d time.Duration) string {
	if ms := inMilliseconds(d); ms < 10 {
		return fmt.Sprintf("%.1f ms", ms)
	}
	return fmt.Sprintf("%d ms", d.Milliseconds())
}
