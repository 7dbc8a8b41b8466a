package customers

import (
	"github.com/gofiber/fiber/v2"

	"sundry/adapters/httpapi"
	"sundry/core/apiformat"
	"sundry/core/cardsetup"
	"sundry/core/paymentmethod"
	"sundry/ports"
)

// cardView is a saved card.
type cardView struct {
	ID         string      `json:"id"`
	CustomerID string      `json:"customerId"`
	Brand      string      `json:"brand"`
	Last4      string      `json:"last4"`
	ExpMonth   *int        `json:"expMonth"`
	ExpYear    *int        `json:"expYear"`
	Mandate    mandateView `json:"mandate"`
	CreatedAt  string      `json:"createdAt"`
}

// mandateView shows the text to which the customer agreed when the card was saved.
type mandateView struct {
	Text       string `json:"text"`
	AcceptedAt string `json:"acceptedAt"`
}

func newCardView(m paymentmethod.State) cardView {
	v := cardView{
		ID: m.ID, CustomerID: m.CustomerID, Brand: m.Brand, Last4: m.Last4, CreatedAt: apiformat.Instant(m.CreatedAt),
		Mandate: mandateView{m.Mandate.Text, apiformat.Instant(m.Mandate.AcceptedAt)},
	}
	if m.ExpMonth > 0 {
		v.ExpMonth, v.ExpYear = &m.ExpMonth, &m.ExpYear
	}
	return v
}

func (h handlers) listCards(c *fiber.Ctx) error {
	owner, err := h.Customers.Get(c.UserContext(), httpapi.Account(c), c.Params("id"))
	if err != nil {
		return err
	}
	return httpapi.RespondAll(c, newCardView)(h.Payments.Cards(c.UserContext(), owner.ID))
}

func (h handlers) deleteCard(c *fiber.Ctx) error {
	owner, err := h.Customers.Get(c.UserContext(), httpapi.Account(c), c.Params("id"))
	if err != nil {
		return err
	}
	if err := h.Payments.RemoveCard(c.UserContext(), owner.CreatorID, owner.ID, c.Params("pmId")); err != nil {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
}

// setupRequest is the body of POST /v1/card-setup-sessions.
type setupRequest struct {
	CustomerID *string `json:"customerId"`
	ReturnURL  *string `json:"returnUrl"`
}

// setupView is an open card setup.
type setupView struct {
	ID           string `json:"id"`
	Livemode     bool   `json:"livemode"`
	CustomerID   string `json:"customerId"`
	HostedURL    string `json:"hostedUrl"`
	ClientSecret string `json:"clientSecret"`
	ExpiresAt    string `json:"expiresAt"`
}

func (h handlers) newSetupView(s cardsetup.State) setupView {
	return setupView{
		ID: s.ID, Livemode: h.Live, CustomerID: s.CustomerID, HostedURL: h.Payments.SetupURL(s.ID),
		ClientSecret: h.Payments.SetupClientSecret(s.ID), ExpiresAt: apiformat.Instant(s.ExpiresAt),
	}
}

func (h handlers) postSetup(c *fiber.Ctx) error {
	in, reading := httpapi.Decode[setupRequest](c)
	customerID, returnURL := httpapi.ValueOf(in.CustomerID), httpapi.ValueOf(in.ReturnURL)
	if err := httpapi.MergeFieldErrors(reading, h.Payments.CheckSetup(customerID, returnURL)); err != nil {
		return err
	}
	owner, err := h.Customers.Get(c.UserContext(), httpapi.Account(c), customerID)
	if err != nil {
		return err
	}
	return httpapi.RespondStatus(c, fiber.StatusCreated, h.newSetupView)(
		h.Payments.OpenSetup(c.UserContext(), owner.CreatorID, owner.ID, returnURL),
	)
}

// cardRequest is the body of POST /v1/sandbox/customers/{id}/cards.
type cardRequest struct {
	CardNumber *string `json:"cardNumber"`
}

func (h handlers) postCard(c *fiber.Ctx) error {
	in, reading := httpapi.Decode[cardRequest](c)
	number := httpapi.ValueOf(in.CardNumber)
	if err := httpapi.MergeFieldErrors(reading, h.Payments.CheckCard(ports.CardInput{Number: number})); err != nil {
		return err
	}
	owner, err := h.Customers.Get(c.UserContext(), httpapi.Account(c), c.Params("id"))
	if err != nil {
		return err
	}
	return httpapi.RespondStatus(c, fiber.StatusCreated, newCardView)(
		h.Payments.SaveTestCard(c.UserContext(), owner.CreatorID, owner.ID, number),
	)
}
