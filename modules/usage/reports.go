package usage

import (
	"context"
	"slices"
	"time"

	"sundry/core/subscription"
	"sundry/core/usage"
	"sundry/ports"
)

// ReportStatus is what became of a report.
type ReportStatus string

// The statuses. An open report is of a period that has no invoice yet. A late one arrived after the invoice of its
// period and waits for the next.
const (
	ReportOpen     ReportStatus = "open"
	ReportInvoiced ReportStatus = "invoiced"
	ReportLate     ReportStatus = "late"
	ReportVoided   ReportStatus = "voided"
)

// ReportEntry is an accepted report with the stream that it counts in.
type ReportEntry struct {
	ports.ListedReport
	Stream ports.UsageStream
}

// Status returns what became of the report: the same rule by which it may be voided.
func (r ReportEntry) Status() ReportStatus {
	switch {
	case !r.VoidedAt.IsZero():
		return ReportVoided
	case r.InvoiceID == "":
		return ReportOpen
	case r.ReceivedAt.After(r.BilledAt):
		return ReportLate
	}
	return ReportInvoiced
}

// ReportQuery asks for the reports of a subscription, or of all subscriptions of an external customer.
type ReportQuery struct {
	SubscriptionID, ExternalCustomerID string
	// EventName is that of a meter; "" for all.
	EventName string
	// From and To bound the time of use; zero for no bound.
	From, To time.Time
}

// reportWindow bounds the stored reports that are read for a page of a list.
const reportWindow = 100_000

// Reports lists accepted reports, those that were written last first. A page may have fewer than its limit, or none,
// and go on: each reads a bounded number of the stored reports. NOT_FOUND for the subscription.
func (s *Service) Reports(
	ctx context.Context, creatorID string, q ReportQuery, page ports.Page,
) (ports.List[ReportEntry], error) {
	var list ports.List[ReportEntry]
	r := s.deps.Store.Read(ctx)
	subs, err := s.reported(ctx, r, creatorID, q)
	if err != nil {
		return list, err
	}
	streams, filter := map[int64]ports.UsageStream{}, ports.ReportFilter{From: q.From, To: q.To, Window: reportWindow}
	var began time.Time
	for _, sub := range subs {
		all, err := r.Usage.Streams.ListBySubscription(ctx, creatorID, sub.ID)
		if err != nil {
			return list, err
		}
		for _, stream := range all {
			if q.EventName == "" || stream.EventName == q.EventName {
				streams[stream.ID], filter.StreamIDs = stream, append(filter.StreamIDs, stream.ID)
			}
		}
		if began.IsZero() || sub.StartedAt.Before(began) {
			began = sub.StartedAt
		}
	}
	if len(streams) == 0 {
		return list, nil
	}
	offset, _, err := s.clockOffset(ctx, creatorID, true)
	if err != nil {
		return list, err
	}
	filter.ReceivedSince = slices.MaxFunc([]time.Time{began, q.From}, time.Time.Compare).Add(-usage.MaxAhead - offset)
	found, err := r.Usage.Reports.List(ctx, filter, page)
	list.Next, list.Items = found.Next, make([]ReportEntry, len(found.Items))
	for i, one := range found.Items {
		list.Items[i] = ReportEntry{ListedReport: one, Stream: streams[one.StreamID]}
	}
	return list, err
}

// reported loads the subscriptions that a query asks for. NOT_FOUND.
func (s *Service) reported(
	ctx context.Context, r ports.Repos, creatorID string, q ReportQuery,
) ([]subscription.State, error) {
	if q.SubscriptionID == "" {
		return r.Subscriptions.Subscriptions.ListByBuyer(ctx, creatorID, q.ExternalCustomerID, "")
	}
	sub, err := s.subscription(ctx, r, creatorID, q.SubscriptionID)
	return []subscription.State{sub}, err
}
