// Package payments keeps attempts to take money.
package payments

import (
	"context"
	"strings"
	"time"

	"gorm.io/gorm"

	"sundry/adapters/gormstore/repo"
	"sundry/core/dispute"
	"sundry/core/payment"
	"sundry/ports"
)

// Repositories returns the area's repositories over the connection of b.
func Repositories(b *repo.Base) ports.PaymentRepos {
	return ports.PaymentRepos{
		Payments: payments{paymentMapping.ByID(b)}, PaymentMethods: paymentMethods{paymentMethodMapping.On(b)},
		Refunds: refunds{refundMapping.ByID(b)}, Disputes: disputes{disputeMapping.ByID(b)},
		ProcessorEvents: processorEvents{b}, CardSetups: cardSetups{cardSetupMapping.ByID(b)},
	}
}

// paymentRow is written once where it says so: what is to be charged, and for what, never changes.
type paymentRow struct {
	repo.Revised
	CreatorID       string `gorm:"<-:create"`
	Purpose         string `gorm:"<-:create"`
	SubjectID       string `gorm:"<-:create"`
	CustomerID      string
	PaymentMethodID string
	ReceiptNumber   string
	Sale            repo.JSONColumn[payment.Sale]
	OffSession      bool   `gorm:"<-:create"`
	Currency        string `gorm:"<-:create"`
	Amount          int64  `gorm:"<-:create"`
	Status          string
	Decline         repo.SharedJSON[payment.DeclineReason]
	Provider        string `gorm:"<-:create"`
	ProcessorID     string
	Method          string
	Brand           string
	Last4           string
	SaveCard        bool            `gorm:"<-:create"`
	Mandate         string          `gorm:"<-:create"`
	CreatedAt       repo.UnixMillis `gorm:"<-:create;autoCreateTime:false"`
	SettledAt       repo.UnixMillis
	Refunded        int64
	ProcessorFee    int64
}

// TableName implements gorm's tabler.
func (paymentRow) TableName() string { return "payments" }

func newPaymentRow(p payment.State) paymentRow {
	return paymentRow{
		Revised:   repo.Revised{ID: p.ID, Revision: p.Revision},
		CreatorID: p.CreatorID, Purpose: string(p.Purpose), SubjectID: p.SubjectID, CustomerID: p.CustomerID,
		PaymentMethodID: p.PaymentMethodID, ReceiptNumber: p.Sale.ReceiptNumber, Sale: repo.JSON(p.Sale),
		OffSession: p.OffSession, Currency: string(p.Amount.Currency), Amount: p.Amount.Minor,
		Status: string(p.Status), Decline: repo.Shared(p.Decline), Provider: p.Provider,
		ProcessorID: p.ProcessorID, Method: p.Method, Brand: p.Brand,
		Last4:    p.Last4,
		SaveCard: p.SaveCard, Mandate: p.Mandate, CreatedAt: repo.UnixMillis(p.CreatedAt),
		SettledAt: repo.UnixMillis(p.SettledAt),
		Refunded:  p.Refunded.Minor, ProcessorFee: p.ProcessorFee.Minor,
	}
}

func (r paymentRow) toState() payment.State {
	return payment.State{
		ID: r.ID, CreatorID: r.CreatorID,
		Subject: payment.Subject{
			Purpose: payment.Purpose(r.Purpose), SubjectID: r.SubjectID, CustomerID: r.CustomerID,
			PaymentMethodID: r.PaymentMethodID,
		},
		Sale: r.Sale.V, OffSession: r.OffSession,
		Amount: repo.Amount(r.Amount, r.Currency),
		Status: payment.Status(r.Status), Decline: r.Decline.V, Provider: r.Provider,
		ProcessorID: r.ProcessorID, Method: r.Method, Brand: r.Brand,
		Last4:    r.Last4,
		SaveCard: r.SaveCard, Mandate: r.Mandate, CreatedAt: time.Time(r.CreatedAt), SettledAt: time.Time(r.SettledAt),
		Refunded: repo.Amount(r.Refunded, r.Currency), ProcessorFee: repo.Amount(r.ProcessorFee, r.Currency),
		Revision: r.Revision,
	}
}

var paymentMapping = repo.Mapping[paymentRow, payment.State]{
	Name: "payment", NewRow: newPaymentRow, ToState: paymentRow.toState,
	Sorts: repo.Sorts{
		"amount": {SQL: "amount"},
	},
}

