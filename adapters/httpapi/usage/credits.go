package usage

import (
	"github.com/gofiber/fiber/v2"

	"sundry/adapters/httpapi"
	"sundry/core/apiformat"
	"sundry/core/fault"
	"sundry/core/id"
	core "sundry/core/usage"
	"sundry/ports"
)

// creditWithUses shows a usage credit with what invoices have used of it.
type creditWithUses struct {
	core.CreditView
	Uses []creditUseView `json:"uses"`
}

type creditUseView struct {
	InvoiceID     string `json:"invoiceId"`
	AmountInCents int64  `json:"amountInCents"`
	UsedAt        string `json:"usedAt"`
}

func (h handlers) listCredits(c *fiber.Ctx) error {
	var f fault.Violations
	page := httpapi.ReadPage(c, &f, id.UsageCredit)
	filter := ports.CreditFilter{
		CreatorID: httpapi.Account(c), CustomerID: httpapi.QueryText(c, &f, "customerId"),
		ExternalCustomerID: httpapi.QueryText(c, &f, "externalCustomerId"),
	}
	if err := f.Err(); err != nil {
		return err
	}
	return httpapi.RespondList(c, func(s core.CreditState) core.CreditView { return s.View(h.Live) })(
		h.Usage.Credits(c.UserContext(), filter, page),
	)
}

func (h handlers) getCredit(c *fiber.Ctx) error {
	s, uses, err := h.Usage.Credit(c.UserContext(), httpapi.Account(c), c.Params("id"))
	if err != nil {
		return err
	}
	view := creditWithUses{CreditView: s.View(h.Live), Uses: make([]creditUseView, len(uses))}
	for i, u := range uses {
		view.Uses[i] = creditUseView{u.InvoiceID, u.Minor, apiformat.Instant(u.At)}
	}
	return c.JSON(view)
}
