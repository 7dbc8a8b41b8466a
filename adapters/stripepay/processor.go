package stripepay

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/stripe/stripe-go/v76"

	"sundry/core/id"
	"sundry/core/payment"
	"sundry/core/refund"
	"sundry/ports"
)

// keyMemory is the time for which an idempotency key certainly repeats its first response. Stripe forgets keys after 24
// hours.
const keyMemory = 20 * time.Hour

// Charge implements ports.Processor.
func (p *Processor) Charge(ctx context.Context, r ports.ChargeRequest) (payment.Outcome, error) {
	i, err := p.lookup(ctx, r)
	if err == nil && i.fresh() {
		i, err = p.confirm(ctx, r, i)
	}
	if refused := final(err); refused != nil {
		why := declineOf(&stripe.Error{Code: stripe.ErrorCode(refused.code)})
		return payment.Outcome{Status: payment.Declined, Decline: why}, nil //nolint:nilerr // a refusal is an outcome
	}
	if err != nil {
		return payment.Outcome{}, unknownOf(r.PaymentID, err)
	}
	return p.conclude(ctx, r, i)
}

// Find implements ports.Processor.
func (p *Processor) Find(ctx context.Context, r ports.ChargeRequest) (payment.Outcome, error) {
	i, err := p.current(ctx, r)
	if final(err) != nil {
		return payment.Outcome{}, fmt.Errorf("find %s: %w", r.PaymentID, ports.ErrNotFound)
	}
	if err != nil {
		return payment.Outcome{}, unknownOf(r.PaymentID, err)
	}
	return p.conclude(ctx, r, i)
}

// Authenticate implements ports.Processor: the bank has notified Stripe.
func (p *Processor) Authenticate(ctx context.Context, r ports.ChargeRequest, _ bool) (payment.Outcome, error) {
	return p.Find(ctx, r)
}

// Cancel implements ports.Processor. An attempt that Stripe has not received yet is created to be canceled: anyone who
// confirms it later confirms a canceled intent.
func (p *Processor) Cancel(ctx context.Context, r ports.ChargeRequest) (payment.Outcome, error) {
	i, err := p.current(ctx, r)
	if final(err) != nil { // nothing was made, and nothing ever will be
		return payment.Outcome{Status: payment.Canceled}, nil //nolint:nilerr // a refusal is an outcome
	}
	if err == nil && i.status != "canceled" && i.status != "succeeded" {
		i, err = p.end(ctx, i)
	}
	if err != nil {
		return payment.Outcome{}, unknownOf(r.PaymentID, err)
	}
	return p.conclude(ctx, r, i)
}

// conclude is the outcome of an attempt. A refused card is final only once nobody can confirm the intent again, so it
// is ended first.
func (p *Processor) conclude(ctx context.Context, r ports.ChargeRequest, i intent) (payment.Outcome, error) {
	if i.refused != nil && i.status == "requires_payment_method" {
		var err error
		if i, err = p.end(ctx, i); err != nil {
			return payment.Outcome{}, unknownOf(r.PaymentID, err)
		}
	}
	o, err := i.outcome()
	if err != nil {
		return payment.Outcome{}, fmt.Errorf("%s: %w", r.PaymentID, err)
	}
	return o, nil
}

// lookup is the intent of an attempt, made unless there is one. Its state may be an older one.
func (p *Processor) lookup(ctx context.Context, r ports.ChargeRequest) (intent, error) {
	if r.ProcessorID != "" {
		return p.get(ctx, r.ProcessorID)
	}
	if at, ok := id.Time(r.PaymentID); ok && time.Since(at) > keyMemory && r.Amount.Minor > 0 {
		if found, ok, err := p.search(ctx, r); err != nil || ok {
			return found, err
		}
	}
	i, err := p.create(ctx, r)
	if refused := refusal(err); refused != nil && refused.kind == stripe.ErrorTypeIdempotency {
		// The same attempt was created with other parameters, such as another customer.
		found, ok, searchErr := p.search(ctx, r)
		if searchErr == nil && !ok {
			searchErr = fmt.Errorf("stripe knows %s and does not find it yet: %w", r.PaymentID, ports.ErrOutcomeUnknown)
		}
		return found, searchErr
	}
	return i, err
}

// current is lookup with the state of now.
func (p *Processor) current(ctx context.Context, r ports.ChargeRequest) (intent, error) {
	i, err := p.lookup(ctx, r)
	if err != nil || !i.replayable {
		return i, err
	}
	return p.get(ctx, i.id)
}

// search finds the payment intent of an attempt by our id. Stripe's search lags behind by a minute or so.
func (p *Processor) search(ctx context.Context, r ports.ChargeRequest) (intent, bool, error) {
	params := &stripe.PaymentIntentSearchParams{SearchParams: stripe.SearchParams{
		Context: ctx, Single: true, Query: fmt.Sprintf("metadata['payment_id']:'%s'", r.PaymentID),
	}}
	list := p.api.PaymentIntents.Search(params)
	if list.Next() {
		found, err := p.get(ctx, list.PaymentIntent().ID)
		return found, err == nil, err
	}
	if err := list.Err(); err != nil {
		return intent{}, false, failed("search", err)
	}
	return intent{}, false, nil
}

// final is the refusal of a request that Stripe will never act on under its key; nil for anything else.
func final(err error) *refusedError {
	refused := refusal(err)
	if refused == nil || errors.Is(err, ports.ErrProcessorUnavailable) || errors.Is(err, ports.ErrNotFound) {
		return nil
	}
	if errors.Is(err, ports.ErrOutcomeUnknown) && !(refused.replayed && refused.status >= 500) {
		return nil
	}
	return refused
}

