// Package subscriptions runs subscriptions: what a first payment or a trial starts, what falls due later, and what
// people request. The rules are in core/subscription; here each transition is saved, emitted as an event and followed
// by its next step in one transaction.
package subscriptions

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"sundry/core/checkout"
	"sundry/core/discount"
	"sundry/core/event"
	"sundry/core/identity"
	"sundry/core/metadata"
	"sundry/core/payment"
	"sundry/core/period"
	"sundry/core/plan"
	"sundry/core/subscription"
	"sundry/ports"
)

// Task kinds of this module. The subject of each is the subscription.
const (
	// TaskDue takes the step that falls due.
	TaskDue = "subscription.due"
	// TaskNotice notifies the customer of a charge that is a week away.
	TaskNotice = "subscription.notice"
)

// Deps holds the dependencies of the module.
type Deps struct {
	Store   ports.Store
	IDs     ports.IDs
	Bus     ports.Bus
	Charges ports.Charges
	Runner  ports.ChargeRunner
	Offers  ports.Offers
	Agreed  ports.AgreedOffers
	Taxes   ports.TaxCalculator
	// Customers reports where a buyer is taxed.
	Customers ports.CustomerReader
	Cards     ports.SavedCards
	// Access makes purchases of one customer wait for each other.
	Access ports.AccessVersions
	Portal ports.PortalLinks
}

// Service holds the use cases.
type Service struct {
	deps Deps
}

// New returns the module.
func New(d Deps) *Service { return &Service{deps: d} }

// OnCheckoutPaid starts the subscription that a recurring offer's checkout paid for.
func (s *Service) OnCheckoutPaid(ctx context.Context, r ports.Repos, e checkout.Paid) error {
	if e.SubscriptionID == "" {
		return nil
	}
	sub := subscription.New(subscription.Order{
		ID: e.SubscriptionID, CreatorID: e.CreatorID, CustomerID: e.CustomerID,
		ExternalCustomerID: e.ExternalCustomerID,
		CheckoutID:         e.CheckoutID, PaymentID: e.PaymentID, PaymentMethodID: e.PaymentMethodID, Offer: e.Offer,
		Discount: discountOf(e.DiscountTerms, e.Offer, e.At), TrialCard: e.TrialCard,
		Metadata: metadata.Pairs{}.Merge(e.Metadata),
	}, e.At)
	created, err := sub.Activate(e.At)
	if err != nil {
		return fmt.Errorf("start %s: %w", e.SubscriptionID, err)
	}
	sub.Move(e.At)
	if err := r.Subscriptions.Subscriptions.Insert(ctx, sub.State()); err != nil {
		return err
	}
	return s.announce(ctx, r, sub, created)
}

// commit saves a transition, reports it and plans what follows. A nil event is a change that nobody can see.
func (s *Service) commit(ctx context.Context, r ports.Repos, sub *subscription.Subscription, e event.Event) error {
	if sub.Moved() {
		now, err := r.Clock.Now(ctx, sub.State().CreatorID)
		if err != nil {
			return err
		}
		sub.Move(now)
	}
	if err := r.Subscriptions.Subscriptions.Update(ctx, sub.State()); err != nil {
		return err
	}
	return s.announce(ctx, r, sub, e)
}

// announce plans what follows a transition and publishes its event.
func (s *Service) announce(ctx context.Context, r ports.Repos, sub *subscription.Subscription, e event.Event) error {
	state := sub.State()
	if err := s.plan(ctx, r, state); err != nil {
		return err
	}
	if err := s.planNotice(ctx, r, state, e); err != nil {
		return err
	}
	if e == nil {
		return nil
	}
	return s.deps.Bus.Publish(ctx, r, e)
}

// plan schedules the next step, or withdraws it when there is none.
func (s *Service) plan(ctx context.Context, r ports.Repos, state subscription.State) error {
	step, due := state.Next()
	if step == subscription.NoStep {
		return r.Tasks.Cancel(ctx, TaskDue, state.ID)
	}
	return r.Tasks.Schedule(ctx, TaskDue, state.ID, state.CreatorID, due)
}

