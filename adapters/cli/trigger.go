package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"text/tabwriter"
)

// Cards of the sandbox.
const (
	cardPays     = "4242424242424242"
	cardDisputed = "4000000000000259"
	cardFails    = "4000000000000341"
)

// kind is a row of the table of events that trigger makes, as an integrator's customers would.
type kind struct {
	event, does string
	make        func(*trigger, context.Context) error
}

var kinds = []kind{
	{"customer.access_changed", "grants a customer an entitlement", (*trigger).grant},
	{"payment.completed", "sells something and pays it", (*trigger).pay},
	{"subscription.created", "sells a subscription", (*trigger).subscribe},
	{"subscription.renewed", "… and moves the clock past its period", (*trigger).renew},
	{"subscription.updated", "… and pauses it", (*trigger).pause},
	{"subscription.cancel_scheduled", "… and cancels it at its period's end", (*trigger).cancelLater},
	{"subscription.canceled", "… and cancels it at once", (*trigger).cancelNow},
	{"subscription.dunning", "… with a card that fails, and moves the clock past its period", (*trigger).dun},
	{"subscription.expired", "… and on past the last attempt to charge it", (*trigger).expire},
	{"usage.threshold_reached", "sells a subscription, reports use over an alert and moves the clock", (*trigger).reach},
	{"usage_credit.granted", "sells prepaid use", (*trigger).prepay},
	{"usage_credit.low", "… and has an invoice use most of it", (*trigger).usePrepaid},
	{"usage_credit.ended", "… and moves the clock until it expires", (*trigger).expirePrepaid},
	{"invoice.created", "charges a customer an invoice", (*trigger).invoice},
	{"invoice.finalized", "the same", (*trigger).invoice},
	{"invoice.paid", "the same", (*trigger).invoice},
	{"invoice.payment_failed", "the same, with a card that fails", (*trigger).invoiceFails},
	{"refund.created", "sells something and refunds it", (*trigger).refund},
	{"dispute.opened", "sells something with a card whose payment is disputed", (*trigger).dispute},
	{"dispute.closed", "… and accepts the dispute", (*trigger).acceptDispute},
	{"payout.paid", "sells something, moves the clock eight days and pays out", (*trigger).payOut},
	{"appointment.booked", "books an appointment", (*trigger).book},
	{"appointment.rescheduled", "… and moves it", (*trigger).reschedule},
	{"appointment.canceled", "… and cancels it", (*trigger).cancelAppointment},
	{"appointment.outcome_recorded", "… moves the clock to it and says that it took place", (*trigger).attend},
}

// trigger makes an event through the public API of a sandbox.
type trigger struct {
	api     *publicAPI
	kind    kind
	listing string // catalog key; "" = the first that can be sold
}

// TriggerTypes lists the events that trigger makes.
func TriggerTypes() []string {
	types := make([]string, len(kinds))
	for i, k := range kinds {
		types[i] = k.event
	}
	return types
}

func triggerUsage() string {
	var text strings.Builder
	text.WriteString("usage: sundry trigger TYPE [--listing KEY] [--api URL] [--key sk_test_…]\n\n" +
		"Makes an event in the sandbox, with what the account sells or the listing of --listing. Types:\n")
	columns := tabwriter.NewWriter(&text, 0, 0, 3, ' ', 0)
	for _, k := range kinds {
		_, _ = fmt.Fprintf(columns, "  %s\t%s\n", k.event, k.does) // a strings.Builder never fails
	}
	_ = columns.Flush()
	return text.String()
}

func newTrigger(args []string) (*trigger, error) {
	t := &trigger{}
	flags := flag.NewFlagSet("trigger", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	t.api = apiFlags(flags)
	flags.StringVar(&t.listing, "listing", "", "")
	if len(args) == 0 {
		return nil, errors.New(triggerUsage())
	}
	at := slices.IndexFunc(kinds, func(k kind) bool { return k.event == args[0] })
	if at < 0 {
		return nil, fmt.Errorf("unknown event type %q\n\n%s", args[0], triggerUsage())
	}
	t.kind = kinds[at]
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
	if err := t.kind.make(t, ctx); err != nil {
		return fmt.Errorf("trigger %s: %w", t.kind.event, err)
	}
	_, err := fmt.Fprintln(out, t.kind.event, "triggered")
	return err
}

type object = map[string]any

// receipt holds the members of a paid session that trigger reads.
type receipt struct {
	PaymentID, SubscriptionID, CustomerID string
	Appointments                          []struct{ ID string }
}

// newName returns a name that nothing has yet.
func newName(prefix string) string { return prefix + strings.ToLower(rand.Text()[:8]) }

func (t *trigger) get(ctx context.Context, path string, out any) error {
	return t.api.call(ctx, http.MethodGet, path, nil, out)
}

func (t *trigger) post(ctx context.Context, path string, body object, out any) error {
	if body == nil {
		return t.api.call(ctx, http.MethodPost, path, nil, out)
	}
	return t.api.call(ctx, http.MethodPost, path, body, out)
}
