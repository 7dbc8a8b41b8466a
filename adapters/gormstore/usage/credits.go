package usage

import (
	"context"
	"time"

	"sundry/adapters/gormstore/repo"
	"sundry/core/invoice"
	"sundry/core/money"
	core "sundry/core/usage"
	"sundry/ports"
)

type creditRow struct {
	repo.Revised
	CreatorID          string
	CustomerID         string
	ExternalCustomerID string
	CheckoutID         string
	PaymentID          string
	Paid               int64
	Currency           string
	Meter              string
	Granted            int64
	Used               int64
	Returned           int64
	Expired            int64
	Disputed           bool
	ExpiresAt          repo.UnixMillis
	CreatedAt          repo.UnixMillis `gorm:"autoCreateTime:false"`
	EndReason          string
	EndedAt            repo.UnixMillis
}

// TableName implements gorm's tabler.
func (creditRow) TableName() string { return "usage_credits" }

func newCreditRow(s core.CreditState) creditRow {
	return creditRow{
		Revised:   repo.Revised{ID: s.ID, Revision: s.Revision},
		CreatorID: s.CreatorID, CustomerID: s.CustomerID, ExternalCustomerID: s.ExternalCustomerID,
		CheckoutID: s.CheckoutID, PaymentID: s.PaymentID, Paid: s.Paid, Currency: string(s.Currency), Meter: s.Meter,
		Granted: s.Granted, Used: s.Used, Returned: s.Returned, Expired: s.Expired, Disputed: s.Disputed,
		ExpiresAt: repo.UnixMillis(s.ExpiresAt), CreatedAt: repo.UnixMillis(s.CreatedAt), EndReason: string(s.End),
		EndedAt: repo.UnixMillis(s.EndedAt),
	}
}

func (r creditRow) toState() core.CreditState {
	return core.CreditState{
		ID: r.ID, CreatorID: r.CreatorID, CustomerID: r.CustomerID, ExternalCustomerID: r.ExternalCustomerID,
		CheckoutID: r.CheckoutID, PaymentID: r.PaymentID, Paid: r.Paid, Currency: money.Currency(r.Currency), Meter: r.Meter,
		Granted: r.Granted, Used: r.Used, Returned: r.Returned, Expired: r.Expired, Disputed: r.Disputed,
		ExpiresAt: time.Time(r.ExpiresAt), CreatedAt: time.Time(r.CreatedAt), End: core.CreditEnd(r.EndReason),
		EndedAt: time.Time(r.EndedAt), Revision: r.Revision,
	}
}

type creditUseRow struct {
	CreditID  string `gorm:"primaryKey"`
	InvoiceID string `gorm:"primaryKey"`
	CreatorID string
	Amount    int64
	CreatedAt repo.UnixMillis `gorm:"autoCreateTime:false"`
}

// TableName implements gorm's tabler.
func (creditUseRow) TableName() string { return "usage_credit_uses" }

var creditMapping = repo.Mapping[creditRow, core.CreditState]{
	Name: "usage credit", NewRow: newCreditRow, ToState: creditRow.toState,
}

type credits struct {
	repo.Table[creditRow, core.CreditState]
}

// List implements ports.UsageCredits.
func (t credits) List(
	_ context.Context, f ports.CreditFilter, page ports.Page,
) (ports.List[core.CreditState], error) {
	query := repo.Equal(t.DB.Where("creator_id = ?", f.CreatorID), map[string]string{
		"customer_id": f.CustomerID, "external_customer_id": f.ExternalCustomerID,
	})
	return t.Page("list usage credits of "+f.CreatorID, query, page)
}

// ListLeft implements ports.UsageCredits.
func (t credits) ListLeft(_ context.Context, creatorID, customerID string) ([]core.CreditState, error) {
	return creditLists.Get(t.Base, creatorID+"/"+customerID, func() ([]core.CreditState, error) {
		return t.FindBy("list usage credits of "+customerID,
			"creator_id = ? AND customer_id = ? AND end_reason = ''", creatorID, customerID)
	})
}

// creditLists are the credits that are left of a customer.
var creditLists = repo.NewSlot[[]core.CreditState]("usage_credits")

