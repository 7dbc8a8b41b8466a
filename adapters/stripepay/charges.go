package stripepay

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/stripe/stripe-go/v76"

	"sundry/ports"
)

var _ ports.ChargeLister = (*Processor)(nil)

// ListCharges implements ports.ChargeLister. A payment intent without our id is somebody else's.
func (p *Processor) ListCharges(ctx context.Context, since time.Time) ([]ports.ChargeReport, error) {
	found, from := map[string]ports.ChargeReport{}, &stripe.RangeQueryParams{GreaterThanOrEqual: since.Unix()}
	note := func(i *stripe.PaymentIntent) {
		if i == nil || i.Status != stripe.PaymentIntentStatusSucceeded || i.Metadata["payment_id"] == "" {
			return
		}
		c := ports.ChargeReport{
			PaymentID: i.Metadata["payment_id"], SubjectID: i.Metadata["subject_id"], CreatorID: i.Metadata["creator_id"],
			ProcessorID: i.ID, At: time.Unix(i.Created, 0).UTC(),
			Amount: amountOf(i.Amount, i.Currency), Refunded: amountOf(0, i.Currency),
		}
		if i.LatestCharge != nil {
			c.Refunded = amountOf(i.LatestCharge.AmountRefunded, i.Currency)
		}
		found[i.ID] = c
	}
	intents := &stripe.PaymentIntentListParams{ListParams: listing(ctx), CreatedRange: from}
	intents.AddExpand("data.latest_charge")
	made := p.api.PaymentIntents.List(intents)
	for made.Next() {
		note(made.PaymentIntent())
	}
	if err := made.Err(); err != nil {
		return nil, unknownOf("charges", failed("list payment intents", err))
	}
	refunds := &stripe.RefundListParams{ListParams: listing(ctx), CreatedRange: from}
	refunds.AddExpand("data.payment_intent.latest_charge")
	returned := p.api.Refunds.List(refunds)
	for returned.Next() {
		note(returned.Refund().PaymentIntent)
	}
	if err := returned.Err(); err != nil {
		return nil, unknownOf("charges", failed("list refunds", err))
	}
	return slices.Collect(maps.Values(found)), nil
}

// listing are the parameters of a list that is read to its end.
func listing(ctx context.Context) stripe.ListParams {
	return stripe.ListParams{Context: ctx, Limit: stripe.Int64(100)}
}

var _ ports.PayoutLister = Rail{}

// ListPayouts implements ports.PayoutLister.
func (r Rail) ListPayouts(ctx context.Context, since time.Time) (sent []ports.PayoutReport, err error) {
	list := r.processor.api.Transfers.List(&stripe.TransferListParams{
		ListParams: listing(ctx), CreatedRange: &stripe.RangeQueryParams{GreaterThanOrEqual: since.Unix()},
	})
	for list.Next() {
		one := list.Transfer()
		if one.Reversed || one.Metadata["payout_id"] == "" {
			continue
		}
		report := ports.PayoutReport{
			PayoutID: one.Metadata["payout_id"], CreatorID: one.Metadata["creator_id"], At: time.Unix(one.Created, 0).UTC(),
			Amount: amountOf(one.Amount, one.Currency),
		}
		if one.Destination != nil {
			report.Destination = one.Destination.ID
		}
		sent = append(sent, report)
	}
	if err := list.Err(); err != nil {
		return nil, unknownOf("payouts", failed("list transfers", err))
	}
	return sent, nil
}
