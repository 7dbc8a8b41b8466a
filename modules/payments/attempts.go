package payments

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"sundry/core/document"
	"sundry/core/event"
	"sundry/core/fault"
	"sundry/core/id"
	"sundry/core/payment"
	"sundry/core/paymentmethod"
	"sundry/ports"
)

// TaskCharge settles an attempt: it makes one that nobody else makes, and asks again while an outcome is unknown. Its
// subject is the payment. An attempt that its caller makes has none unless it stays unsettled.
const TaskCharge = "payment.charge"

// firstCheck is the age at which an attempt without a task is reconciled: longer than who makes it can take.
const firstCheck = ports.ProcessorTimeout + ports.ProcessorRecheckTimeout + 10*time.Second

// AttemptDeps holds the dependencies of attempts.
type AttemptDeps struct {
	Store     ports.Store
	IDs       ports.IDs
	Bus       ports.Bus
	Providers ports.Providers
	// Outcomes maps each purpose to the consequences of an attempt's end.
	Outcomes map[payment.Purpose]ports.ChargeOutcomes
	// Links are the addresses of credit notes.
	Links   document.Links
	Limiter ports.RateLimiter
}

// Attempts owns the life of each attempt to take money, whatever it is for: commit the intent, ask the processor,
// commit the outcome. A task finishes what was interrupted in between. Asking again with the same attempt repeats the
// processor's first response, so a doubled task charges nobody twice.
type Attempts struct{ deps AttemptDeps }

var (
	_ ports.Charges      = (*Attempts)(nil)
	_ ports.ChargeRunner = (*Attempts)(nil)
)

// NewAttempts returns the use cases.
func NewAttempts(d AttemptDeps) *Attempts { return &Attempts{d} }

// Begin implements ports.Charges.
func (s *Attempts) Begin(ctx context.Context, r ports.Repos, i payment.Intent, at time.Time) (payment.State, error) {
	i.Provider = cmp.Or(i.Provider, s.deps.Providers.Default().Name)
	attempt := payment.NewPending(i, at).State()
	return attempt, r.Payments.Payments.Insert(ctx, attempt)
}

// Start implements ports.Charges.
func (s *Attempts) Start(ctx context.Context, r ports.Repos, c ports.Charge) (payment.State, error) {
	amount, err := c.Sale.Total()
	if err != nil {
		return payment.State{}, fmt.Errorf("start charge: %w", err)
	}
	card, err := s.card(ctx, r, c)
	if err != nil {
		return payment.State{}, err
	}
	if c.At.IsZero() {
		if c.At, err = r.Clock.Now(ctx, c.CreatorID); err != nil {
			return payment.State{}, err
		}
	}
	c.Subject.PaymentMethodID = card.ID
	attempt := payment.NewPending(payment.Intent{
		ID: s.deps.IDs.New(id.Payment), CreatorID: c.CreatorID, Subject: c.Subject, Sale: c.Sale, Amount: amount,
		Provider: card.Provider, Method: card.Token, Brand: card.Brand, Last4: card.Last4, SaveCard: c.Method != "",
		Mandate:    c.Mandate,
		OffSession: !c.OnSession,
	}, c.At).State()
	if err := r.Payments.Payments.Insert(ctx, attempt); err != nil || c.RunByCaller {
		return attempt, err
	}
	return attempt, r.Tasks.Schedule(ctx, TaskCharge, attempt.ID, c.CreatorID, c.At)
}

// card returns what to charge: what the customer gave now, or else the saved card named, or else their latest.
func (s *Attempts) card(ctx context.Context, r ports.Repos, c ports.Charge) (paymentmethod.State, error) {
	if c.Method != "" {
		return paymentmethod.State{
			Card: paymentmethod.Card{Provider: s.deps.Providers.Default().Name, Token: c.Method},
		}, nil
	}
	if c.Subject.PaymentMethodID != "" {
		named, err := r.Payments.PaymentMethods.Get(ctx, c.Subject.PaymentMethodID)
		if err == nil && named.CustomerID == c.Subject.CustomerID && s.chargeable(named) {
			return named, nil
		}
		if err != nil && !errors.Is(err, ports.ErrNotFound) {
			return paymentmethod.State{}, err
		}
	}
	cards, err := r.Payments.PaymentMethods.List(ctx, c.Subject.CustomerID)
	if err != nil {
		return paymentmethod.State{}, err
	}
	for _, card := range cards {
		if s.chargeable(card) {
			return card, nil
		}
	}
	return paymentmethod.State{}, fault.New(fault.PaymentMethodRequired, "The customer has no saved payment method.")
}