// unknownOf names the attempt in an error. What is no error of the port's is not known either.
func unknownOf(paymentID string, err error) error {
	if errors.Is(err, ports.ErrProcessorUnavailable) || errors.Is(err, ports.ErrNotFound) ||
		errors.Is(err, ports.ErrOutcomeUnknown) {
		return fmt.Errorf("%s: %w", paymentID, err)
	}
	return fmt.Errorf("%s: %w: %w", paymentID, err, ports.ErrOutcomeUnknown)
}

// customer is Stripe's customer of an attempt: that of the saved card, or one for the card to be saved; "" for neither.
func (p *Processor) customer(ctx context.Context, r ports.ChargeRequest) (string, error) {
	if customer, _ := splitMethod(r.Method); customer != "" || !r.SaveCard {
		return customer, nil
	}
	about, key := map[string]string{"creator_id": r.CreatorID}, "customer:"+r.PaymentID
	if r.CustomerID != "" {
		about["customer_id"], key = r.CustomerID, "customer:"+r.CustomerID
		params := &stripe.CustomerSearchParams{SearchParams: stripe.SearchParams{
			Context: ctx, Single: true, Query: fmt.Sprintf("metadata['customer_id']:'%s'", r.CustomerID),
		}}
		list := p.api.Customers.Search(params)
		if list.Next() {
			return list.Customer().ID, nil
		}
		if err := list.Err(); err != nil {
			return "", failed("search customer", err)
		}
	}
	made, err := call(ctx, "create customer", func() (*stripe.Customer, error) {
		return p.api.Customers.New(&stripe.CustomerParams{Params: keyed(ctx, key), Metadata: about})
	})
	if err != nil {
		return "", err
	}
	if r.Email != "" {
		named := &stripe.CustomerParams{Params: keyed(ctx, key+":"+r.PaymentID), Email: new(r.Email)}
		if r.Name != "" {
			named.Name = new(r.Name)
		}
		// A customer without a name pays as well, so this decides nothing.
		_, _ = p.api.Customers.Update(made.ID, named)
	}
	return made.ID, nil
}

// Refund implements ports.Processor. What was refunded before is looked up first, because Stripe forgets keys.
func (p *Processor) Refund(ctx context.Context, r ports.RefundRequest) (refund.Outcome, error) {
	if r.ProcessorID == "" {
		return refund.Outcome{}, fmt.Errorf("refund %s: %w", r.RefundID, ports.ErrNotFound)
	}
	known, err := p.ListRefunds(ctx, r.ProcessorID)
	if err != nil {
		return refund.Outcome{}, err
	}
	for _, report := range known {
		if report.RefundID == r.RefundID {
			return report.Outcome, nil
		}
	}
	if refused := refusal(chargeable(r.Amount)); refused != nil {
		outcome := refund.Outcome{Status: refund.Failed, Reason: refused.code, Refused: true}
		return outcome, nil //nolint:nilerr // a refusal is an outcome
	}
	// What is left of a payment may be less at the next call, and Stripe keeps refusals under their key, too.
	key := fmt.Sprintf("%s:%d", r.RefundID, units(r.Amount))
	made, err := call(ctx, "refund", func() (*stripe.Refund, error) {
		return p.api.Refunds.New(&stripe.RefundParams{
			Params: keyed(ctx, key), PaymentIntent: new(r.ProcessorID), Amount: new(units(r.Amount)),
			Metadata: map[string]string{"refund_id": r.RefundID, "payment_id": r.PaymentID, "creator_id": r.CreatorID},
		})
	})
	if reason := refusal(err).ofRefund(); reason != "" {
		return refund.Outcome{Status: refund.Failed, Reason: reason, Refused: true}, nil
	}
	if err != nil {
		return refund.Outcome{}, unknownOf(r.RefundID, err)
	}
	return refundOutcome(made), nil
}

// ListRefunds implements ports.RefundLister.
func (p *Processor) ListRefunds(ctx context.Context, intentID string) (made []ports.RefundReport, err error) {
	params := &stripe.RefundListParams{ListParams: listing(ctx), PaymentIntent: new(intentID)}
	list := p.api.Refunds.List(params)
	for list.Next() {
		one := list.Refund()
		made = append(made, ports.RefundReport{
			ProcessorID: one.ID, RefundID: one.Metadata["refund_id"], Amount: amountOf(one.Amount, one.Currency),
			Outcome: refundOutcome(one),
		})
	}
	if err := list.Err(); err != nil {
		return nil, unknownOf(intentID, failed("list refunds", err))
	}
	return made, nil
}

// ofRefund returns why Stripe makes no refund however often it is asked for; "" for any other refusal, and for none.
// That more is asked for than is left of a payment has no code, only the parameter to blame.
func (e *refusedError) ofRefund() (reason string) {
	switch {
	case e == nil:
		return ""
	case e.code == "charge_already_refunded", e.code == "charge_disputed", e.code == amountTooLarge:
		return e.code
	case e.code == "" && e.param == "amount":
		return amountTooLarge
	}
	return ""
}

const amountTooLarge = "amount_too_large"

func refundOutcome(made *stripe.Refund) refund.Outcome {
	switch made.Status {
	case stripe.RefundStatusSucceeded:
		return refund.Outcome{Status: refund.Succeeded}
	case stripe.RefundStatusFailed, stripe.RefundStatusCanceled:
		reason := string(made.FailureReason)
		if reason == "" {
			reason = string(made.Status)
		}
		return refund.Outcome{Status: refund.Failed, Reason: reason}
	default:
		return refund.Outcome{Status: refund.Pending}
	}
}

// splitMethod takes our token of a saved card apart. A method that belongs to no customer has none.
func splitMethod(method string) (customer, name string) {
	if customer, name, ok := strings.Cut(method, methodSeparator); ok {
		return customer, name
	}
	return "", method
}
