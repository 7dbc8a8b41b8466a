package usage

import (
	"context"
	"slices"
	"time"

	"sundry/core/id"
	"sundry/core/subscription"
	"sundry/core/usage"
	"sundry/ports"
)

// ReportStatus names the state of a report.
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

// Status returns the state of the report, by the same rule as the one for voiding it.
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

// ReportQuery asks for the reports of a subscription, of all subscriptions of a customer by our id or by the account's,
// or, without any of them, of the account.
type ReportQuery struct {
	SubscriptionID, CustomerID, ExternalCustomerID string
	// EventName selects a meter; "" for all.
	EventName string
	// From and To bound the time of use; zero for no bound.
	From, To time.Time
}

// ofAccount reports whether the query is for every report of the account.
func (q ReportQuery) ofAccount() bool {
	return q.SubscriptionID == "" && q.CustomerID == "" && q.ExternalCustomerID == ""
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
	filter := ports.ReportFilter{From: q.From, To: q.To, Window: reportWindow}
	began, _ := id.Time(creatorID)
	if q.ofAccount() {
		filter.CreatorID, filter.EventName = creatorID, q.EventName
	} else {
		var err error
		if filter.StreamIDs, began, err = s.reported(ctx, r, creatorID, q); err != nil || len(filter.StreamIDs) == 0 {
			return list, err
		}
	}
	offset, _, err := s.clockOffset(ctx, creatorID, true)
	if err != nil {
		return list, err
	}
	filter.ReceivedSince = slices.MaxFunc([]time.Time{began, q.From}, time.Time.Compare).Add(-usage.MaxAhead - offset)
	found, err := r.Usage.Reports.List(ctx, filter, page)
	if err != nil {
		return list, err
	}
	streams, err := streamsOf(ctx, r, found.Items)
	list.Next, list.Items = found.Next, make([]ReportEntry, len(found.Items))
	for i, one := range found.Items {
		list.Items[i] = ReportEntry{ListedReport: one, Stream: streams[one.StreamID]}
	}
	return list, err
}

// streamsOf loads the streams that reports count in, by their ids.
func streamsOf(
	ctx context.Context, r ports.Repos, reports []ports.ListedReport,
) (map[int64]ports.UsageStream, error) {
	var ids []int64
	for _, one := range reports {
		if !slices.Contains(ids, one.StreamID) {
			ids = append(ids, one.StreamID)
		}
	}
	streams := make(map[int64]ports.UsageStream, len(ids))
	if len(ids) == 0 {
		return streams, nil
	}
	found, err := r.Usage.Streams.ListByID(ctx, ids)
	for _, stream := range found {
		streams[stream.ID] = stream
	}
	return streams, err
}

// reported returns the streams that a query asks for, and when the first of their subscriptions began. NOT_FOUND.
func (s *Service) reported(
	ctx context.Context, r ports.Repos, creatorID string, q ReportQuery,
) (streamIDs []int64, began time.Time, err error) {
	subs, err := s.asked(ctx, r, creatorID, q)
	if err != nil {
		return nil, began, err
	}
	for _, sub := range subs {
		all, err := r.Usage.Streams.ListBySubscription(ctx, creatorID, sub.ID)
		if err != nil {
			return nil, began, err
		}
		for _, stream := range all {
			if q.EventName == "" || stream.EventName == q.EventName {
				streamIDs = append(streamIDs, stream.ID)
			}
		}
		if began.IsZero() || sub.StartedAt.Before(began) {
			began = sub.StartedAt
		}
	}
	return streamIDs, began, nil
}

// asked loads the subscriptions that a query asks for. NOT_FOUND.
func (s *Service) asked(
	ctx context.Context, r ports.Repos, creatorID string, q ReportQuery,
) ([]subscription.State, error) {
	switch {
	case q.SubscriptionID != "":
		sub, err := s.subscription(ctx, r, creatorID, q.SubscriptionID)
		return []subscription.State{sub}, err
	case q.CustomerID != "": // streams are looked up within the account
		return r.Subscriptions.Subscriptions.ListByCustomer(ctx, q.CustomerID)
	}
	return r.Subscriptions.Subscriptions.ListByBuyer(ctx, creatorID, q.ExternalCustomerID, "")
}
