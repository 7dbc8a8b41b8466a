package treasury

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sundry/core/document"
	"sundry/core/fault"
	"sundry/core/id"
	"sundry/core/identity"
	"sundry/core/ledger"
	"sundry/core/money"
	"sundry/core/payout"
	"sundry/ports"
)

const (
	// railTimeout bounds one call to the rail.
	railTimeout = 20 * time.Second
	// firstPause is the delay before the first poll of a payout's outcome.
	firstPause = 5 * time.Second
)

// RequestPayout sets money aside and sends it: commit the intent, call the rail, commit the outcome. A crash or a
// lost response in between is finished by TaskPayout. Faults: VALIDATION_FAILED, INSUFFICIENT_BALANCE,
// IDEMPOTENCY_KEY_MISMATCH, and STATE_CONFLICT while the creator has no payout account that receives it.
func (s *Service) RequestPayout(ctx context.Context, creatorID string, req payout.Request) (payout.State, error) {
	currency, err := req.Validate(s.cfg.PayoutMinimum)
	if err != nil {
		return payout.State{}, err
	}
	account, err := s.PayoutAccount(ctx, creatorID)
	if err != nil {
		return payout.State{}, err
	}
	if !account.CanReceive() {
		s.refreshAccount(ctx, creatorID) // it may have become ready a moment ago
	}
	var asked payout.State
	err = s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		asked, err = s.askPayout(ctx, r, creatorID, currency, req)
		return err
	})
	if err != nil || asked.Status != payout.Pending {
		return asked, err
	}
	// The caller leaving must not leave the money in doubt.
	ctx = context.WithoutCancel(ctx)
	outcome, err := s.send(ctx, asked)
	if err != nil { // unknown or not reached: the task goes on
		return asked, nil //nolint:nilerr // the payout is pending, which is what the caller gets
	}
	err = s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		asked, err = s.settlePayout(ctx, r, asked.ID, outcome)
		return err
	})
	return asked, err
}

// CheckPayout lists everything that is wrong with the request itself, as one VALIDATION_FAILED error.
func (s *Service) CheckPayout(req payout.Request) error {
	_, err := req.Validate(s.cfg.PayoutMinimum)
	return err
}

// askPayout is the intent.
func (s *Service) askPayout(
	ctx context.Context, r ports.Repos, creatorID string, currency money.Currency, req payout.Request,
) (payout.State, error) {
	if err := r.Treasury.Ledger.Lock(ctx, creatorID); err != nil {
		return payout.State{}, err
	}
	now, err := r.Clock.Now(ctx, creatorID)
	if err != nil {
		return payout.State{}, err
	}
	if req.Key != "" {
		earlier, err := r.Treasury.Payouts.GetByRequest(ctx, creatorID, req.Key, now.Add(-ports.IdempotencyLifetime))
		switch { // a request that died before its response
		case errors.Is(err, ports.ErrNotFound):
		case err == nil && !req.Repeats(earlier):
			return payout.State{}, fault.New(
				fault.IdempotencyKeyMismatch, "The idempotency key was used before for another payout.",
			)
		default:
			return s.linked(earlier), err
		}
	}
	from := payout.Funds{Minimum: s.cfg.PayoutMinimum}
	if from.Available, err = s.available(ctx, r, creatorID, currency); err != nil {
		return payout.State{}, err
	}
	if from.Account, err = s.payoutAccount(ctx, r, creatorID); err != nil {
		return payout.State{}, err
	}
	p, posting, err := payout.Ask(s.newPayoutID(), creatorID, req, from, now)
	if err != nil {
		return payout.State{}, err
	}
	asked := p.State()
	if err := s.savePayoutRequest(ctx, r, asked, posting, now, now.Add(railTimeout+firstPause)); err != nil {
		return payout.State{}, err
	}
	return asked, ports.PublishAudited(ctx, r, s.deps.Bus, identity.Audited{
		CreatorID: creatorID, Kind: identity.PayoutRequested, ObjectID: asked.ID,
		Note: asked.Amount.Coded(),
	})
}

func (s *Service) newPayoutID() string { return s.deps.IDs.New(id.Payout) }

// savePayoutRequest stores a requested payout with the task that finishes it.
func (s *Service) savePayoutRequest(
	ctx context.Context, r ports.Repos, p payout.State, posting ledger.Posting, now, due time.Time,
) error {
	if err := r.Treasury.Payouts.Insert(ctx, p); err != nil {
		return err
	}
	if err := s.post(ctx, r, p.CreatorID, now, posting); err != nil {
		return err
	}
	return r.Tasks.Schedule(ctx, TaskPayout, p.ID, p.CreatorID, due)
}

// send calls the rail. A call that timed out is followed by Find: the money may be on its way.
func (s *Service) send(ctx context.Context, p payout.State) (ports.PayoutOutcome, error) {
	ctx, cancel := context.WithTimeout(ctx, railTimeout)
	defer cancel()
	outcome, err := s.deps.Rail.Send(ctx, p)
	if errors.Is(err, ports.ErrOutcomeUnknown) {
		return s.deps.Rail.Find(ctx, p)
	}
	return outcome, err
}

