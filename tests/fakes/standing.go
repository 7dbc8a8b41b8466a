package fakes

import (
	"context"

	"sundry/core/quota"
	"sundry/ports"
)

// Standing implements ports.AccountStanding and ports.AccountRates: every account may sell, and uses what it likes,
// unless a refusal is set.
type Standing struct {
	// Sales and Open are the refusals of CheckSales and CheckOpen.
	Sales, Open error
	// Limits are the limits of every account; the others are those of a sandbox.
	Limits map[quota.Resource]int64
	// Counted refuses to count.
	Counted error
}

// CheckSales implements ports.AccountStanding.
func (s Standing) CheckSales(context.Context, string) error { return s.Sales }

// CheckOpen implements ports.AccountStanding.
func (s Standing) CheckOpen(context.Context, string) error { return s.Open }

// CheckLimit implements ports.AccountStanding.
func (s Standing) CheckLimit(
	_ context.Context, _ ports.Repos, _ string, of quota.Resource, count func() (int64, error),
) error {
	row, _ := quota.Find(of)
	limit, set := s.Limits[of]
	if !set {
		limit = row.Default(false)
	}
	used, err := count()
	if err != nil {
		return err
	}
	return row.Check(limit, used)
}

// Count implements ports.AccountRates.
func (s Standing) Count(context.Context, string, quota.Resource, int) error { return s.Counted }
