package usage

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"sundry/core/checkout"
	"sundry/core/dispute"
	"sundry/core/id"
	"sundry/core/money"
	"sundry/core/plan"
	"sundry/core/refund"
	"sundry/core/usage"
	"sundry/ports"
)

// TaskExpirePrepaid ends a usage credit at its ExpiresAt; its subject is the credit.
const TaskExpirePrepaid = "usage.expire_prepaid"

// OnCheckoutPaid grants the usage credits that a plan sells.
func (s *Service) OnCheckoutPaid(ctx context.Context, r ports.Repos, e checkout.Paid) error {
	for _, sold := range e.Offer.Terms.UsageCredits {
		err := s.grant(ctx, r, usage.CreditState{
			CreatorID: e.CreatorID, CustomerID: e.CustomerID, ExternalCustomerID: e.ExternalCustomerID,
			CheckoutID: e.CheckoutID, PaymentID: e.PaymentID, Paid: e.Total.Minor,
		}, sold, e.At)
		if err != nil {
			return err
		}
	}
	return nil
}

// grantLeft grants the credit that late use has left after a plan's last invoice: no later one can take it off.
func (s *Service) grantLeft(ctx context.Context, r ports.Repos, b *billing, minor int64, at time.Time) error {
	if minor == 0 {
		return nil
	}
	return s.grant(ctx, r, usage.CreditState{
		CreatorID: b.plan.CreatorID, CustomerID: b.plan.CustomerID, ExternalCustomerID: b.plan.ExternalCustomerID,
	}, plan.UsageCredit{AmountInCents: minor, Currency: string(b.price.Currency)}, at)
}

// grant stores a new credit and publishes it. of brings whose it is, and its purchase.
func (s *Service) grant(
	ctx context.Context, r ports.Repos, of usage.CreditState, amount plan.UsageCredit, at time.Time,
) error {
	of.ID = s.deps.IDs.New(id.UsageCredit)
	credit, granted := usage.NewCredit(of, amount, at)
	if err := r.Usage.Credits.Insert(ctx, credit.State()); err != nil {
		return err
	}
	return s.creditGranted(ctx, r, granted)
}

// creditGranted publishes that a credit can be used, and schedules its end.
func (s *Service) creditGranted(ctx context.Context, r ports.Repos, granted usage.CreditGranted) error {
	if !granted.ExpiresAt.IsZero() {
		err := r.Tasks.Schedule(ctx, TaskExpirePrepaid, granted.ID, granted.CreatorID, granted.ExpiresAt)
		if err != nil {
			return err
		}
	}
	return s.deps.Bus.Publish(ctx, r, granted)
}

// prepaid holds the credits that pay for an invoice, that which expires first, first, and how much of it they pay, in
// minor units.
type prepaid struct {
	credits []usage.CreditState
	pay     int64
}

// creditsFor returns the customer's credits that pay for what is due for use of a meter at a time.
func (s *Service) creditsFor(
	ctx context.Context, r ports.Repos, b *billing, due int64, at time.Time,
) (p prepaid, err error) {
	if due <= 0 {
		return prepaid{}, nil
	}
	all, err := r.Usage.Credits.ListLeft(ctx, b.plan.CreatorID, b.plan.CustomerID)
	if err != nil {
		return prepaid{}, err
	}
	p.credits = slices.DeleteFunc(slices.Clone(all), func(c usage.CreditState) bool {
		return !c.Pays(b.price.Currency, b.meter.EventName, at)
	})
	slices.SortStableFunc(p.credits, sooner)
	for _, c := range p.credits {
		p.pay += c.Rest()
	}
	p.pay = money.CreditUsed(due, p.pay, s.deps.LeastCharge(b.price.Currency))
	return p, nil
}

// sooner puts credits into the order in which they expire; those that never do are last.
func sooner(a, b usage.CreditState) int {
	switch {
	case a.ExpiresAt.Equal(b.ExpiresAt):
		return cmp.Compare(a.ID, b.ID)
	case a.ExpiresAt.IsZero():
		return 1
	case b.ExpiresAt.IsZero():
		return -1
	}
	return a.ExpiresAt.Compare(b.ExpiresAt)
}

