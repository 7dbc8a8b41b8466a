package treasury

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"sundry/core/checkout"
	"sundry/core/fault"
	"sundry/core/identity"
	"sundry/core/payout"
	"sundry/ports"
)

// AccountRequest requests the rail's page on which a creator completes their payout account.
type AccountRequest struct {
	// Country is the creator's country. It is required until there is an account, and fixed afterwards.
	Country string
	// ReturnURL is the address to which the rail sends the creator afterwards; "" for the dashboard.
	ReturnURL string
	// RefreshURL is the address for an expired link; "" for the dashboard, which has a button for a new one.
	RefreshURL string
}

// AccountSession is a creator's way to the rail's page.
type AccountSession struct {
	Account   payout.AccountState
	URL       string
	ExpiresAt time.Time
}

// accountTries bounds how often a report is read again because another one was recorded meanwhile.
const accountTries = 3

// PayoutAccount returns the account that receives the creator's payouts. If the rail needs no account, payouts always
// arrive.
func (s *Service) PayoutAccount(ctx context.Context, creatorID string) (payout.AccountState, error) {
	return s.payoutAccount(ctx, s.deps.Store.Read(ctx), creatorID)
}

func (s *Service) payoutAccount(ctx context.Context, r ports.Repos, creatorID string) (payout.AccountState, error) {
	a, err := r.Treasury.Accounts.Get(ctx, creatorID)
	if !errors.Is(err, ports.ErrNotFound) {
		return a, err
	}
	status := payout.AccountReady
	if s.cfg.NeedsAccounts {
		status = payout.AccountNone
	}
	return payout.AccountState{CreatorID: creatorID, AccountReport: payout.AccountReport{Status: status}}, nil
}

// PayoutsWait reports whether the account has money that could be paid out, or a schedule, and no account that
// receives it.
func (s *Service) PayoutsWait(ctx context.Context, creatorID string) (a payout.AccountState, waiting bool, err error) {
	if a, err = s.PayoutAccount(ctx, creatorID); err != nil || a.CanReceive() {
		return a, false, err
	}
	schedule, err := s.deps.Accounts.PayoutSchedule(ctx, s.deps.Store.Read(ctx), creatorID)
	if err != nil || schedule != payout.Manual {
		return a, err == nil, err
	}
	balances, err := s.Balance(ctx, creatorID)
	if err != nil {
		return a, false, err
	}
	for _, b := range balances {
		waiting = waiting || b.Available >= s.cfg.PayoutMinimum
	}
	return a, waiting, nil
}

// CheckAccountSession checks a request whose creator returns to an address of their own. VALIDATION_FAILED with every
// fault.
func (s *Service) CheckAccountSession(req AccountRequest) error {
	var f fault.Violations
	checkout.ValidateReturnURL("returnUrl", req.ReturnURL, !s.cfg.Live, &f)
	if req.RefreshURL != "" {
		checkout.ValidateReturnURL("refreshUrl", req.RefreshURL, !s.cfg.Live, &f)
	}
	payout.CheckCountry(&f, "country", req.Country)
	return f.Err()
}

// within fills in our own page where the request names no address.
func (req AccountRequest) within(page string) AccountRequest {
	req.ReturnURL, req.RefreshURL = cmp.Or(req.ReturnURL, page+"/account/done"), cmp.Or(req.RefreshURL, page)
	return req
}

