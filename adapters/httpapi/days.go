package httpapi

import (
	"time"

	"github.com/gofiber/fiber/v2"

	"sundry/core/apiformat"
	"sundry/core/civil"
	"sundry/core/fault"
)

// QueryDay reads a day of the query, such as 2026-03-08; zero where there is none.
func QueryDay(c *fiber.Ctx, f *fault.Violations, name string) civil.Date {
	raw := c.Query(name)
	if raw == "" {
		return 0
	}
	day, ok := civil.ParseDate(raw)
	f.Check(ok, name, fault.DetailInvalid, "Expected a date such as 2026-03-08.")
	return day
}

// QueryDays reads the days of the query from and to.
func QueryDays(c *fiber.Ctx) (civil.Days, error) {
	var f fault.Violations
	days := civil.Days{From: QueryDay(c, &f, "from"), To: QueryDay(c, &f, "to")}
	return days, f.Err()
}

// Figures is a response of figures by day.
type Figures[T any] struct {
	From string `json:"from"`
	To   string `json:"to"`
	// CompleteThrough is the time up to which everything counts.
	CompleteThrough *string `json:"completeThrough"`
	Data            []T     `json:"data"`
}

// NewFigures returns the response of figures of some days, all of which count up to a time.
func NewFigures[T any](days civil.Days, completeThrough time.Time, data []T) Figures[T] {
	return Figures[T]{
		From: days.From.String(), To: days.To.String(), CompleteThrough: apiformat.Time(completeThrough), Data: data,
	}
}
