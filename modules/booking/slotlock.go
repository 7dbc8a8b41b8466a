package booking

import (
	"context"
	"encoding/hex"
	"time"

	"sundry/core/slot"
	"sundry/ports"
)

const (
	// lockTTL is the lifetime of a lock whose holder died.
	lockTTL = 10 * time.Second
	// lockWait bounds how long a request waits for its turn. After that, the database decides.
	lockWait  = 2 * time.Second
	lockPause = 10 * time.Millisecond
)

// LockSlots implements ports.SlotQueue.
func (s *Service) LockSlots(ctx context.Context, h ports.Hold) (leave func()) {
	wanted := s.wanted(ctx, h)
	if len(wanted) == 0 {
		return func() {}
	}
	holder := hex.EncodeToString(s.deps.IDs.Random(16))
	leave = func() {
		_ = s.deps.Locks.Unlock(context.WithoutCancel(ctx), h.CreatorID,
			holder)
	} // otherwise the lock expires
	for waited := time.Duration(0); waited < lockWait; waited += lockPause {
		entered, err := s.deps.Locks.TryLock(ctx, h.CreatorID, holder, wanted, lockTTL)
		switch {
		case err != nil:
			return func() {} // nobody takes turns then
		case entered && waited > 0:
			// The first one has most likely taken the time. The rest need not go one by one to be refused.
			leave()
			return func() {}
		case entered:
			return leave
		}
		if s.deps.Sleeper.Sleep(ctx, lockPause) != nil {
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
	b, err := s.ready(ctx, s.deps.Store.Read(ctx), h.CreatorID, h.ListingID, h.VariantID)
	if err != nil {
		return nil
	}
	for _, p := range h.Picks {
		all = append(all, b.Blocked(p.StartsAt))
	}
	return all
}