// OpenAccountSession opens the creator's payout account unless there is one, and makes the rail's page on which they
// complete it. The key of the opening follows from the creator, so a lost response is no second account.
// VALIDATION_FAILED.
func (s *Service) OpenAccountSession(
	ctx context.Context, creatorID string, req AccountRequest,
) (AccountSession, error) {
	var f fault.Violations
	if payout.CheckCountry(&f, "country", req.Country); f.Err() != nil {
		return AccountSession{}, f.Err()
	}
	req = req.within(s.cfg.AccountPage)
	a, err := s.PayoutAccount(ctx, creatorID)
	if err != nil {
		return AccountSession{}, err
	}
	if a.ID == "" || a.DisabledReason == payout.Disconnected {
		if a, err = s.openAccount(ctx, a, req.Country); err != nil {
			return AccountSession{}, err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, railTimeout)
	defer cancel()
	link, err := s.deps.Rail.LinkAccount(ctx, ports.PayoutAccountVisit{
		RailID: a.ID, ReturnURL: req.ReturnURL, RefreshURL: req.RefreshURL,
	})
	if err != nil {
		return AccountSession{}, railFault(fmt.Errorf("link payout account %s: %w", a.ID, err))
	}
	return AccountSession{Account: a, URL: link.URL, ExpiresAt: link.ExpiresAt}, nil
}

// openAccount opens an account at the rail, and keeps it. Of two that were opened at the same time the first one
// stays; the other has no money and nobody knows it.
func (s *Service) openAccount(
	ctx context.Context, before payout.AccountState, country string,
) (payout.AccountState, error) {
	if country == "" && s.cfg.NeedsAccounts {
		return payout.AccountState{}, fault.Invalid(fault.Detail{
			Field: "country", Code: fault.DetailRequired,
			Message: "Name the country that you are paid out in. It can't be changed later.",
		})
	}
	_, address, err := s.deps.Creators.Account(ctx, s.deps.Store.Read(ctx), before.CreatorID)
	if err != nil {
		return payout.AccountState{}, err
	}
	asking, cancel := context.WithTimeout(ctx, railTimeout)
	defer cancel()
	report, err := s.deps.Rail.OpenAccount(asking, ports.PayoutAccountRequest{
		CreatorID: before.CreatorID, Email: address, Country: country, Replaces: before.ID,
	})
	if err != nil {
		return payout.AccountState{}, railFault(fmt.Errorf("open payout account of %s: %w", before.CreatorID, err))
	}
	var opened payout.AccountState
	err = s.deps.Store.Atomically(context.WithoutCancel(ctx), func(ctx context.Context, r ports.Repos) error {
		opened, err = s.keepOpened(ctx, r, before.CreatorID, report)
		return err
	})
	return opened, err
}

func (s *Service) keepOpened(
	ctx context.Context, r ports.Repos, creatorID string, report payout.AccountReport,
) (payout.AccountState, error) {
	if err := r.Treasury.Ledger.Lock(ctx, creatorID); err != nil { // two openings at once
		return payout.AccountState{}, err
	}
	now, err := r.Clock.Now(ctx, creatorID)
	if err != nil {
		return payout.AccountState{}, err
	}
	known, err := r.Treasury.Accounts.Get(ctx, creatorID)
	if errors.Is(err, ports.ErrNotFound) {
		a := payout.NewAccount(creatorID, report, now).State()
		if err := r.Treasury.Accounts.Insert(ctx, a); err != nil {
			return a, err
		}
		return a, s.auditAccount(ctx, r, a)
	}
	if err != nil {
		return payout.AccountState{}, err
	}
	a := payout.RestoreAccount(known)
	if !a.Replace(report, now) {
		return known, nil
	}
	if err := r.Treasury.Accounts.Update(ctx, a.State()); err != nil {
		return a.State(), err
	}
	return a.State(), s.auditAccount(ctx, r, a.State())
}

// auditAccount records that the account has another payout account.
func (s *Service) auditAccount(ctx context.Context, r ports.Repos, a payout.AccountState) error {
	return ports.PublishAudited(ctx, r, s.deps.Bus, identity.Audited{
		CreatorID: a.CreatorID, Kind: identity.PayoutAccountChanged, ObjectID: a.ID,
	})
}

// railFault returns the creator's error for a request that the rail did not serve. A refusal by the rail is passed
// on.
func railFault(err error) error {
	if errors.Is(err, ports.ErrOutcomeUnknown) || errors.Is(err, ports.ErrProcessorUnavailable) ||
		errors.Is(err, ports.ErrNotFound) {
		return fault.Wrap(
			fault.ProcessorUnavailable, "The payout service isn't reachable right now. Please try again in a moment.",
			err,
		)
	}
	return err
}

// RefreshPayoutAccount records what the rail reports of an account of ours. Any other is left alone.
func (s *Service) RefreshPayoutAccount(ctx context.Context, railID string) error {
	for range accountTries {
		known, err := s.deps.Store.Read(ctx).Treasury.Accounts.GetByRailID(ctx, railID)
		if errors.Is(err, ports.ErrNotFound) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("refresh payout account: %w", err)
		}
		report, err := s.deps.Rail.FindAccount(ctx, railID)
		gone := errors.Is(err, ports.ErrNotFound)
		if err != nil && !gone {
			return fmt.Errorf("refresh payout account %s: %w", railID, err)
		}
		done, err := s.applyReport(ctx, known, report, gone)
		if done || err != nil {
			return err
		}
	}
	return fmt.Errorf("refresh payout account %s: it keeps changing", railID)
}

// applyReport records a report that was read after the account was. done is false when another one was recorded
// meanwhile, which may be the younger of the two: then both are read again.
func (s *Service) applyReport(
	ctx context.Context, known payout.AccountState, report payout.AccountReport, gone bool,
) (done bool, err error) {
	err = s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		loaded, err := r.Treasury.Accounts.Get(ctx, known.CreatorID)
		if err != nil {
			return err
		}
		if done = loaded.Revision == known.Revision; !done {
			return nil
		}
		now, err := r.Clock.Now(ctx, known.CreatorID)
		if err != nil {
			return err
		}
		a := payout.RestoreAccount(loaded)
		changed := false
		if gone {
			changed = a.Disconnect(now)
		} else {
			changed = a.Report(report, now)
		}
		if !changed {
			return nil
		}
		return r.Treasury.Accounts.Update(ctx, a.State())
	})
	return done, err
}

// VisitEnded records the state of the account when the creator comes back from the rail's page: their return alone
// proves nothing.
func (s *Service) VisitEnded(ctx context.Context, creatorID string) (payout.AccountState, error) {
	s.refreshAccount(ctx, creatorID)
	return s.PayoutAccount(ctx, creatorID)
}

// refreshAccount reads the state of a creator's account from the rail. If the rail does not respond, nothing changes.
func (s *Service) refreshAccount(ctx context.Context, creatorID string) {
	a, err := s.deps.Store.Read(ctx).Treasury.Accounts.Get(ctx, creatorID)
	if err != nil {
		return
	}
	asking, cancel := context.WithTimeout(ctx, railTimeout)
	defer cancel()
	_ = s.RefreshPayoutAccount(asking, a.ID) // an event, or the next payout, asks again
}
