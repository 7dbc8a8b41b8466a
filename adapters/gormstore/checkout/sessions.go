// Package checkout keeps checkout sessions.
package checkout

import (
	"context"
	"time"

	"sundry/adapters/gormstore/repo"
	"sundry/core/checkout"
	"sundry/core/customer"
	"sundry/core/discount"
	"sundry/core/intake"
	"sundry/core/money"
	"sundry/core/payment"
	"sundry/core/plan"
	"sundry/core/tax"
	"sundry/ports"
)

// Repositories returns the area's repositories over the connection of b.
func Repositories(b *repo.Base) ports.CheckoutRepos {
	return ports.CheckoutRepos{Sessions: sessions{sessionMapping.On(b)}, Audit: audit{b}}
}

// sessionRow is written once where it says so: what a session was opened with never changes, but for the interval and
// the quantity of its offer.
type sessionRow struct {
	repo.Revised
	CreatorID          string `gorm:"<-:create"`
	ListingID          string `gorm:"<-:create"`
	Offer              repo.SharedJSON[plan.Offer]
	Catalog            repo.SharedJSON[*checkout.CatalogReference] `gorm:"<-:create"`
	PaymentLinkID      string                                      `gorm:"<-:create"`
	OpenedBy           string                                      `gorm:"<-:create"`
	ExternalCustomerID string                                      `gorm:"<-:create"`
	Email              string
	Buyer              repo.JSONColumn[customer.Details]
	UIMode             string                             `gorm:"<-:create"`
	SuccessURL         string                             `gorm:"<-:create"`
	CancelURL          string                             `gorm:"<-:create"`
	ReferenceID        string                             `gorm:"<-:create"`
	Metadata           repo.SharedJSON[map[string]string] `gorm:"<-:create"`
	UTM                repo.SharedJSON[map[string]string] `gorm:"<-:create"`
	Slots              repo.SharedJSON[[]checkout.AppointmentSlot]
	Intake             repo.SharedJSON[intake.Response]
	SessionCount       int `gorm:"<-:create"`
	Status             string
	Currency           string `gorm:"<-:create"`
	Subtotal           int64
	TrialDropped       bool
	Discount           int64
	Tax                int64
	Total              int64
	DiscountTerms      repo.SharedJSON[*discount.Terms]
	TaxDetails         repo.SharedJSON[tax.Details]
	Attempts           int
	LivePaymentID      string
	LastError          repo.SharedJSON[payment.DeclineReason]
	Consent            repo.OptionalJSON[checkout.Consent]
	ConsentFrom        repo.OptionalJSON[checkout.ConsentOrigin]
	PaymentID          string
	CustomerID         string
	SubscriptionID     string
	ReceiptNumber      string
	PaidAt             repo.UnixMillis
	ExpiresAt          repo.UnixMillis
	CreatedAt          repo.UnixMillis `gorm:"<-:create;autoCreateTime:false"`
}

// TableName implements gorm's tabler.
func (sessionRow) TableName() string { return "sessions" }

func newSessionRow(s checkout.State) sessionRow {
	var from *checkout.ConsentOrigin
	if s.Consent != nil && s.Consent.From != (checkout.ConsentOrigin{}) {
		from = &s.Consent.From
	}
	return sessionRow{
		Revised:     repo.Revised{ID: s.ID, Revision: s.Revision},
		Consent:     repo.OptionalJSON[checkout.Consent]{V: s.Consent},
		ConsentFrom: repo.OptionalJSON[checkout.ConsentOrigin]{V: from},

		TrialDropped: s.TrialDropped, CreatorID: s.CreatorID, ListingID: s.Offer.ListingID,
		Offer: repo.Shared(s.Offer), Catalog: repo.Shared(s.Catalog), PaymentLinkID: s.PaymentLinkID, OpenedBy: s.OpenedBy,
		ExternalCustomerID: s.ExternalCustomerID, Email: s.Email, Buyer: repo.JSON(s.Buyer),
		UIMode: string(s.UIMode), SuccessURL: s.SuccessURL, CancelURL: s.CancelURL, ReferenceID: s.ReferenceID,
		Metadata: repo.Shared(s.Metadata), UTM: repo.Shared(s.UTM),
		Slots: repo.Shared(s.Slots), Intake: repo.Shared(s.Intake), SessionCount: s.Offer.SessionCount,
		Status: string(s.Status), Currency: string(s.Total.Currency),
		Subtotal: s.Subtotal.Minor, Discount: s.Discount.Minor, Tax: s.Tax.Minor, Total: s.Total.Minor,
		TaxDetails: repo.Shared(s.TaxDetails), DiscountTerms: repo.Shared(s.DiscountTerms),
		Attempts: s.Attempts, LivePaymentID: s.LivePaymentID, LastError: repo.Shared(s.LastError),
		PaymentID: s.PaymentID, CustomerID: s.CustomerID, SubscriptionID: s.SubscriptionID, ReceiptNumber: s.ReceiptNumber,
		PaidAt: repo.UnixMillis(s.PaidAt), ExpiresAt: repo.UnixMillis(s.ExpiresAt), CreatedAt: repo.UnixMillis(s.CreatedAt),
	}
}

