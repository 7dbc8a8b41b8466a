package payments

import "github.com/gofiber/fiber/v2"

// receivedView is the response to the processor.
type receivedView struct {
	Received bool `json:"received"`
}

// postProcessorEvent receives what the card processor reports. What the signature covers is the body as it was sent.
func (h handlers) postProcessorEvent(c *fiber.Ctx) error {
	if err := h.Inbox.Receive(c.UserContext(), c.BodyRaw(), func(name string) string { return c.Get(name) }); err != nil {
		return err
	}
	return c.JSON(receivedView{Received: true})
}
