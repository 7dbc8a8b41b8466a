package portal

import (
	"time"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/web/layout"
	"sundry/core/locale"
	"sundry/core/money"
	"sundry/core/payment"
	"sundry/core/tax"
	"sundry/modules/customers"
	"sundry/modules/invoicing"
)

type receiptView struct {
	Number, Description, Amount, Href string
	PaidAt                            time.Time
}

type sheet struct {
	Number, Amount string
	PDF            string // its address
	PaidAt         time.Time
	Lines          []line
	Discount, Tax  string
	Credit         string // from an earlier change of the plan
	Card           string
	Start, End     time.Time
	Refunded       string // "" while nothing was
	Credits        []invoicing.CreditLink
}

func (r *Routes) newReceiptView(reader locale.Locale, base string, p payment.State) receiptView {
	v := receiptView{
		Number: p.Sale.ReceiptNumber, Amount: reader.Money(p.Amount), PaidAt: p.SettledAt,
		Href: base + "/receipts/" + p.ID,
	}
	if len(p.Sale.Lines) > 0 {
		v.Description = p.Sale.Lines[len(p.Sale.Lines)-1].Text(reader)
	}
	if p.CheckoutID() != "" {
		v.Href = r.Checkout.ReceiptURL(p.CheckoutID())
	}
	return v
}

// less shows what a price was reduced by; "" where it was not.
func less(reader locale.Locale, off money.Amount) string {
	if off.Minor == 0 {
		return ""
	}
	return reader.Money(layout.Amount(-off.Minor, string(off.Currency)))
}

// taxLine names the tax of a sale and its amount, or the reverse charge; "" without either.
func taxLine(reader locale.Locale, s payment.Sale) string {
	switch {
	case s.TaxDetails.Treatment == tax.ReverseCharge:
		return reader.Text("line.reverse_charge") + reader.Text("colon") + " " + reader.Money(s.Tax)
	case s.Tax.Minor > 0:
		return reader.TaxLine(s.TaxDetails, s.TaxAdded.Minor == 0) + reader.Text("colon") + " " + reader.Money(s.Tax)
	}
	return ""
}

func (r *Routes) receipt(c *fiber.Ctx, v customers.Visit) error {
	paid, err := r.Customers.Payment(c.UserContext(), v.Customer.ID, c.Params("payment"))
	if err != nil {
		return err
	}
	reader := layout.Reader(c)
	sheet := sheet{
		Number: paid.Sale.ReceiptNumber, Amount: reader.Money(paid.Amount), PaidAt: paid.SettledAt,
		Card:  layout.CardName(paid.Brand, paid.Last4),
		Start: paid.Sale.PeriodStart, End: paid.Sale.PeriodEnd,
		PDF: r.Documents.ReceiptURL(paid.ID) + "/pdf",
	}
	for _, l := range paid.Sale.Lines {
		sheet.Lines = append(sheet.Lines, line{l.Text(reader), reader.Money(l.Amount)})
	}
	sheet.Discount, sheet.Credit = less(reader, paid.Sale.Discount), less(reader, paid.Sale.Credit)
	sheet.Tax = taxLine(reader, paid.Sale)
	if paid.Refunded.Minor > 0 {
		sheet.Refunded = reader.Money(paid.Refunded)
	}
	if sheet.Credits, err = r.Documents.Credits(c.UserContext(), paid.CreatorID, paid.ID); err != nil {
		return err
	}
	p := r.newPage(c, v)
	p.Sheet = &sheet
	return r.send(c, "portal_receipt.html", "portal.receipt.title", p)
}
