package httpapi

import (
	"github.com/gofiber/fiber/v2"

	"sundry/core/fault"
	"sundry/core/wire"
	"sundry/modules/sandbox"
)

func (s *Server) sandboxClockRoutes() []Route {
	return []Route{
		{Method: fiber.MethodGet, Path: "/v1/sandbox/clock", Gate: SecretKey, Handle: s.getClock, SandboxOnly: true},
		{Method: fiber.MethodPost, Path: "/v1/sandbox/clock/advance", Gate: SecretKey, Once: OnceLeased, Handle: s.advanceClock, SandboxOnly: true},
	}
}

type clockView struct {
	Now *string `json:"now"`
}

type clockAdvancedView struct {
	Now *string `json:"now"`
	Ran int     `json:"ran"`
}

func (s *Server) getClock(c *fiber.Ctx) error {
	now, err := s.Sandbox.Clock(c.UserContext(), account(c))
	if err != nil {
		return err
	}
	return c.JSON(clockView{Now: wire.Time(now)})
}

type advanceClockRequest struct {
	Seconds *int64  `json:"seconds"`
	To      *string `json:"to"`
}

func (s *Server) advanceClock(c *fiber.Ctx) error {
	in, err := decode[advanceClockRequest](c)
	if err != nil {
		return err
	}
	var f fault.Faults
	move := sandbox.Move{Seconds: in.Seconds}
	if in.To != nil {
		to := instant(&f, "to", in.To)
		move.To = &to
	}
	if err := f.Err(); err != nil {
		return err
	}
	advanced, err := s.Sandbox.Advance(c.UserContext(), account(c), move)
	if err != nil {
		return err
	}
	return c.JSON(clockAdvancedView{Now: wire.Time(advanced.Now), Ran: advanced.Ran})
}