// useCredits pays an invoice with the customer's credits.
func (s *Service) useCredits(
	ctx context.Context, r ports.Repos, p prepaid, invoiceID string, at time.Time,
) (uses []usage.CreditUse, err error) {
	for _, state := range p.credits {
		credit := usage.RestoreCredit(state)
		used, low, ended := credit.Use(p.pay, at)
		if used == 0 {
			break
		}
		p.pay -= used
		use := usage.CreditUse{CreditID: state.ID, Minor: used}
		if err := r.Usage.Credits.Update(ctx, credit.State()); err != nil {
			return nil, err
		}
		if err := r.Usage.Credits.InsertUse(ctx, state.CreatorID, invoiceID, use, at); err != nil {
			return nil, err
		}
		uses = append(uses, use)
		if low != nil {
			err = s.deps.Bus.Publish(ctx, r, *low)
		}
		if err == nil {
			err = s.creditEnded(ctx, r, ended)
		}
		if err != nil {
			return nil, err
		}
	}
	return uses, nil
}

// creditEnded publishes the end of a credit, if it has ended.
func (s *Service) creditEnded(ctx context.Context, r ports.Repos, ended *usage.CreditEnded) error {
	if ended == nil {
		return nil
	}
	if err := r.Tasks.Cancel(ctx, TaskExpirePrepaid, ended.ID); err != nil {
		return err
	}
	return s.deps.Bus.Publish(ctx, r, *ended)
}

// ExpireCredit ends a credit whose time is over. It waits for invoices that were due before that and are still to be
// made: the credit pays for them. Task TaskExpirePrepaid.
func (s *Service) ExpireCredit(ctx context.Context, t ports.Task) error {
	return s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		state, err := r.Usage.Credits.Get(ctx, t.CreatorID, t.Subject)
		if errors.Is(err, ports.ErrNotFound) {
			return r.Tasks.Done(ctx, t)
		}
		if err != nil {
			return err
		}
		now, err := r.Clock.Now(ctx, t.CreatorID)
		if err != nil {
			return err
		}
		if awaited, err := awaitsInvoice(ctx, r, state); err != nil {
			return err
		} else if awaited {
			return r.Tasks.Postpone(ctx, t, now.Add(usage.Grace))
		}
		if err := r.Tasks.Done(ctx, t); err != nil {
			return err
		}
		credit := usage.RestoreCredit(state)
		ended := credit.Expire(now)
		if ended == nil {
			return nil
		}
		if err := r.Usage.Credits.Update(ctx, credit.State()); err != nil {
			return err
		}
		return s.deps.Bus.Publish(ctx, r, *ended)
	})
}

// awaitsInvoice reports whether an invoice of the credit's customer was due before the credit expires and is not made.
func awaitsInvoice(ctx context.Context, r ports.Repos, c usage.CreditState) (bool, error) {
	subscriptions, err := r.Subscriptions.Subscriptions.ListByCustomer(ctx, c.CustomerID)
	if err != nil {
		return false, err
	}
	for _, sub := range subscriptions {
		plans, err := r.Usage.Plans.ListBySubscription(ctx, c.CreatorID, sub.ID)
		if err != nil {
			return false, err
		}
		if slices.ContainsFunc(plans, func(p usage.PlanState) bool {
			return p.Status != usage.PlanEnded && p.NextInvoiceAt().Before(c.ExpiresAt)
		}) {
			return true, nil
		}
	}
	return false, nil
}

// OnRefundCreated takes back what is left of credits whose purchase was refunded, by the share that went back, unless
// the account leaves the customer what they bought.
func (s *Service) OnRefundCreated(ctx context.Context, r ports.Repos, e refund.Created) error {
	if e.KeepAccess {
		return nil
	}
	return s.eachBought(ctx, r, e.CreatorID, e.Purchase(), func(
		c *usage.Credit, now time.Time,
	) (*usage.CreditEnded, bool, error) {
		return c.Return(e.Share.Amount.Minor, e.Full, now)
	})
}

