package httpapi

import (
	"github.com/gofiber/fiber/v2"

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
