package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"sundry/core/listingtype"
)

// Cards of the sandbox.
const (
	cardPays     = "4242424242424242"
	cardDisputed = "4000000000000259"
	cardFails    = "4000000000000341"
)

// triggers make one event each, as an integrator's customers would.
var triggers = map[string]func(*trigger, context.Context) error{
	"payment.completed":       (*trigger).pay,
	"customer.access_changed": (*trigger).grant,
	"subscription.created":    (*trigger).subscribe,
	"subscription.canceled":   (*trigger).cancelSubscription,
	"refund.created":          (*trigger).refund,
	"dispute.opened":          (*trigger).dispute,
	"invoice.created":         (*trigger).invoice,
	"invoice.finalized":       (*trigger).invoice,
	"invoice.paid":            (*trigger).invoice,
	"invoice.payment_failed":  (*trigger).invoiceFails,
	"appointment.booked":      (*trigger).book,
	"appointment.canceled":    (*trigger).cancelAppointment,
}

// trigger makes an event through the public API of a sandbox.
type trigger struct {
	api     *publicAPI
	event   string
	listing string // catalog key; "" = the first that can be sold
}

// TriggerTypes lists the events that trigger makes, sorted.
func TriggerTypes() []string { return slices.Sorted(maps.Keys(triggers)) }

func triggerUsage() string {
	return "usage: sundry trigger TYPE [--listing KEY] [--api URL] [--key sk_test_…]\n\nMakes an event in the sandbox. Types:\n  " +
		strings.Join(TriggerTypes(), "\n  ") + "\n"
}

func newTrigger(args []string) (*trigger, error) {
	t := &trigger{}
	flags := flag.NewFlagSet("trigger", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	t.api = apiFlags(flags)
	flags.StringVar(&t.listing, "listing", "", "")
	if len(args) == 0 || triggers[args[0]] == nil {
		return nil, errors.New(triggerUsage())
	}
	t.event = args[0]
	if err := flags.Parse(args[1:]); err != nil || flags.NArg() > 0 {
		return nil, errors.New(triggerUsage())
	}
	return t, t.api.check()
}

// parseTrigger makes an event.
func parseTrigger(args []string) (action, error) {
	t, err := newTrigger(args)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, c call) error { return t.run(ctx, c.Out) }, nil
}

// run makes the event.
func (t *trigger) run(ctx context.Context, out io.Writer) error {
	if err := triggers[t.event](t, ctx); err != nil {
		return fmt.Errorf("trigger %s: %w", t.event, err)
	}
	_, err := fmt.Fprintln(out, t.event, "triggered")
	return err
}

type object = map[string]any

// receipt holds the members of a paid session that trigger reads.
type receipt struct {
	PaymentID, SubscriptionID, CustomerID string
	Appointments                          []struct{ ID string }
}

func (t *trigger) post(ctx context.Context, path string, body object, out any) error {
	return t.api.call(ctx, http.MethodPost, path, body, out)
}

// buy sells a listing of one of the types and pays it. Public listings may be of other accounts: those are not found.
func (t *trigger) buy(ctx context.Context, card string, types ...listingtype.Type) (r receipt, err error) {
	for _, kind := range types {
		var found struct {
			Data []struct{ ID, CatalogKey, Type string }
		}
		if err := t.api.call(
			ctx, http.MethodGet, "/v1/listings?limit=100&type="+string(kind), nil, &found,
		); err != nil {
			return r, err
		}
		for _, l := range found.Data {
			if t.listing != "" && l.CatalogKey != t.listing {
				continue
			}
			var session struct {
				ID           string
				TotalInCents int64
			}
			err := t.post(ctx, "/v1/checkout-sessions", object{
				"listingId": l.ID, "externalCustomerId": "trigger-" + strings.ToLower(rand.Text()[:8]),
				"email":      "buyer@example.com",
				"successUrl": "http://localhost/success", "cancelUrl": "http://localhost/cancel",
			}, &session)
			var refused *apiError
			if errors.As(err, &refused) && refused.status == http.StatusNotFound || err == nil && card == cardDisputed && session.TotalInCents == 0 {
				continue
			}
			if err != nil {
				return r, err
			}
			body := object{"cardNumber": card, "country": "IE"}
			if kind.Bookable() {
				if body["appointmentSlots"], err = t.slots(ctx, l.ID); err != nil {
					return r, err
				}
			}
			err = t.post(ctx, "/v1/sandbox/checkout-sessions/"+session.ID+"/pay", body, &r)
			return r, err
		}
	}
	names := make([]string, len(types))
	for i, kind := range types {
		names[i] = string(kind)
	}
	return r, fmt.Errorf(
		"the account sells no listing of type %s; make one, or name one with --listing", strings.Join(names, " or "),
	)
}

// typesThat lists the types of listings that are sold in a way.
func typesThat(sold func(listingtype.Type) bool) []listingtype.Type {
	return slices.DeleteFunc(listingtype.All(), func(t listingtype.Type) bool { return !sold(t) })
}