// OnRefundFailed restores what a refund took of credits, when the money of it came back.
func (s *Service) OnRefundFailed(ctx context.Context, r ports.Repos, e refund.Failure) error {
	if !e.CameBack || e.Automatic { // what was paid for was never given
		return nil
	}
	return s.eachBought(ctx, r, e.CreatorID, e.Purchase(), func(
		c *usage.Credit, now time.Time,
	) (*usage.CreditEnded, bool, error) {
		changed, err := c.RefundFailed(e.Refunded.Minor, e.Disputed, now)
		return nil, changed, err
	})
}

// OnDisputeOpened keeps credits from being used whose purchase is in dispute.
func (s *Service) OnDisputeOpened(ctx context.Context, r ports.Repos, e dispute.Opened) error {
	return s.eachBought(ctx, r, e.CreatorID, e.Purchase(), func(
		c *usage.Credit, _ time.Time,
	) (*usage.CreditEnded, bool, error) {
		return nil, c.Dispute(true), nil
	})
}

// OnDisputeClosed lets credits be used again. What is left of them is gone when the dispute was lost.
func (s *Service) OnDisputeClosed(ctx context.Context, r ports.Repos, e dispute.Closed) error {
	return s.eachBought(ctx, r, e.CreatorID, e.Purchase(), func(
		c *usage.Credit, now time.Time,
	) (*usage.CreditEnded, bool, error) {
		changed := c.Dispute(false)
		if e.Status == dispute.Won {
			return nil, changed, nil
		}
		ended, returned, err := c.Return(0, true, now)
		return ended, changed || returned, err
	})
}

// eachBought changes the credits that a checkout sold.
func (s *Service) eachBought(
	ctx context.Context, r ports.Repos, creatorID, checkoutID string,
	change func(c *usage.Credit, now time.Time) (ended *usage.CreditEnded, changed bool, err error),
) error {
	if checkoutID == "" {
		return nil
	}
	all, err := r.Usage.Credits.ListByCheckout(ctx, creatorID, checkoutID)
	if err != nil || len(all) == 0 {
		return err
	}
	now, err := r.Clock.Now(ctx, creatorID)
	if err != nil {
		return err
	}
	for _, state := range all {
		credit := usage.RestoreCredit(state)
		ended, changed, err := change(credit, now)
		if err != nil {
			return err
		}
		after := credit.State()
		if !changed {
			continue
		}
		after.Revision = state.Revision + 1 // of two transitions
		if err := r.Usage.Credits.Update(ctx, after); err != nil {
			return err
		}
		if state.End != "" && after.End == "" { // it can be used again
			err = s.creditGranted(ctx, r, usage.CreditGranted{CreditState: after})
		} else {
			err = s.creditEnded(ctx, r, ended)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Credit loads a usage credit of the account, with what invoices have used of it, the oldest first. NOT_FOUND.
func (s *Service) Credit(
	ctx context.Context, creatorID, creditID string,
) (usage.CreditState, []ports.CreditUse, error) {
	r := s.deps.Store.Read(ctx)
	state, err := r.Usage.Credits.Get(ctx, creatorID, creditID)
	if err != nil {
		return state, nil, ports.Missing(err, "usage credit")
	}
	uses, err := r.Usage.Credits.ListUses(ctx, creatorID, creditID)
	return state, uses, err
}

// CreditsLeft returns the credits of a customer of which something is left, that which expires first, first.
func (s *Service) CreditsLeft(ctx context.Context, creatorID, customerID string) ([]usage.CreditState, error) {
	left, err := s.deps.Store.Read(ctx).Usage.Credits.ListLeft(ctx, creatorID, customerID)
	left = slices.Clone(left)
	slices.SortStableFunc(left, sooner)
	return left, err
}

// Credits lists the account's usage credits, newest first.
func (s *Service) Credits(
	ctx context.Context, f ports.CreditFilter, page ports.Page,
) (ports.List[usage.CreditState], error) {
	return s.deps.Store.Read(ctx).Usage.Credits.List(ctx, f, page)
}