// PreloadCredits reads the credits of a billing plan's customer.
func PreloadCredits(b *repo.Base, planID string) {
	const query = `SELECT o.creator_id || '/' || o.customer_id AS owner, c.* FROM usage_billing_plans o
		LEFT JOIN usage_credits c ON c.creator_id = o.creator_id AND c.customer_id = o.customer_id AND c.end_reason = ''
		WHERE o.id = ? ORDER BY c.id DESC`
	repo.PreloadList(b, creditLists, "list usage credits of "+planID, query, []any{planID}, creditRow.toState)
}

// ListByCheckout implements ports.UsageCredits.
func (t credits) ListByCheckout(_ context.Context, creatorID, checkoutID string) ([]core.CreditState, error) {
	return t.FindBy("list usage credits of "+checkoutID, "creator_id = ? AND checkout_id = ?", creatorID, checkoutID)
}

// Rename implements ports.UsageCredits.
func (t credits) Rename(_ context.Context, creatorID, customerID, externalCustomerID string) error {
	return t.Exec("rename usage credits of "+customerID,
		"UPDATE usage_credits SET external_customer_id = ? WHERE creator_id = ? AND customer_id = ?", externalCustomerID,
		creatorID, customerID)
}

// InsertUse implements ports.UsageCredits.
func (t credits) InsertUse(
	_ context.Context, creatorID, invoiceID string, u core.CreditUse, at time.Time,
) error {
	return t.InsertRow("insert use of "+u.CreditID, &creditUseRow{
		CreditID: u.CreditID, InvoiceID: invoiceID, CreatorID: creatorID, Amount: u.Minor, CreatedAt: repo.UnixMillis(at),
	})
}

// ListUses implements ports.UsageCredits.
func (t credits) ListUses(_ context.Context, creatorID, creditID string) ([]ports.CreditUse, error) {
	return repo.ListBy(t.Base, "list uses of "+creditID,
		t.DB.Where("creator_id = ? AND credit_id = ?", creatorID, creditID).Order("created_at, invoice_id"),
		func(r creditUseRow) ports.CreditUse {
			return ports.CreditUse{InvoiceID: r.InvoiceID, Minor: r.Amount, At: time.Time(r.CreatedAt)}
		})
}

// Miscredited implements ports.UsageAudit.
func (t audit) Miscredited(_ context.Context, limit int) ([]string, error) {
	return t.QueryIDs("audit usage credits", `
SELECT c.id FROM usage_credits c WHERE c.used <>
	(SELECT COALESCE(SUM(u.amount), 0) FROM usage_credit_uses u WHERE u.credit_id = c.id)
OR c.used < 0 OR c.returned < 0 OR c.expired < 0 OR c.granted < c.used + c.returned + c.expired
OR (c.granted = c.used + c.returned + c.expired) <> (c.end_reason <> '') OR (c.end_reason = '') <> (c.ended_at IS NULL)
ORDER BY c.id LIMIT ?`, limit)
}

// creditPage bounds the invoices that an audit of credits has in memory.
const creditPage = 200

// Misprepaid implements ports.UsageAudit. Invoices keep their lines as JSON, so they are read in pages.
func (t audit) Misprepaid(_ context.Context, limit int) ([]string, error) {
	type paidInvoice struct {
		ID    string
		Lines repo.JSONColumn[[]invoice.Line]
		Used  int64
	}
	read := func(after string) (page []paidInvoice, err error) {
		err = t.DB.Raw(`
SELECT i.id, i.lines, COALESCE((SELECT SUM(u.amount) FROM usage_credit_uses u WHERE u.invoice_id = i.id), 0) AS used
FROM invoices i WHERE i.id > ? AND i.billing_plan_id <> '' ORDER BY i.id LIMIT ?`, after, creditPage).Scan(&page).Error
		return page, t.Failure("audit prepaid invoices", err)
	}
	return repo.AuditPages(limit, creditPage, read, func(inv paidInvoice) (id, wrong string, err error) {
		for _, line := range inv.Lines.V {
			if line.Kind == invoice.Prepaid {
				inv.Used += line.AmountMinor
			}
		}
		if inv.Used != 0 {
			wrong = inv.ID
		}
		return inv.ID, wrong, nil
	})
}