type payments struct {
	repo.ByID[paymentRow, payment.State]
}

// GetForUpdate implements ports.Payments.
func (t payments) GetForUpdate(ctx context.Context, id string, purpose payment.Purpose) (payment.State, error) {
	t.PreloadWith("payments", id, string(purpose))
	return t.ByID.GetForUpdate(ctx, id)
}

// written are the payments that the transaction has written.
var written = repo.NewSlot[payment.State]("payments")

// Get implements ports.Payments.
func (t payments) Get(ctx context.Context, id string) (payment.State, error) {
	return written.GetPut(t.Base, id, func() (payment.State, error) { return t.ByID.Get(ctx, id) })
}

// Update implements ports.Payments.
func (t payments) Update(ctx context.Context, p payment.State) error {
	err := t.Table.Update(ctx, p)
	written.Put(t.Base, p.ID, p)
	return err
}

// GetLive implements ports.Payments.
func (t payments) GetLive(_ context.Context, purpose payment.Purpose, subjectID string) (payment.State, error) {
	return t.GetBy("get live payment of "+subjectID, "purpose = ? AND subject_id = ? AND settled_at IS NULL", purpose,
		subjectID)
}

// listedPaymentRow is a payment with what others call its customer and its checkout.
type listedPaymentRow struct {
	Payment            paymentRow `gorm:"embedded"`
	ExternalCustomerID string
	ReferenceID        string
	DisputeStatus      string
}

// Identity implements repo.Row.
func (r listedPaymentRow) Identity() (id string, revision int64) { return r.Payment.Identity() }

// latestDispute is the status of a payment's latest dispute, NULL for none.
const latestDispute = "(SELECT d.status FROM disputes d WHERE d.payment_id = payments.id ORDER BY d.id DESC LIMIT 1)"

// undisputed holds for a succeeded payment without a dispute, or with one that was won.
const undisputed = "payments.status = 'succeeded' AND COALESCE(" + latestDispute + ", 'won') = 'won' AND "

// standings are the conditions of payment.StandingOf. Any other standing is a status.
var standings = map[payment.Standing]string{
	payment.StandingPaid:           undisputed + "refunded = 0",
	payment.StandingPartlyRefunded: undisputed + "refunded > 0 AND refunded < amount",
	payment.StandingRefunded:       undisputed + "refunded > 0 AND refunded >= amount",
	payment.StandingDisputed: "payments.status = 'succeeded' AND " + latestDispute +
		" IN ('needs_response', 'under_review')",
	payment.StandingDisputeLost: "payments.status = 'succeeded' AND " + latestDispute + " = 'lost'",
}

// listedPaymentColumns look the integrator's names up where they are kept.
const listedPaymentColumns = `payments.*, COALESCE(
		(SELECT NULLIF(s.external_customer_id, '') FROM sessions s WHERE s.id = payments.subject_id),
		(SELECT c.external_customer_id FROM customers c WHERE c.id = payments.customer_id), '') AS external_customer_id,
	COALESCE((SELECT s.reference_id FROM sessions s WHERE s.id = payments.subject_id), '') AS reference_id,
	COALESCE(` + latestDispute + `, '') AS dispute_status`

// List implements ports.Payments.
func (t payments) List(_ context.Context, creatorID string, search ports.PaymentSearch,
	page ports.Page) (ports.List[ports.ListedPayment], error) {
	query := t.matching(creatorID, search, page.Sort).Select(repo.WithColumns[paymentRow](t.Base, listedPaymentColumns))
	listed := func(r listedPaymentRow) ports.ListedPayment {
		return ports.ListedPayment{State: r.Payment.toState(), ExternalCustomerID: r.ExternalCustomerID,
			ReferenceID: r.ReferenceID, Dispute: dispute.Status(r.DisputeStatus)}
	}
	return repo.ListPage(t.Base, "list payments of "+creatorID, query, page, paymentMapping.Sorts, listed)
}