// planNotice schedules the notice of the next charge. Within the notice period only an event with which that charge
// falls due schedules it: every other change comes after it was given, and a charge that is due already needs none.
func (s *Service) planNotice(ctx context.Context, r ports.Repos, state subscription.State, e event.Event) error {
	at := state.NoticeAt()
	if at.IsZero() {
		return r.Tasks.Cancel(ctx, TaskNotice, state.ID)
	}
	now, err := r.Clock.Now(ctx, state.CreatorID)
	if err != nil || !at.After(now) && (!beginsCharge(e) || !now.Before(state.CurrentPeriodEnd)) {
		return err
	}
	return r.Tasks.Schedule(ctx, TaskNotice, state.ID, state.CreatorID, at)
}

// beginsCharge reports whether an event may have a charge fall due that was not to be made before: that of another
// period, or of one that was not to be renewed because of a pause, a cancellation or a dispute.
func beginsCharge(e event.Event) bool {
	switch e := e.(type) {
	case subscription.Created, subscription.Renewed:
		return true
	case subscription.Updated:
		return e.Previous["pausedAt"] != nil || e.Previous["cancelAtPeriodEnd"] != nil
	case subscription.MoneyMoved:
		return e.Why == subscription.DisputeWon
	}
	return false
}

// Notice notifies the customer of the next charge. Task TaskNotice.
func (s *Service) Notice(ctx context.Context, t ports.Task) error {
	return s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		if err := r.Tasks.Done(ctx, t); err != nil {
			return err
		}
		state, err := r.Subscriptions.Subscriptions.Get(ctx, t.Subject)
		if errors.Is(err, ports.ErrNotFound) {
			return nil
		}
		if err != nil || state.NoticeAt().IsZero() {
			return err
		}
		bill, err := subscription.Restore(state).NextBill(state.CurrentPeriodEnd)
		if err != nil || bill.Due().Minor == 0 {
			return err
		}
		sale, err := s.sale(ctx, r, state, bill, state.CurrentPeriodEnd)
		if err != nil {
			return err
		}
		total, err := sale.Total()
		if err != nil {
			return err
		}
		return s.deps.Bus.Publish(ctx, r, subscription.RenewalDue{State: state, Amount: total})
	})
}

// IsPaidTimeOver reports whether canceling a subscription for the end of its period would end it now.
func (s *Service) IsPaidTimeOver(ctx context.Context, state subscription.State) (bool, error) {
	now, err := s.deps.Store.Read(ctx).Clock.Now(ctx, state.CreatorID)
	return state.IsPaidTimeOver(now), err
}

// NextCharge returns what a subscription is charged next and when, with its tax as of now: for a paused one, what
// resuming it now costs. ok is false while nothing is to be charged. It may ask a tax service.
func (s *Service) NextCharge(
	ctx context.Context, state subscription.State,
) (sale payment.Sale, at time.Time, ok bool, err error) {
	r, next := s.deps.Store.Read(ctx), subscription.Restore(state).NextBill
	step, at := state.Next()
	if state.Status == subscription.StatusPaused {
		if at, err = r.Clock.Now(ctx, state.CreatorID); err != nil {
			return payment.Sale{}, time.Time{}, false, err
		}
		if step == subscription.NoStep && state.Charge == nil && state.IsPaidTimeOver(at) {
			step, next = subscription.StepRenew, subscription.Restore(state).ResumeBill
		}
	}
	if step != subscription.StepRenew {
		return payment.Sale{}, time.Time{}, false, nil
	}
	bill, err := next(at)
	if err != nil {
		return payment.Sale{}, time.Time{}, false, err
	}
	sale, err = s.sale(ctx, r, state, bill, at)
	return sale, at, err == nil, err
}

// Get returns a subscription of the account. NOT_FOUND for any other.
func (s *Service) Get(ctx context.Context, creatorID, subscriptionID string) (subscription.State, error) {
	return owned(ctx, s.deps.Store.Read(ctx), creatorID, subscriptionID)
}

// List returns part of the account's subscriptions.
func (s *Service) List(
	ctx context.Context, f ports.SubscriptionFilter, page ports.Page,
) (ports.List[subscription.State], error) {
	return s.deps.Store.Read(ctx).Subscriptions.Subscriptions.List(ctx, f, page)
}

// owned loads a subscription of the account. NOT_FOUND for any other.
func owned(ctx context.Context, r ports.Repos, creatorID, subscriptionID string) (subscription.State, error) {
	state, err := r.Subscriptions.Subscriptions.Get(ctx, subscriptionID)
	return ports.Visible(state, err, state.CreatorID == creatorID, "subscription")
}