func (r sessionRow) toState() checkout.State {
	amount := func(minor int64) money.Amount {
		return repo.Amount(minor, r.Currency)
	}
	offer := r.Offer.V
	if r.TrialDropped {
		offer.TrialDays = 0
	}
	if r.Consent.V != nil && r.ConsentFrom.V != nil {
		r.Consent.V.From = *r.ConsentFrom.V
	}
	return checkout.State{
		ID: r.ID, CreatorID: r.CreatorID, Offer: offer, Catalog: r.Catalog.V, PaymentLinkID: r.PaymentLinkID,
		OpenedBy: r.OpenedBy, TrialDropped: r.TrialDropped,
		ExternalCustomerID: r.ExternalCustomerID, Email: r.Email, Buyer: r.Buyer.V,
		UIMode: checkout.UIMode(r.UIMode), SuccessURL: r.SuccessURL, CancelURL: r.CancelURL, ReferenceID: r.ReferenceID,
		Metadata: r.Metadata.V, UTM: r.UTM.V, Slots: r.Slots.V, Intake: r.Intake.V, Status: checkout.Status(r.Status),
		Subtotal: amount(r.Subtotal), Discount: amount(r.Discount), Tax: amount(r.Tax), Total: amount(r.Total),
		TaxDetails: r.TaxDetails.V, DiscountTerms: r.DiscountTerms.V,
		Attempts: r.Attempts, LivePaymentID: r.LivePaymentID, LastError: r.LastError.V, Consent: r.Consent.V,
		PaymentID: r.PaymentID, CustomerID: r.CustomerID, SubscriptionID: r.SubscriptionID, ReceiptNumber: r.ReceiptNumber,
		PaidAt: time.Time(r.PaidAt), ExpiresAt: time.Time(r.ExpiresAt), CreatedAt: time.Time(r.CreatedAt),
		Revision: r.Revision,
	}
}

var sessionMapping = repo.Mapping[sessionRow, checkout.State]{
	Name: "session", NewRow: newSessionRow, ToState: sessionRow.toState,
}

type sessions struct {
	repo.Table[sessionRow, checkout.State]
}

// Insert implements ports.Sessions.
func (t sessions) Insert(ctx context.Context, s checkout.State) error {
	return t.InsertNew(ctx, s)
}

// Get implements ports.Sessions.
func (t sessions) Get(_ context.Context, id string) (checkout.State, error) {
	return cachedSessions.Get(t.Base, id, func() (checkout.State, error) {
		t.PreloadWith("sessions", id)
		return t.GetBy("get session "+id, "id = ?", id)
	})
}

var cachedSessions = repo.NewSlot[checkout.State]("sessions")

// Update implements ports.Sessions.
func (t sessions) Update(ctx context.Context, s checkout.State) error {
	err := t.Table.Update(ctx, s)
	cachedSessions.Put(t.Base, s.ID, s)
	return err
}

// PreloadSession reads the session that a payment is for.
func PreloadSession(b *repo.Base, paymentID string) {
	repo.PreloadRow(b, cachedSessions, "get session of "+paymentID,
		"SELECT s.* FROM sessions s JOIN payments p ON p.subject_id = s.id WHERE p.id = ?", []any{paymentID},
		sessionRow.toState, func(r sessionRow) string { return r.ID })
}

// CountHolding implements ports.Sessions.
func (t sessions) CountHolding(_ context.Context, creatorID, openedBy string) (int, error) {
	ids, err := t.QueryIDs("count holding sessions of "+creatorID, `SELECT DISTINCT s.id FROM sessions s
		WHERE s.creator_id = ? AND s.opened_by = ? AND s.opened_by <> '' AND (EXISTS (SELECT 1 FROM reservations r
			WHERE r.creator_id = s.creator_id AND r.checkout_id = s.id AND r.status = 'held')
		OR EXISTS (SELECT 1 FROM reservation_seats r
			WHERE r.creator_id = s.creator_id AND r.checkout_id = s.id AND r.status = 'held'))`, creatorID, openedBy)
	return len(ids), err
}

// boughtBy selects what a customer has bought. It repeats the condition of the index.
const boughtBy = "creator_id = ? AND id IN (SELECT subject_id FROM payments " +
	"WHERE creator_id = ? AND customer_id = ? AND customer_id <> '' AND purpose = ?)"

// Readdress implements ports.Sessions.
func (t sessions) Readdress(_ context.Context, creatorID, customerID, from, to string) error {
	return t.Exec("readdress sessions of "+customerID,
		"UPDATE sessions SET email = ?, revision = revision + 1 WHERE "+boughtBy+" AND LOWER(email) = LOWER(?)",
		to, creatorID, creatorID, customerID, payment.ForCheckout, from)
}

// Rename implements ports.Sessions.
func (t sessions) Rename(_ context.Context, creatorID, customerID, externalCustomerID string) error {
	return t.Exec("rename sessions of "+customerID,
		"UPDATE sessions SET external_customer_id = ?, revision = revision + 1 WHERE "+boughtBy,
		externalCustomerID, creatorID, creatorID, customerID, payment.ForCheckout)
}

// ListPaying implements ports.Sessions.
func (t sessions) ListPaying(_ context.Context, creatorID, externalCustomerID string) ([]checkout.State, error) {
	return t.ListBy("list sessions being paid", t.DB.Where(`creator_id = ? AND external_customer_id = ? AND status = ?
		AND live_payment_id <> ''`, creatorID, externalCustomerID, checkout.StatusProcessing).Order("id"))
}

// List implements ports.Sessions.
func (t sessions) List(_ context.Context, creatorID string, search ports.SessionSearch,
	page ports.Page) (ports.List[checkout.State], error) {
	query := repo.Equal(t.Own(creatorID, search, page.Sort), map[string]string{
		"status": string(search.Status), "external_customer_id": search.ExternalCustomerID, "customer_id": search.CustomerID,
		"reference_id": search.ReferenceID,
	})
	return t.Page("list sessions of "+creatorID, repo.CreatedIn(query, search.Created), page)
}
