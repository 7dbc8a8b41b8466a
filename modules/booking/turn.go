package booking

import (
	"context"
	"encoding/hex"
	"time"

	"sundry/core/slot"
	"sundry/ports"
)

const (
	// turnLifetime is how long a lock lasts whose holder died.
	turnLifetime = 10 * time.Second
	// turnPatience is how long a request waits for its turn; then it lets the database decide.
	turnPatience = 2 * time.Second
	turnPause    = 10 * time.Millisecond
)

// TakeTurn implements ports.Bookings.
func (s *Service) TakeTurn(ctx context.Context, h ports.Hold) (leave func()) {
	wanted := s.wanted(ctx, h)
	if len(wanted) == 0 {
		return func() {}
	}
	holder := hex.EncodeToString(s.ids.Random(16))
	leave = func() { _ = s.locks.Leave(context.WithoutCancel(ctx), h.CreatorID, holder) } // else it ends by itself
	for waited := time.Duration(0); waited < turnPatience; waited += turnPause {
		entered, err := s.locks.Enter(ctx, h.CreatorID, holder, wanted, turnLifetime)
		switch {
		case err != nil:
			return func() {} // nobody takes turns then
		case entered && waited > 0:
			// Whoever was first has most likely taken the time. The rest need not go one by one to be refused.
			leave()
			return func() {}
		case entered:
			return leave
		}
		if s.sleeper.Sleep(ctx, turnPause) != nil {
			return func() {}
		}
	}
	return func() {}
}

// wanted are the intervals that a hold would block; none when it will be refused anyway.
func (s *Service) wanted(ctx context.Context, h ports.Hold) (all []slot.Interval) {
	if len(h.Picks) == 0 {
		return nil
	}
	b, err := s.ready(ctx, s.store.Read(ctx), h.CreatorID, h.ListingID, h.VariantID)
	if err != nil {
		return nil
	}
	for _, p := range h.Picks {
		all = append(all, b.Blocked(p.StartsAt))
	}
	return all
}