// change loads a subscription of the account and makes one transition of it, which the access log records as kind; ""
// leaves no line. NOT_FOUND, and what the transition refuses.
func (s *Service) change(
	ctx context.Context, creatorID, subscriptionID string, kind identity.AccountEventKind,
	transition func(sub *subscription.Subscription, now time.Time) (event.Event, error),
) (subscription.State, error) {
	var after subscription.State
	err := s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		sub, now, err := load(ctx, r, creatorID, subscriptionID)
		if err != nil {
			return err
		}
		before := sub.State().Revision
		e, err := transition(sub, now)
		if err != nil {
			return err
		}
		if after = sub.State(); after.Revision == before {
			return nil
		}
		if err := s.commit(ctx, r, sub, e); err != nil || kind == "" {
			return err
		}
		return s.audit(ctx, r, kind, after, after.Offer)
	})
	return after, err
}

// audit records what was decided about a subscription, with the plan and the quantity that it is about.
func (s *Service) audit(
	ctx context.Context, r ports.Repos, kind identity.AccountEventKind, state subscription.State, o plan.Offer,
) error {
	note := o.PlanKey
	if o.Seats() > 1 {
		note += " × " + strconv.Itoa(o.Seats())
	}
	return ports.PublishAudited(ctx, r, s.deps.Bus, identity.Audited{
		CreatorID: state.CreatorID, Kind: kind, ObjectID: state.ID, Note: note,
	})
}

// load locks a subscription of the account, so that one transition and at most one charge of it is made at a time, and
// returns it with the account's time. NOT_FOUND.
func load(
	ctx context.Context, r ports.Repos, creatorID, subscriptionID string,
) (*subscription.Subscription, time.Time, error) {
	state, err := r.Subscriptions.Subscriptions.GetForUpdate(ctx, subscriptionID)
	if state, err = ports.Visible(state, err, state.CreatorID == creatorID, "subscription"); err != nil {
		return nil, time.Time{}, err
	}
	now, err := r.Clock.Now(ctx, creatorID)
	return subscription.Restore(state), now, err
}

// Cancel ends a subscription now, or at the end of its period.
func (s *Service) Cancel(
	ctx context.Context, creatorID, subscriptionID string, atPeriodEnd bool,
) (subscription.State, error) {
	return s.change(ctx, creatorID, subscriptionID, identity.SubscriptionCanceled, func(
		sub *subscription.Subscription, now time.Time,
	) (event.Event, error) {
		if atPeriodEnd {
			return sub.CancelAtPeriodEnd(subscription.CancelRequested, now)
		}
		return sub.Cancel(subscription.CancelRequested, now)
	})
}

// SetMetadata changes the account's own pairs of a subscription. NOT_FOUND, VALIDATION_FAILED.
func (s *Service) SetMetadata(
	ctx context.Context, creatorID, subscriptionID string, change metadata.Change,
) (subscription.State, error) {
	return s.change(ctx, creatorID, subscriptionID, "", func(
		sub *subscription.Subscription, _ time.Time,
	) (event.Event, error) {
		e, _, err := sub.SetMetadata(change)
		return e, err
	})
}

// Pause stops access and billing until the subscription is resumed.
func (s *Service) Pause(ctx context.Context, creatorID, subscriptionID string) (subscription.State, error) {
	return s.change(ctx, creatorID, subscriptionID, identity.SubscriptionPaused, func(
		sub *subscription.Subscription, now time.Time,
	) (event.Event, error) {
		return sub.Pause(now)
	})
}

// discountOf returns the discount of a code on the periods of a subscription that begins now; nil without a code. Its
// months count from the first period with a price.
func discountOf(terms *discount.Terms, o plan.Offer, now time.Time) *subscription.Discount {
	if terms == nil {
		return nil
	}
	d := &subscription.Discount{
		ID: terms.DiscountID, Code: terms.Code, PercentOff: terms.PercentOff, AmountOff: terms.AmountOff,
	}
	switch terms.Duration {
	case discount.Once:
		d.Once = true
	case discount.Repeating:
		d.EndsAt = period.Nth(now.AddDate(0, 0, o.TrialDays), period.Month, 1, terms.DurationInMonths)
	case discount.Forever:
	}
	return d
}

// OfCustomer lists all subscriptions of a customer, newest first.
func (s *Service) OfCustomer(ctx context.Context, customerID string) ([]subscription.State, error) {
	return s.deps.Store.Read(ctx).Subscriptions.Subscriptions.ListByCustomer(ctx, customerID)
}
