package fakes

import (
	"context"
	"time"

	"sundry/core/fault"
	"sundry/ports"
)

// CardTries lets customers try as many cards as are Left, and then asks them to wait for an hour.
type CardTries struct{ Left int }

var _ ports.CardTries = (*CardTries)(nil)

// CountTry implements ports.CardTries.
func (t *CardTries) CountTry(context.Context, string) error {
	if t.Left == 0 {
		return fault.TooMany("Too many cards were tried.", time.Hour)
	}
	t.Left--
	return nil
}
