package operator

import (
	"context"
	"fmt"
	"sync"
	"time"

	"sundry/core/identity"
	"sundry/core/quota"
	"sundry/ports"
)

var (
	_ ports.AccountStanding = (*Service)(nil)
	_ ports.AccountRates    = (*Service)(nil)
)

const (
	// standingLifetime bounds how long a decision that was made in another process is not seen here.
	standingLifetime = 2 * time.Second
	standingsKept    = 20_000
)

// standing holds an account and its limits as they were read.
type standing struct {
	creator *identity.Creator
	limits  map[quota.Resource]int64
	stale   time.Time // when it must be read again
}

// standingCache remembers accounts for a moment: every request with a key asks for one.
type standingCache struct {
	mu    sync.RWMutex
	known map[string]standing
}

func newStandingCache() standingCache { return standingCache{known: map[string]standing{}} }

func (c *standingCache) find(creatorID string, now time.Time) (standing, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	s, ok := c.known[creatorID]
	return s, ok && now.Before(s.stale)
}

func (c *standingCache) keep(creatorID string, s standing) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.known) >= standingsKept {
		clear(c.known) // reading again costs little
	}
	c.known[creatorID] = s
}

func (c *standingCache) forget(creatorID string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.known, creatorID)
}

// standing returns what was known of an account at most two seconds ago.
func (s *Service) standing(ctx context.Context, creatorID string) (standing, error) {
	if known, ok := s.standings.find(creatorID, s.deps.Clock.Real()); ok {
		return known, nil
	}
	return s.readStanding(ctx, creatorID)
}

func (s *Service) readStanding(ctx context.Context, creatorID string) (standing, error) {
	now, r := s.deps.Clock.Real(), s.deps.Store.Read(ctx)
	creator, err := r.Identity.Creators.Get(ctx, creatorID)
	if err != nil {
		return standing{}, fmt.Errorf("standing of the account: %w", err)
	}
	limits, err := r.Operator.Limits.List(ctx, creatorID)
	if err != nil {
		return standing{}, err
	}
	found := standing{creator: creator, limits: limits, stale: now.Add(standingLifetime)}
	s.standings.keep(creatorID, found)
	return found, nil
}

// check runs a check on the account. What is refused is read again first, so that it goes on at once when an account
// resumes.
func (s *Service) check(ctx context.Context, creatorID string, check func(*identity.Creator) error) error {
	known, err := s.standing(ctx, creatorID)
	if err != nil {
		return err
	}
	if check(known.creator) == nil {
		return nil
	}
	if known, err = s.readStanding(ctx, creatorID); err != nil {
		return err
	}
	return check(known.creator)
}

// CheckOpen implements ports.AccountStanding.
func (s *Service) CheckOpen(ctx context.Context, creatorID string) error {
	return s.check(ctx, creatorID, (*identity.Creator).CheckOpen)
}

// CheckSales implements ports.AccountStanding.
func (s *Service) CheckSales(ctx context.Context, creatorID string) error {
	return s.check(ctx, creatorID, (*identity.Creator).CheckSales)
}

// limit is the account's limit of a resource among its own, or else the default; 0 is no limit.
func (s *Service) limit(own map[quota.Resource]int64, of quota.Resource) (quota.Row, int64) {
	row, _ := quota.Find(of)
	if value, set := own[of]; set {
		return row, value
	}
	return row, row.Default(s.cfg.Live)
}

// CheckLimit implements ports.AccountStanding.
func (s *Service) CheckLimit(
	ctx context.Context, r ports.Repos, creatorID string, of quota.Resource, count func() (int64, error),
) error {
	own, err := r.Operator.Limits.List(ctx, creatorID)
	if err != nil {
		return err
	}
	row, limit := s.limit(own, of)
	if limit == 0 {
		return nil
	}
	if err := r.Operator.Limits.Lock(ctx, creatorID, of); err != nil {
		return err
	}
	used, err := count()
	if err != nil {
		return err
	}
	return row.Check(limit, used)
}

// Count implements ports.AccountRates. More at once than a whole minute's limit counts as the whole limit.
func (s *Service) Count(ctx context.Context, creatorID string, of quota.Resource, n int) error {
	known, err := s.standing(ctx, creatorID)
	if err != nil {
		return err
	}
	row, limit := s.limit(known.limits, of)
	if limit == 0 || n == 0 {
		return nil
	}
	taken, err := s.deps.Limiter.AllowN(ctx, "account:"+string(of)+":"+creatorID, min(n, int(limit)), int(limit),
		quota.Window)
	if err != nil {
		return fmt.Errorf("count %s: %w", of, err)
	}
	if taken.Wait > 0 {
		return row.TooMany(taken.Wait)
	}
	return nil
}