// settlePayout applies the rail's report of a payout. A repeated report changes nothing.
func (s *Service) settlePayout(
	ctx context.Context, r ports.Repos, payoutID string, o ports.PayoutOutcome,
) (payout.State, error) {
	loaded, err := r.Treasury.Payouts.Get(ctx, payoutID)
	if err != nil {
		return payout.State{}, err
	}
	now, err := r.Clock.Now(ctx, loaded.CreatorID)
	if err != nil {
		return payout.State{}, err
	}
	p := payout.Restore(loaded)
	switch o.Status {
	case payout.Paid:
		e, posting, changed, err := p.Pay(now)
		if err != nil || !changed {
			return loaded, err
		}
		e.State = s.linked(e.State)
		if err := s.keepPayout(ctx, r, p.State(), posting, now); err != nil {
			return payout.State{}, err
		}
		return e.State, s.deps.Bus.Publish(ctx, r, e)
	case payout.Failed:
		e, posting, changed := p.Fail(o.Reason, now)
		if !changed {
			return loaded, nil
		}
		if err := s.keepPayout(ctx, r, p.State(), posting, now); err != nil {
			return payout.State{}, err
		}
		return s.linked(p.State()), s.deps.Bus.Publish(ctx, r, e)
	case payout.Pending:
	}
	return loaded, nil
}

func (s *Service) keepPayout(
	ctx context.Context, r ports.Repos, p payout.State, posting ledger.Posting, at time.Time,
) error {
	if err := r.Treasury.Payouts.Update(ctx, p); err != nil {
		return err
	}
	if err := s.post(ctx, r, p.CreatorID, at, posting); err != nil {
		return err
	}
	return r.Tasks.Cancel(ctx, TaskPayout, p.ID)
}

// RefreshPayout applies the rail's report of a payout, which may have been returned after it was paid. A part that came
// back is an error that stays until the rest is returned there, too: the ledger records a payout as a whole.
func (s *Service) RefreshPayout(ctx context.Context, payoutID string) error {
	loaded, err := s.deps.Store.Read(ctx).Treasury.Payouts.Get(ctx, payoutID)
	if errors.Is(err, ports.ErrNotFound) || err == nil && loaded.Status == payout.Failed {
		return nil
	}
	if err != nil {
		return fmt.Errorf("refresh payout: %w", err)
	}
	outcome, err := s.deps.Rail.Find(ctx, loaded)
	if err != nil {
		return fmt.Errorf("refresh payout %s: %w", payoutID, err)
	}
	err = s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		_, err := s.settlePayout(ctx, r, loaded.ID, outcome)
		return err
	})
	if err == nil && outcome.Returned {
		err = fmt.Errorf("payout %s: a part of it came back, return the rest", payoutID)
	}
	return err
}

// Payout finishes a payout whose outcome is unknown. Task TaskPayout.
func (s *Service) Payout(ctx context.Context, t ports.Task) error {
	loaded, err := s.deps.Store.Read(ctx).Treasury.Payouts.Get(ctx, t.Subject)
	if errors.Is(err, ports.ErrNotFound) || (err == nil && loaded.Status != payout.Pending) {
		return ports.EndTask(ctx, s.deps.Store, t)
	}
	if err != nil {
		return fmt.Errorf("payout: %w", err)
	}
	outcome, err := s.send(ctx, loaded)
	if err != nil {
		return fmt.Errorf("payout %s: %w", loaded.ID, err)
	}
	return s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		if outcome.Status != payout.Pending {
			if err := r.Tasks.Done(ctx, t); err != nil {
				return err
			}
			_, err := s.settlePayout(ctx, r, loaded.ID, outcome)
			return err
		}
		return ports.Recheck(ctx, r, t, loaded.CreatedAt, firstPause)
	})
}

// GetPayout returns a payout of the account. NOT_FOUND for any other.
func (s *Service) GetPayout(ctx context.Context, creatorID, payoutID string) (payout.State, error) {
	p, err := s.deps.Store.Read(ctx).Treasury.Payouts.Get(ctx, payoutID)
	p, err = ports.Visible(p, err, p.CreatorID == creatorID, "payout")
	return s.linked(p), err
}

// linked fills in where the statement of a payout is shown.
func (s *Service) linked(p payout.State) payout.State {
	if !p.PaidAt.IsZero() {
		p.StatementURL = s.cfg.Links.URL(document.PayoutStatement, p.ID)
	}
	return p
}

// ListPayouts lists the account's payouts of a status ("" = any), newest first.
func (s *Service) ListPayouts(
	ctx context.Context, creatorID string, status payout.Status, page ports.Page,
) (ports.List[payout.State], error) {
	list, err := s.deps.Store.Read(ctx).Treasury.Payouts.List(ctx, creatorID, status, page)
	for i, p := range list.Items {
		list.Items[i] = s.linked(p)
	}
	return list, err
}
