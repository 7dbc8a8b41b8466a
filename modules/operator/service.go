// Package operator holds the use cases of those who run a deployment: which accounts there are, who is suspended, and
// what each may use.
package operator

import (
	"context"
	"slices"
	"strings"

	"sundry/core/identity"
	"sundry/core/operator"
	"sundry/core/quota"
	"sundry/ports"
)

// Config holds the settings that differ between deployments.
type Config struct{ Live bool }

// Deps holds the dependencies of the module.
type Deps struct {
	Store   ports.Store
	Clock   ports.Clock
	IDs     ports.IDs
	Limiter ports.RateLimiter
}

// Service is the module.
type Service struct {
	cfg       Config
	deps      Deps
	standings standingCache
}

// New returns the module.
func New(cfg Config, d Deps) *Service {
	return &Service{cfg: cfg, deps: d, standings: newStandingCache()}
}

// By names who does something, and why.
type By struct{ Operator, Reason string }

// Accounts lists the accounts whose id, address or name contains text, newest first.
func (s *Service) Accounts(
	ctx context.Context, text string, page ports.Page,
) (ports.List[operator.Account], error) {
	return s.deps.Store.Read(ctx).Operator.Accounts.List(ctx, text, page)
}

// Suspend keeps an account's owner from signing in and its keys from changing anything, and refuses new sales. An
// account that is suspended already stays so since then, for the new reason. VALIDATION_FAILED without one, NOT_FOUND.
func (s *Service) Suspend(ctx context.Context, by By, creatorID string) error {
	reason, err := operator.CleanReason(by.Reason)
	if err != nil {
		return err
	}
	return s.decide(ctx, By{by.Operator, reason}, operator.Suspended, creatorID, func(c *identity.Creator) bool {
		return c.Suspend(reason, s.deps.Clock.Real())
	})
}

// Resume ends a suspension. Nothing changes where there is none. VALIDATION_FAILED without a reason, NOT_FOUND.
func (s *Service) Resume(ctx context.Context, by By, creatorID string) error {
	reason, err := operator.CleanReason(by.Reason)
	if err != nil {
		return err
	}
	return s.decide(ctx, By{by.Operator, reason}, operator.Resumed, creatorID, (*identity.Creator).Resume)
}

// decide runs a transition of an account and records it.
func (s *Service) decide(
	ctx context.Context, by By, kind operator.Kind, creatorID string, transition func(*identity.Creator) bool,
) error {
	defer s.standings.forget(creatorID)
	return s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		creator, err := r.Identity.Creators.Get(ctx, creatorID)
		if err != nil || !transition(creator) {
			return ports.Missing(err, "account")
		}
		if err := r.Identity.Creators.Update(ctx, creator); err != nil {
			return err
		}
		return s.record(ctx, r, by, kind, creatorID)
	})
}

func (s *Service) record(ctx context.Context, r ports.Repos, by By, kind operator.Kind, creatorID string) error {
	return r.Operator.Actions.Insert(ctx, operator.Action{
		ID: s.deps.IDs.New(operator.ActionPrefix), Operator: by.Operator, Kind: kind, CreatorID: creatorID,
		Note: by.Reason, At: s.deps.Clock.Real(),
	})
}

// Limit is the limit of an account.
type Limit struct {
	quota.Row
	Value int64 // 0 is no limit
	// Own is set where it is not the default.
	Own bool
}

// Limits returns the limits of an account, in the order of the table.
func (s *Service) Limits(ctx context.Context, creatorID string) ([]Limit, error) {
	own, err := s.deps.Store.Read(ctx).Operator.Limits.List(ctx, creatorID)
	if err != nil {
		return nil, err
	}
	var all []Limit
	for _, row := range quota.Table() {
		value, set := own[row.Resource]
		if !set {
			value = row.Default(s.cfg.Live)
		}
		all = append(all, Limit{Row: row, Value: value, Own: set})
	}
	return all, nil
}

// SetLimits gives an account limits of its own, or the defaults again. What an account has beyond a limit stays.
func (s *Service) SetLimits(ctx context.Context, who, creatorID string, overrides []quota.Override) error {
	defer s.standings.forget(creatorID)
	return s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		var set, reset []string
		for _, o := range overrides {
			if err := override(ctx, r, creatorID, o); err != nil {
				return err
			}
			if o.Reset {
				reset = append(reset, string(o.Resource))
			} else {
				set = append(set, o.String())
			}
		}
		for kind, names := range map[operator.Kind][]string{operator.LimitsSet: set, operator.LimitsReset: reset} {
			if len(names) == 0 {
				continue
			}
			slices.Sort(names)
			if err := s.record(ctx, r, By{who, strings.Join(names, " ")}, kind, creatorID); err != nil {
				return err
			}
		}
		return nil
	})
}

func override(ctx context.Context, r ports.Repos, creatorID string, o quota.Override) error {
	if o.Reset {
		return r.Operator.Limits.Delete(ctx, creatorID, o.Resource)
	}
	return r.Operator.Limits.Set(ctx, creatorID, o.Resource, o.Value)
}

// Actions lists what operators did, newest first; of one account, unless creatorID is empty.
func (s *Service) Actions(
	ctx context.Context, creatorID string, page ports.Page,
) (ports.List[operator.Action], error) {
	return s.deps.Store.Read(ctx).Operator.Actions.List(ctx, creatorID, page)
}
