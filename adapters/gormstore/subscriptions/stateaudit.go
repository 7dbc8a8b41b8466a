package subscriptions

import (
	"context"
	"encoding/json"

	"sundry/adapters/gormstore/repo"
	"sundry/core/id"
	"sundry/core/payment"
	"sundry/core/period"
	"sundry/core/subscription"
)

const (
	// auditPage bounds the subscriptions whose history an audit has in memory.
	auditPage = 200
	// auditEvents bounds how far back the last event of a subscription is looked for among those of its customer.
	auditEvents = 50
)

// paidRow is a payment of a subscription and the time that it bought.
type paidRow struct {
	SubscriptionID string
	Kind           string
	PeriodStart    int64
	PeriodEnd      int64
	Due            int64
	Value          int64
	Returned       bool
	Sale           repo.JSONColumn[payment.Sale]
}

// Misstated implements ports.SubscriptionAudit.
func (t audit) Misstated(_ context.Context, limit int) ([]string, error) {
	var paid map[string][]paidRow // for the subscriptions of the page
	read := func(after string) ([]subscription.State, error) {
		query := t.DB.Where("id > ? AND "+t.Made("id", id.Subscription), after).Order("id").Limit(auditPage)
		page, err := repo.ListBy(t.Base, "audit subscriptions", query, subscriptionRow.toState)
		if err == nil {
			paid, err = t.paid(page)
		}
		return page, err
	}
	return repo.AuditPages(limit, auditPage, read, func(s subscription.State) (id, wrong string, err error) {
		if s.Status == subscription.StatusIncomplete {
			return s.ID, "", nil
		}
		kind, view, err := t.lastEvent(s)
		if !periodFollows(s) || !stated(s, view) || !valued(s, kind, paid[s.ID]) {
			wrong = s.ID
		}
		return s.ID, wrong, err
	})
}

// paid reads what was paid for subscriptions: their periods, and the checkout that began them.
func (t audit) paid(page []subscription.State) (map[string][]paidRow, error) {
	ids := make([]string, len(page))
	for i, s := range page {
		ids[i] = s.ID
	}
	var rows []paidRow
	const returned = "(p.refunded > 0 OR EXISTS (SELECT 1 FROM disputes d WHERE d.payment_id = p.id))"
	err := t.DB.Raw(`
SELECT b.subscription_id, b.kind, b.period_start, b.period_end, b.due, b.value, p.sale, `+returned+` AS returned
FROM subscription_periods b JOIN payments p ON p.id = b.payment_id WHERE b.subscription_id IN ?
UNION ALL
SELECT s.id, '', s.started_at, 0, 0, 0, p.sale, `+returned+`
FROM subscriptions s JOIN sessions c ON c.id = s.checkout_id JOIN payments p ON p.id = c.payment_id WHERE s.id IN ?`,
		ids, ids).Scan(&rows).Error
	all := map[string][]paidRow{}
	for _, row := range rows {
		all[row.SubscriptionID] = append(all[row.SubscriptionID], row)
	}
	return all, t.Failure("audit payments of subscriptions", err)
}

// lastEvent reads what the last event of a subscription has shown of it; kind is "" when that is deleted, as old ones
// are.
func (t audit) lastEvent(s subscription.State) (kind string, view subscription.View, err error) {
	var rows []struct{ Type, Data string }
	err = t.DB.Raw("SELECT type, data FROM events WHERE creator_id = ? AND customer_id = ? AND customer_id <> '' AND "+
		"type LIKE 'subscription.%' ORDER BY position DESC, id DESC LIMIT ?", s.CreatorID, s.CustomerID,
		auditEvents).Scan(&rows).Error
	if err != nil {
		return "", view, t.Failure("audit events of subscriptions", err)
	}
	for _, row := range rows {
		view = subscription.View{}
		if err := json.Unmarshal([]byte(row.Data), &view); err == nil && view.ID == s.ID {
			return row.Type, view, nil
		}
	}
	return "", subscription.View{}, nil
}

// periodFollows reports whether the current period is one of the anchor's, or the trial before it.
func periodFollows(s subscription.State) bool {
	if s.CurrentPeriodEnd.Equal(s.TrialEndsAt) {
		return s.Anchor.Equal(s.TrialEndsAt) && s.CurrentPeriodStart.Equal(s.StartedAt)
	}
	_, start, end := period.Containing(s.Anchor, s.Offer.Interval, s.Offer.IntervalCount, s.CurrentPeriodStart)
	return start.Equal(s.CurrentPeriodStart) && end.Equal(s.CurrentPeriodEnd)
}

// stated reports whether a subscription is as its last event has shown it: every change of these members has an event.
func stated(s subscription.State, shown subscription.View) bool {
	ended := !s.EndedAt.IsZero()
	if s.Status.Terminal() != ended || shown.ID == "" {
		return s.Status.Terminal() == ended
	}
	now := subscription.NewView(s, shown.Livemode)
	same := func(a, b *string) bool { return a == b || a != nil && b != nil && *a == *b }
	return now.Status == shown.Status && now.CreditInCents == shown.CreditInCents && now.PriceID == shown.PriceID &&
		now.AmountInCents == shown.AmountInCents && now.Interval == shown.Interval &&
		now.IntervalCount == shown.IntervalCount && now.CancelAtPeriodEnd == shown.CancelAtPeriodEnd &&
		same(now.CurrentPeriodStart, shown.CurrentPeriodStart) && same(now.CurrentPeriodEnd, shown.CurrentPeriodEnd) &&
		same(now.TrialEndsAt, shown.TrialEndsAt) && same(now.EndedAt, shown.EndedAt)
}

// valued reports whether each paid period has the value that its payment took, and the current one, unless it was
// changed since or money went back, is worth its price less the discount.
func valued(s subscription.State, lastEvent string, paid []paidRow) bool {
	bought := lastEvent == "subscription.renewed" || lastEvent == "subscription.created" && s.TrialEndsAt.IsZero()
	for _, row := range paid {
		bought = bought && !row.Returned // credit from any of them may have paid for the current period
	}
	for _, row := range paid {
		sale := row.Sale.V
		net := sale.Subtotal.Minor - sale.Discount.Minor
		whole := row.Kind != string(subscription.PlanChange)
		if row.Kind != "" && (row.Due != net-sale.Credit.Minor || whole && row.Value != row.Due) {
			return false
		}
		current := row.PeriodStart == s.CurrentPeriodStart.UnixMilli() && whole
		if current && bought && s.PeriodValue.Minor != net {
			return false
		}
	}
	return true
}
