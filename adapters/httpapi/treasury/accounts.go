package treasury

import (
	"github.com/gofiber/fiber/v2"

	"sundry/adapters/httpapi"
	"sundry/core/apiformat"
	"sundry/core/payout"
	"sundry/modules/treasury"
)

func (h handlers) getAccount(c *fiber.Ctx) error {
	return httpapi.Respond(c, payout.AccountState.View)(h.Treasury.PayoutAccount(c.UserContext(), httpapi.Account(c)))
}

// accountSessionRequest is the body of POST /v1/payout-account-sessions.
type accountSessionRequest struct {
	Country    *string `json:"country"`
	ReturnURL  *string `json:"returnUrl"`
	RefreshURL *string `json:"refreshUrl"`
}

// accountSessionView is a way to the page on which a payout account is completed.
type accountSessionView struct {
	URL           string             `json:"url"`
	ExpiresAt     *string            `json:"expiresAt"`
	PayoutAccount payout.AccountView `json:"payoutAccount"`
}

func (h handlers) postAccountSession(c *fiber.Ctx) error {
	in, reading := httpapi.Decode[accountSessionRequest](c)
	request := treasury.AccountRequest{
		Country: httpapi.ValueOf(in.Country), ReturnURL: httpapi.ValueOf(in.ReturnURL),
		RefreshURL: httpapi.ValueOf(in.RefreshURL),
	}
	if err := httpapi.MergeFieldErrors(reading, h.Treasury.CheckAccountSession(request)); err != nil {
		return err
	}
	opened, err := h.Treasury.OpenAccountSession(c.UserContext(), httpapi.Account(c), request)
	if err != nil {
		return err
	}
	return c.Status(fiber.StatusCreated).JSON(accountSessionView{
		URL: opened.URL, ExpiresAt: apiformat.Time(opened.ExpiresAt), PayoutAccount: opened.Account.View(),
	})
}
