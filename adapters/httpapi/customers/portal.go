package customers

import (
	"time"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/httpapi"
	"sundry/core/apiformat"
	"sundry/modules/customers"
)

// portalRequest is the body of POST /v1/customer-portal-sessions.
type portalRequest struct {
	CustomerID         *string `json:"customerId"`
	ExternalCustomerID *string `json:"externalCustomerId"`
	ReturnURL          *string `json:"returnUrl"`
}

// portalView is a link to a customer's portal.
type portalView struct {
	CustomerID string `json:"customerId"`
	Livemode   bool   `json:"livemode"`
	URL        string `json:"url"`
	ExpiresAt  string `json:"expiresAt"`
}

func (h handlers) postPortal(c *fiber.Ctx) error {
	in, reading := httpapi.Decode[portalRequest](c)
	request := customers.PortalRequest{
		CustomerID: httpapi.ValueOf(in.CustomerID), ExternalCustomerID: httpapi.ValueOf(in.ExternalCustomerID),
		ReturnURL: httpapi.ValueOf(in.ReturnURL),
	}
	if err := httpapi.MergeFieldErrors(reading, h.Customers.CheckPortal(request)); err != nil {
		return err
	}
	address, link, err := h.Customers.OpenPortal(c.UserContext(), httpapi.Account(c), request)
	if err != nil {
		return err
	}
	return c.Status(fiber.StatusCreated).JSON(portalView{
		CustomerID: link.CustomerID, Livemode: h.Live, URL: address,
		ExpiresAt: apiformat.Instant(time.Unix(link.ExpiresAt, 0)),
	})
}