// once reports whether a listing is paid for once and needs no chosen time.
func once(t listingtype.Type) bool { return !t.Recurring() && !t.Bookable() }

// slots is the first open time of an appointment listing.
func (t *trigger) slots(ctx context.Context, listingID string) ([]object, error) {
	var clock struct{ Now string }
	if err := t.api.call(ctx, http.MethodGet, "/v1/sandbox/clock", nil, &clock); err != nil {
		return nil, err
	}
	from, err := dateAfter(clock.Now, 0)
	if err != nil {
		return nil, err
	}
	until, err := dateAfter(clock.Now, 30)
	if err != nil {
		return nil, err
	}
	var open struct {
		Timezone      string
		DeliveryModes []string
		Days          []struct {
			Slots []struct{ StartsAt string }
		}
	}
	query := url.Values{"from": {from}, "to": {until}}
	if err := t.api.call(
		ctx, http.MethodGet, "/v1/listings/"+listingID+"/slots/range?"+query.Encode(), nil, &open,
	); err != nil {
		return nil, err
	}
	for _, day := range open.Days {
		if len(day.Slots) > 0 && len(open.DeliveryModes) > 0 {
			return []object{{"startsAt": day.Slots[0].StartsAt, "timezone": open.Timezone, "deliveryMode": open.DeliveryModes[0]}}, nil
		}
	}
	return nil, errors.New("the listing has no open time in the next 30 days")
}

func (t *trigger) pay(ctx context.Context) error {
	_, err := t.buy(ctx, cardPays, append(typesThat(once), typesThat(listingtype.Type.Recurring)...)...)
	return err
}

func (t *trigger) grant(ctx context.Context) error {
	customer := "trigger-" + strings.ToLower(rand.Text()[:8])
	return t.post(ctx, "/v1/customer-access/"+customer+"/grants", object{
		"entitlements": []object{{"key": "triggered", "type": "boolean", "value": true}}, "note": "sundry trigger",
	}, nil)
}

func (t *trigger) subscribe(ctx context.Context) error {
	_, err := t.buy(ctx, cardPays, typesThat(listingtype.Type.Recurring)...)
	return err
}

func (t *trigger) cancelSubscription(ctx context.Context) error {
	r, err := t.buy(ctx, cardPays, typesThat(listingtype.Type.Recurring)...)
	if err != nil {
		return err
	}
	return t.post(ctx, "/v1/subscriptions/"+r.SubscriptionID+"/cancel", object{"atPeriodEnd": false}, nil)
}

func (t *trigger) refund(ctx context.Context) error {
	r, err := t.buy(ctx, cardPays, typesThat(once)...)
	if err != nil {
		return err
	}
	return t.post(ctx, "/v1/refunds", object{"paymentId": r.PaymentID, "reason": "requested_by_customer"}, nil)
}

func (t *trigger) dispute(ctx context.Context) error {
	_, err := t.buy(ctx, cardDisputed, typesThat(once)...)
	return err
}

func (t *trigger) invoice(ctx context.Context) error { return t.invoiceWith(ctx, cardPays) }

func (t *trigger) invoiceFails(ctx context.Context) error {
	err := t.invoiceWith(ctx, cardFails)
	var refused *apiError
	if errors.As(err, &refused) && refused.status == http.StatusPaymentRequired {
		return nil // the failed charge is what was asked for
	}
	return err
}

func (t *trigger) invoiceWith(ctx context.Context, card string) error {
	var customer struct{ ID string }
	if err := t.post(
		ctx, "/v1/customers", object{"email": "buyer@example.com", "displayName": "Triggered buyer"}, &customer,
	); err != nil {
		return err
	}
	if err := t.post(ctx, "/v1/sandbox/customers/"+customer.ID+"/cards", object{"cardNumber": card}, nil); err != nil {
		return err
	}
	return t.post(ctx, "/v1/invoices", object{
		"customerId": customer.ID, "currency": "eur",
		"lineItems": []object{{"description": "sundry trigger", "amountInCents": 1200}},
	}, nil)
}

func (t *trigger) book(ctx context.Context) error {
	_, err := t.buy(ctx, cardPays, typesThat(listingtype.Type.Bookable)...)
	return err
}

func (t *trigger) cancelAppointment(ctx context.Context) error {
	r, err := t.buy(ctx, cardPays, typesThat(listingtype.Type.Bookable)...)
	if err != nil {
		return err
	}
	return t.post(ctx, "/v1/appointments/"+r.Appointments[0].ID+"/cancel", object{"reason": "sundry trigger"}, nil)
}

// dateAfter is the civil day, in UTC, so many days after an instant.
func dateAfter(instant string, days int) (string, error) {
	at, err := time.Parse(time.RFC3339, instant)
	return at.UTC().AddDate(0, 0, days).Format(time.DateOnly), err
}