// matching selects what a search asks for.
func (t payments) matching(creatorID string, search ports.PaymentSearch, by ports.Sort) *gorm.DB {
	query := repo.Equal(t.Own(creatorID, search, by).Model(&paymentRow{}), map[string]string{
		"id": search.ID, "status": string(search.Status), "customer_id": search.CustomerID,
	})
	if search.CustomerIDs != nil {
		query = query.Where("customer_id IN ? AND customer_id <> ''", search.CustomerIDs)
	}
	if search.IDs != nil {
		query = query.Where("id IN ?", search.IDs)
	}
	if id := search.ExternalCustomerID; id != "" {
		query = query.Where(`(subject_id IN (SELECT id FROM sessions WHERE creator_id = ? AND external_customer_id = ?)
			OR customer_id IN (SELECT id FROM customers WHERE creator_id = ?
			AND external_customer_id = ?))`, creatorID, id, creatorID, id)
	}
	if id := search.ReferenceID; id != "" {
		query = query.Where("subject_id IN (SELECT id FROM sessions WHERE creator_id = ? AND reference_id = ? AND "+
			"reference_id <> '')", creatorID, id)
	}
	if id := search.SubscriptionID; id != "" {
		query = query.Where(`(purpose = ? AND subject_id = ? OR purpose = ? AND subject_id = (SELECT checkout_id
			FROM subscriptions WHERE id = ?))`, payment.ForSubscription, id, payment.ForCheckout, id)
	}
	if condition, ok := standings[search.Standing]; ok {
		query = query.Where(condition)
	} else {
		query = repo.Equal(query, map[string]string{"status": string(search.Standing)})
	}
	return repo.CreatedIn(query, search.Created)
}

// Totals implements ports.Payments.
func (t payments) Totals(_ context.Context, creatorID string, search ports.PaymentSearch) (
	totals []ports.PaymentTotal, err error) {
	newest := t.matching(creatorID, search, ports.Sort{}).
		Select("currency, amount, refunded, payments.status").Order("id DESC").
		Limit(ports.NewestRows)
	err = t.DB.Table("(?) newest", newest).Select(`currency, COUNT(*) AS count,
		CAST(SUM(CASE WHEN status = 'succeeded' THEN amount ELSE 0 END) AS BIGINT) AS paid,
		CAST(SUM(refunded) AS BIGINT) AS refunded`).Group("currency").Order("currency").Scan(&totals).Error
	return totals, t.Failure("total payments of "+creatorID, err)
}

// FindByBuyer implements ports.Payments.
func (t payments) FindByBuyer(_ context.Context, creatorID, text string, limit int) ([]string, error) {
	folded, typed := strings.ToLower(repo.Searched(text)), repo.Searched(text)
	return t.SearchNewest("search payments", "payments", creatorID, limit, `EXISTS (SELECT 1 FROM sessions s
		WHERE s.id = newest.subject_id AND (LOWER(s.email) LIKE ? ESCAPE '\' OR s.buyer LIKE ? ESCAPE '\'))`,
		repo.Containing(folded), repo.Containing(typed))
}

// ListByCustomer implements ports.Payments.
func (t payments) ListByCustomer(_ context.Context, customerID string, limit int) ([]payment.State, error) {
	return t.ListBy("list payments of "+customerID,
		t.DB.Where("customer_id = ? AND customer_id <> '' AND status = ? AND amount > 0", customerID,
			payment.Succeeded).Order("id DESC").Limit(limit))
}

// unsettled begins a condition on the attempts that are not settled, all of which are read by their partial index: a
// plan that is made without the parameters would take another one for an account's payments, and read them all.
const unsettled = `id IN (WITH live AS MATERIALIZED (
	SELECT id, creator_id, created_at FROM payments WHERE settled_at IS NULL) SELECT id FROM live WHERE `

// ListWithoutTask implements ports.Payments.
func (t payments) ListWithoutTask(_ context.Context, kind string, before time.Time,
	limit int) ([]payment.State, error) {
	return t.ListBy("list payments without a task", t.DB.Where(unsettled+`
		created_at - COALESCE((SELECT o.offset_ms FROM clock_offsets o WHERE o.creator_id = live.creator_id), 0) <= ?
		AND NOT EXISTS (SELECT 1 FROM tasks k WHERE k.id = ? || live.id))`,
		before.UnixMilli(), kind+":").Order("creator_id, id").Limit(limit))
}

// ListLive implements ports.Payments.
func (t payments) ListLive(_ context.Context, creatorID string, limit int) ([]payment.State, error) {
	return t.ListBy("list live payments", t.DB.Where(unsettled+"creator_id = ?)", creatorID).Order("id").Limit(limit))
}
