package access

import (
	"context"

	"sundry/adapters/gormstore/repo"
	"sundry/core/access"
	"sundry/core/id"
	"sundry/ports"
)

type audit struct{ grants }

// customer is the key of a customer's access.
type customer struct{ CreatorID, ExternalCustomerID string }

// ListCustomers implements ports.AccessAudit: three queries for a page, however many customers are on it. Where rows
// are checked that were made since a time, they are the customers who were granted something since.
func (t audit) ListCustomers(_ context.Context, after access.Document, limit int) ([]ports.CustomerAccess, error) {
	onPage, bounds := "(creator_id, external_customer_id) > (?, ?)", []any{after.CreatorID, after.ExternalCustomerID}
	if !t.Since.IsZero() { // what is limited by itself is read first, whatever the plan expects
		onPage = "(creator_id, external_customer_id) IN (SELECT DISTINCT creator_id, external_customer_id FROM grants " +
			"WHERE " + t.Made("id", id.Grant) + " AND " + onPage + " ORDER BY creator_id, external_customer_id LIMIT ?)"
		bounds = append(bounds, limit)
	}
	query := t.DB.Where(onPage, bounds...)
	documents, err := repo.ListBy(t.Base, "list snapshots", query.Order("creator_id, external_customer_id").Limit(limit),
		snapshotRow.toDocument)
	if err != nil || len(documents) == 0 {
		return nil, err
	}
	page := make([]ports.CustomerAccess, len(documents))
	places := make(map[customer]*ports.CustomerAccess, len(documents))
	for i, d := range documents {
		page[i].Document = d
		places[customer{d.CreatorID, d.ExternalCustomerID}] = &page[i]
	}
	if t.Since.IsZero() {
		onPage, bounds = between(after, documents[len(documents)-1])
	}
	active, err := t.ListBy("list grants of a page", t.DB.Where(onPage+" AND end_reason = ''", bounds...).Order("id"))
	if err != nil {
		return nil, err
	}
	for _, g := range active {
		state := g.State()
		if c := places[customer{state.CreatorID, state.ExternalCustomerID}]; c != nil {
			c.Grants = append(c.Grants, g)
		}
	}
	var counts []struct {
		CreatorID, ExternalCustomerID string
		Changes, Highest              int64
	}
	err = t.DB.Model(&versionRow{}).Select(
		"creator_id, external_customer_id, COUNT(*) AS changes, MAX(version) AS highest").
		Where(onPage, bounds...).Group("creator_id, external_customer_id").Scan(&counts).Error
	if err != nil {
		return nil, t.Failure("count changes of a page", err)
	}
	for _, row := range counts {
		if c := places[customer{row.CreatorID, row.ExternalCustomerID}]; c != nil {
			c.Changes, c.Highest = row.Changes, row.Highest
		}
	}
	return page, nil
}

// between is the condition on the customers after one document and up to another. Within an account it bounds the
// customer alone: the planner takes a comparison of pairs for one of accounts, and would read all of a large one for
// each page.
func between(after, last access.Document) (condition string, bounds []any) {
	if after.CreatorID == last.CreatorID {
		return "creator_id = ? AND external_customer_id > ? AND external_customer_id <= ?", []any{last.CreatorID,
			after.ExternalCustomerID, last.ExternalCustomerID}
	}
	return "(creator_id, external_customer_id) > (?, ?) AND (creator_id, external_customer_id) <= (?, ?)",
		[]any{after.CreatorID, after.ExternalCustomerID, last.CreatorID, last.ExternalCustomerID}
}

// LostSnapshots implements ports.AccessAudit.
func (t audit) LostSnapshots(_ context.Context, limit int) ([]string, error) {
	const without = " x LEFT JOIN access_snapshots s ON s.creator_id = x.creator_id AND s.external_customer_id = " +
		"x.external_customer_id WHERE s.creator_id IS NULL"
	const customers = "SELECT x.creator_id || '/' || x.external_customer_id AS customer FROM "
	return t.QueryWhole("audit snapshots", "SELECT customer FROM ("+customers+"access_versions"+without+" UNION "+
		customers+"grants"+without+" AND x.end_reason = ''"+
		") AS lost ORDER BY customer LIMIT ?", limit)
}

// LostCreditUses implements ports.AccessAudit.
func (t audit) LostCreditUses(_ context.Context, limit int) ([]string, error) {
	return t.QueryWhole("audit credit uses", `SELECT lost FROM (
			SELECT v.creator_id || '/' || v.external_customer_id || '/' || v.cause_id AS lost FROM access_versions v
			LEFT JOIN credit_uses u ON u.creator_id = v.creator_id AND u.external_customer_id = v.external_customer_id
				AND u.idempotency_key = v.cause_id AND u.version = v.version
			WHERE v.cause = ? AND u.creator_id IS NULL
			UNION
			SELECT u.creator_id || '/' || u.external_customer_id || '/' || u.idempotency_key FROM credit_uses u
			LEFT JOIN access_versions v ON v.creator_id = u.creator_id AND v.version = u.version AND v.cause = ?
				AND v.cause_id = u.idempotency_key -- of any customer: a use is copied to a new name
			WHERE v.creator_id IS NULL OR u.amount < 1
				OR u.balance <> CASE WHEN u.used > u.granted THEN 0 ELSE u.granted - u.used END
		) AS uses ORDER BY lost LIMIT ?`, access.CreditsConsumed, access.CreditsConsumed, limit)
}
