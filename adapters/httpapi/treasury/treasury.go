package treasury

import (
	"github.com/gofiber/fiber/v2"

	"sundry/adapters/httpapi"
	"sundry/core/apiformat"
	"sundry/core/document"
	"sundry/core/fault"
	"sundry/core/id"
	"sundry/core/ledger"
	"sundry/core/locale"
	"sundry/core/payout"
)

type balanceView struct {
	Currency         string `json:"currency"`
	PendingInCents   int64  `json:"pendingInCents"`
	AvailableInCents int64  `json:"availableInCents"`
	ReservedInCents  int64  `json:"reservedInCents"`
	InTransitInCents int64  `json:"inTransitInCents"`
}

func newBalanceView(b ledger.Balance) balanceView {
	return balanceView{
		Currency: string(b.Currency), PendingInCents: b.Pending, AvailableInCents: b.Available,
		ReservedInCents:  b.Reserved,
		InTransitInCents: b.InTransit,
	}
}

type balancesView struct {
	Data []balanceView `json:"data"`
}

func (h handlers) getBalance(c *fiber.Ctx) error {
	balances, err := h.Treasury.Balance(c.UserContext(), httpapi.Account(c))
	if err != nil {
		return err
	}
	view := balancesView{Data: make([]balanceView, len(balances))}
	for i, b := range balances {
		view.Data[i] = newBalanceView(b)
	}
	return c.JSON(view)
}

// entryView is one leg of a posting.
type entryView struct {
	ID            string            `json:"id"`
	PostingID     string            `json:"postingId"`
	SourceType    ledger.SourceType `json:"sourceType"`
	SourceID      string            `json:"sourceId"`
	Kind          ledger.Kind       `json:"kind"`
	Account       ledger.Account    `json:"account"`
	AmountInCents int64             `json:"amountInCents"`
	Currency      string            `json:"currency"`
	CreatedAt     string            `json:"createdAt"`
}

func newEntryView(e ledger.Entry) entryView {
	return entryView{
		ID: e.ID, PostingID: e.PostingID, SourceType: e.SourceType, SourceID: e.SourceID, Kind: e.Kind,
		Account:       e.Account,
		AmountInCents: e.Amount.Minor, Currency: string(e.Amount.Currency), CreatedAt: apiformat.Instant(e.CreatedAt),
	}
}

func (h handlers) listEntries(c *fiber.Ctx) error {
	var f fault.Violations
	page := httpapi.ReadPage(c, &f, id.LedgerEntry)
	sourceID := httpapi.QueryText(c, &f, "sourceId")
	if err := f.Err(); err != nil {
		return err
	}
	return httpapi.RespondList(c, newEntryView)(h.Treasury.Entries(c.UserContext(), httpapi.Account(c), sourceID, page))
}

func (h handlers) listPayouts(c *fiber.Ctx) error {
	page, err := httpapi.QueryPage(c, id.Payout)
	if err != nil {
		return err
	}
	return httpapi.RespondList(c, payout.State.View)(h.Treasury.ListPayouts(c.UserContext(), httpapi.Account(c), "", page))
}

func (h handlers) getPayout(c *fiber.Ctx) error {
	return httpapi.Respond(c, payout.State.View)(h.Treasury.GetPayout(c.UserContext(), httpapi.Account(c), c.Params("id")))
}

// payoutRequest is the body of POST /v1/payouts.
type payoutRequest struct {
	Currency      *string `json:"currency"`
	AmountInCents *int64  `json:"amountInCents"`
}

func (h handlers) postPayout(c *fiber.Ctx) error {
	body, reading := httpapi.Decode[payoutRequest](c)
	request := payout.Request{
		Currency: httpapi.ValueOf(body.Currency), Minor: body.AmountInCents, Key: c.Get("Idempotency-Key"),
	}
	if err := httpapi.MergeFieldErrors(reading, h.Treasury.CheckPayout(request)); err != nil {
		return err
	}
	return httpapi.RespondStatus(c, fiber.StatusCreated, payout.State.View)(
		h.Treasury.RequestPayout(c.UserContext(), httpapi.Account(c), request),
	)
}

// getStatement responds with the statement as CSV, with every entry, or as PDF, with their sums.
func (h handlers) getStatement(c *fiber.Ctx) error {
	var f fault.Violations
	format := httpapi.QueryOneOf(c, &f, "format", "csv", "pdf")
	if err := f.Err(); err != nil {
		return err
	}
	content, name, text, err := []byte(nil), "", "text/csv; charset=utf-8", error(nil)
	if format == "pdf" {
		text, name = "application/pdf", "statement-"+c.Params("id")+".pdf"
		content, err = h.statementPDF(c)
	} else {
		name, content, err = h.Treasury.Statement(c.UserContext(), httpapi.Account(c), c.Params("id"))
	}
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderContentType, text)
	c.Set(fiber.HeaderContentDisposition, `attachment; filename="`+name+`"`)
	c.Set(fiber.HeaderCacheControl, "no-store")
	return c.Send(content)
}

// statementPDF is the statement as it was issued when the payout was paid.
func (h handlers) statementPDF(c *fiber.Ctx) ([]byte, error) {
	p, err := h.Treasury.GetPayout(c.UserContext(), httpapi.Account(c), c.Params("id"))
	if err != nil {
		return nil, err
	}
	if p.PaidAt.IsZero() {
		return nil, fault.New(fault.StateConflict, "The statement is issued once the payout is paid.")
	}
	issued, err := h.Documents.Of(
		c.UserContext(), document.PayoutStatement, p.ID, locale.Parse(c.Get(fiber.HeaderAcceptLanguage)),
	)
	if err != nil {
		return nil, err
	}
	return h.Documents.PDF(issued)
}
