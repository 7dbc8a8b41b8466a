package sandbox

import (
	"github.com/gofiber/fiber/v2"

	"sundry/adapters/httpapi"
	"sundry/core/apiformat"
	"sundry/core/fault"
	"sundry/modules/sandbox"
)

func (h handlers) clockRoutes() []httpapi.Route {
	return []httpapi.Route{
		{
			Method: fiber.MethodGet, Path: "/v1/sandbox/clock", Auth: httpapi.SecretKey, Handle: h.getClock,
			SandboxOnly: true,
		},
		{
			Method: fiber.MethodPost, Path: "/v1/sandbox/clock/advance", Auth: httpapi.SecretKey,
			Idempotency: httpapi.Leased, Handle: h.advanceClock, SandboxOnly: true,
		},
	}
}

type clockView struct {
	Now *string `json:"now"`
}

type clockAdvancedView struct {
	Now  *string `json:"now"`
	Ran  int     `json:"ran"`
	Done bool    `json:"done"`
}

func (h handlers) getClock(c *fiber.Ctx) error {
	now, err := h.Sandbox.Clock(c.UserContext(), httpapi.Account(c))
	if err != nil {
		return err
	}
	return c.JSON(clockView{Now: apiformat.Time(now)})
}

type advanceClockRequest struct {
	Seconds *int64  `json:"seconds"`
	To      *string `json:"to"`
}

func (h handlers) advanceClock(c *fiber.Ctx) error {
	in, err := httpapi.Decode[advanceClockRequest](c)
	if err != nil {
		return err
	}
	var f fault.Violations
	move := sandbox.Move{Seconds: in.Seconds}
	if in.To != nil {
		to := httpapi.ReadTime(&f, "to", in.To)
		move.To = &to
	}
	if err := f.Err(); err != nil {
		return err
	}
	advanced, err := h.Sandbox.Advance(c.UserContext(), httpapi.Account(c), move)
	if err != nil {
		return err
	}
	return c.JSON(clockAdvancedView{Now: apiformat.Time(advanced.Now), Ran: advanced.Ran, Done: advanced.Done})
}