// chargeable reports whether a saved card is usable and known to a provider of this program.
func (s *Attempts) chargeable(card paymentmethod.State) bool {
	_, err := s.deps.Providers.Get(card.Provider)
	return err == nil && card.Usable()
}

// Settle implements ports.Charges. The attempt is locked before any other row, so that two that settle it never
// deadlock.
func (s *Attempts) Settle(
	ctx context.Context, r ports.Repos, known payment.State, o payment.Outcome,
) (payment.State, error) {
	loaded, err := r.Payments.Payments.GetForUpdate(ctx, known.ID, known.Purpose)
	if err != nil {
		return payment.State{}, err
	}
	now, err := r.Clock.Now(ctx, loaded.CreatorID)
	if err != nil {
		return payment.State{}, err
	}
	attempt := payment.Restore(loaded)
	changed, err := attempt.Apply(o, now)
	if err != nil || !changed {
		return loaded, err
	}
	news, err := s.follow(ctx, r, attempt, o, now)
	if err != nil {
		return payment.State{}, err
	}
	settled := attempt.State()
	if err := r.Payments.Payments.Update(ctx, settled); err != nil {
		return payment.State{}, err
	}
	switch {
	case !settled.Status.Final():
		err = r.Tasks.Ensure(ctx, TaskCharge, known.ID, settled.CreatorID, settled.CreatedAt.Add(firstCheck))
	case mayHaveTask(loaded, now):
		err = r.Tasks.Cancel(ctx, TaskCharge, known.ID)
	}
	if err != nil {
		return payment.State{}, err
	}
	if settled.Status.Final() {
		news = append(news, payment.Settled{State: settled})
	}
	return settled, s.deps.Bus.Publish(ctx, r, news...)
}

// mayHaveTask reports whether an unsettled attempt can have its task. Most at checkout are settled by the request that
// makes them; a task that such a request leaves behind finds the attempt settled.
func mayHaveTask(attempt payment.State, now time.Time) bool {
	return attempt.Purpose != payment.ForCheckout || attempt.Status != payment.Pending ||
		now.Sub(attempt.CreatedAt) >= firstCheck
}

// follow does what follows from an attempt's new state, and returns the events of it.
func (s *Attempts) follow(
	ctx context.Context, r ports.Repos, attempt *payment.Payment, o payment.Outcome, now time.Time,
) ([]event.Event, error) {
	state := attempt.State()
	outcomes, ok := s.deps.Outcomes[state.Purpose]
	if !ok {
		return nil, fmt.Errorf("payment %s is for %q, which nothing follows from", state.ID, state.Purpose)
	}
	switch state.Status {
	case payment.Succeeded:
		followed, err := outcomes.Paid(ctx, r, attempt, o, now)
		if err == nil && followed.Refund != "" {
			err = s.Refund(ctx, r, attempt.State(), followed.Refund)
		}
		return append(followed.Events, payment.Completed{State: attempt.State()}), err
	case payment.Declined, payment.Canceled:
		return []event.Event{payment.Failed{State: state}}, outcomes.Unpaid(ctx, r, state)
	case payment.Pending, payment.RequiresAction, payment.Processing:
	}
	return nil, nil
}

// settle is Settle in a transaction of its own, which the end of a request does not cancel: the money may have moved.
func (s *Attempts) settle(
	ctx context.Context, attempt payment.State, o payment.Outcome, read ...ports.Reader,
) (settled payment.State, err error) {
	err = s.deps.Store.Atomically(context.WithoutCancel(ctx), func(ctx context.Context, r ports.Repos) error {
		if settled, err = s.Settle(ctx, r, attempt, o); err != nil {
			return err
		}
		for _, see := range read {
			if err := see(ctx, r); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return payment.State{}, fmt.Errorf("settle %s: %w", attempt.ID, unrecorded(err))
	}
	return settled, nil
}

// unrecorded is the error of a transaction that was to record what the processor has done, or may have: it is not that
// of a call that changed nothing.
func unrecorded(err error) error {
	if errors.Is(err, ports.ErrDatabaseBusy) {
		return fmt.Errorf("%w: %s", ports.ErrDatabaseLost, err.Error())
	}
	return err
}

// Run implements ports.ChargeRunner.
func (s *Attempts) Run(
	ctx context.Context, attempt payment.State, by ports.Payer, read ...ports.Reader,
) (payment.State, error) {
	request := ports.ChargeOf(attempt)
	request.Email, request.Name = by.Email, by.Name
	outcome, err := s.charge(ctx, attempt, request)
	switch {
	case errors.Is(err, ports.ErrProcessorUnavailable):
		return s.cancelUnsent(ctx, attempt, err)
	case err != nil: // unknown
		return attempt, s.checkSoon(ctx, attempt)
	}
	return s.settle(ctx, attempt, outcome, read...)
}

// RunUnattended implements ports.ChargeRunner.
func (s *Attempts) RunUnattended(ctx context.Context, attempt payment.State) error {
	outcome, err := s.charge(ctx, attempt, ports.ChargeOf(attempt))
	if err == nil {
		var settled payment.State
		if settled, err = s.settle(ctx, attempt, outcome); err == nil && settled.Status.Final() {
			return nil
		}
	}
	if errors.Is(err, ports.ErrOutcomeUnknown) {
		err = nil
	}
	return errors.Join(err, s.checkSoon(ctx, attempt))
}

// charge makes an attempt. If a charge of a saved card times out, it polls the outcome at once. A buyer at checkout
// has waited long enough; their page polls.
func (s *Attempts) charge(
	ctx context.Context, attempt payment.State, request ports.ChargeRequest,
) (payment.Outcome, error) {
	outcome, err := s.call(ctx, ports.ProcessorTimeout, attempt, request, ports.Processor.Charge)
	if errors.Is(err, ports.ErrOutcomeUnknown) && attempt.Purpose != payment.ForCheckout {
		outcome, err = s.call(ctx, ports.ProcessorRecheckTimeout, attempt, request, ports.Processor.Find)
		if errors.Is(err, ports.ErrNotFound) || errors.Is(err, ports.ErrProcessorUnavailable) {
			err = ports.ErrOutcomeUnknown // it may still be on its way
		}
	}
	return outcome, err
}

// cancelUnsent ends an attempt that certainly never reached the processor, so that nothing is charged after its
// caller was told that it failed. While the processor is away it is ended here alone: nobody sends it any more.
func (s *Attempts) cancelUnsent(ctx context.Context, attempt payment.State, cause error) (payment.State, error) {
	canceled, err := s.Cancel(ctx, attempt, payment.DeclineReason{})
	if err == nil && canceled.Status == payment.Succeeded { // it had arrived after all
		return canceled, nil
	}
	if err != nil {
		_, endErr := s.settle(ctx, attempt, payment.Outcome{Status: payment.Canceled})
		err = errors.Join(err, endErr)
	}
	return attempt, fault.Wrap(
		fault.ProcessorUnavailable, "The card processor does not respond. Nothing was charged; try again in a moment.",
		errors.Join(cause, err),
	)
}

// Cancel implements ports.ChargeRunner.
func (s *Attempts) Cancel(
	ctx context.Context, attempt payment.State, why payment.DeclineReason,
) (payment.State, error) {
	outcome, err := s.call(ctx, ports.ProcessorTimeout, attempt, ports.ChargeOf(attempt), ports.Processor.Cancel)
	if err != nil {
		return payment.State{}, fmt.Errorf("cancel %s: %w", attempt.ID, err)
	}
	if outcome.Status == payment.Canceled {
		outcome.Decline = why
	}
	return s.settle(ctx, attempt, outcome)
}

// processorCall is a method of ports.Processor that takes a charge and returns its outcome.
type processorCall = func(ports.Processor, context.Context, ports.ChargeRequest) (payment.Outcome, error)

// call makes one call to the provider that takes an attempt's money.
func (s *Attempts) call(
	ctx context.Context, limit time.Duration, attempt payment.State, r ports.ChargeRequest, ask processorCall,
) (payment.Outcome, error) {
	provider, err := s.deps.Providers.Get(attempt.Provider)
	if err != nil {
		return payment.Outcome{}, err
	}
	return within(ctx, limit, func(ctx context.Context) (payment.Outcome, error) {
		return ask(provider.Processor, ctx, r)
	})
}

// within makes one call to the processor under a deadline of its own, independent of the caller's: a canceled request
// must not leave the outcome unknown.
func within[T any](ctx context.Context, limit time.Duration, call func(ctx context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	return call(ctx)
}
