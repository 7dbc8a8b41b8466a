package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"sundry/core/apiformat"
	"sundry/core/fault"
	"sundry/core/listingtype"
)

// offer is an open session of a listing.
type offer struct {
	ID, VariantID string
	TotalInCents  int64
	listing       listed
}

// buy sells a listing that is sold in one of the ways and pays it: one that costs something now, where there is one.
func (t *trigger) buy(ctx context.Context, card string, ways ...func(listingtype.Type) bool) (r receipt, err error) {
	var types []listingtype.Type
	for _, sold := range ways {
		types = append(types, typesThat(sold)...)
	}
	sold, err := t.offer(ctx, card == cardDisputed, types)
	if err != nil {
		return r, err
	}
	body := object{"cardNumber": card, "country": "IE"}
	if sold.listing.Type.Bookable() {
		body["answers"] = sold.listing.answers()
		if body["appointmentSlots"], err = t.slots(ctx, sold.listing, sold.VariantID, ""); err != nil {
			return r, err
		}
	}
	err = t.post(ctx, "/v1/sandbox/checkout-sessions/"+sold.ID+"/pay", body, &r)
	return r, err
}

// offer opens a session of a listing of one of the types. Public listings may be of other accounts: those are not
// found. What costs nothing now is the last choice, and none where it has to be paid.
func (t *trigger) offer(ctx context.Context, paid bool, types []listingtype.Type) (free offer, err error) {
	for _, kind := range types {
		found, err := t.candidates(ctx, kind)
		if err != nil {
			return free, err
		}
		for _, l := range found {
			opened := offer{listing: l}
			err := t.post(ctx, "/v1/checkout-sessions", object{
				"listingId": l.ID, "externalCustomerId": newName("trigger-"), "email": "buyer@example.com",
				"successUrl": "http://localhost/success", "cancelUrl": "http://localhost/cancel",
			}, &opened)
			switch {
			case refusalStatus(err) == http.StatusNotFound:
			case err != nil, opened.TotalInCents > 0:
				return opened, err
			case free.ID == "":
				free = opened
			}
		}
	}
	if free.ID != "" && !paid {
		return free, nil
	}
	return free, t.sellsNone(types)
}

// sellsNone is the error of an account that sells no listing of the types.
func (t *trigger) sellsNone(types []listingtype.Type) error {
	names := make([]string, len(types))
	for i, kind := range types {
		names[i] = string(kind)
	}
	wanted := strings.Join(names, " or ")
	if t.listing != "" {
		return fmt.Errorf("the account sells no listing %s of type %s", t.listing, wanted)
	}
	return fmt.Errorf("the account sells no listing of type %s; make one, or name one with --listing", wanted)
}

// candidates lists the listings of a type that may be the account's: the one of --listing, or the newest ones.
func (t *trigger) candidates(ctx context.Context, kind listingtype.Type) ([]listed, error) {
	if t.listing == "" {
		var found struct{ Data []listed }
		err := t.get(ctx, "/v1/listings?limit=100&type="+string(kind), &found)
		return found.Data, err
	}
	var catalog struct{ Listings []struct{ Key, Slug string } }
	if err := t.get(ctx, "/v1/catalog", &catalog); err != nil {
		return nil, err
	}
	for _, l := range catalog.Listings {
		if l.Key != t.listing {
			continue
		}
		var found listed
		err := t.get(ctx, "/v1/listings/"+url.PathEscape(l.Slug), &found)
		switch {
		case refusalStatus(err) == http.StatusNotFound:
		case err != nil, found.Type == kind:
			return []listed{found}, err
		}
	}
	return nil, nil
}

// typesThat lists the types of listings that are sold in a way.
func typesThat(sold func(listingtype.Type) bool) []listingtype.Type {
	return slices.DeleteFunc(listingtype.All(), func(t listingtype.Type) bool { return !sold(t) })
}

// recurring reports whether a listing renews.
func recurring(t listingtype.Type) bool { return t.Recurring() }

// once reports whether a listing is paid for once and needs no chosen time.
func once(t listingtype.Type) bool { return !t.Recurring() && !t.Bookable() }

func (t *trigger) pay(ctx context.Context) error {
	_, err := t.buy(ctx, cardPays, once, recurring)
	return err
}

func (t *trigger) grant(ctx context.Context) error {
	return t.post(ctx, "/v1/customer-access/"+newName("trigger-")+"/grants", object{
		"entitlements": []object{{"key": "triggered", "type": "boolean", "value": true}}, "note": "sundry trigger",
	}, nil)
}

func (t *trigger) subscribe(ctx context.Context) error {
	_, err := t.subscription(ctx, cardPays)
	return err
}

// subscription sells one and returns its id.
func (t *trigger) subscription(ctx context.Context, card string) (id string, err error) {
	r, err := t.buy(ctx, card, recurring)
	return r.SubscriptionID, err
}

func (t *trigger) pause(ctx context.Context) error { return t.withSubscription(ctx, "/pause", nil) }

func (t *trigger) cancelLater(ctx context.Context) error {
	return t.withSubscription(ctx, "/cancel", object{"atPeriodEnd": true})
}

func (t *trigger) cancelNow(ctx context.Context) error {
	return t.withSubscription(ctx, "/cancel", object{"atPeriodEnd": false})
}

func (t *trigger) withSubscription(ctx context.Context, action string, body object) error {
	id, err := t.subscription(ctx, cardPays)
	if err != nil {
		return err
	}
	return t.post(ctx, "/v1/subscriptions/"+id+action, body, nil)
}

func (t *trigger) renew(ctx context.Context) error { return t.afterPeriod(ctx, cardPays, time.Minute) }

func (t *trigger) dun(ctx context.Context) error { return t.afterPeriod(ctx, cardFails, time.Minute) }

// expire moves past the last of the attempts to charge, 21 days after the first.
func (t *trigger) expire(ctx context.Context) error {
	return t.afterPeriod(ctx, cardFails, 22*24*time.Hour)
}

// afterPeriod sells a subscription and moves the clock past the end of its period.
func (t *trigger) afterPeriod(ctx context.Context, card string, by time.Duration) error {
	id, err := t.subscription(ctx, card)
	if err != nil {
		return err
	}
	var sold struct{ CurrentPeriodEnd time.Time }
	if err := t.get(ctx, "/v1/subscriptions/"+id, &sold); err != nil {
		return err
	}
	return t.advanceTo(ctx, sold.CurrentPeriodEnd.Add(by))
}

// advanceTo moves the account's clock, in as many requests as that takes.
func (t *trigger) advanceTo(ctx context.Context, to time.Time) error {
	for {
		var moved struct{ Done bool }
		err := t.post(ctx, "/v1/sandbox/clock/advance", object{"to": apiformat.Instant(to)}, &moved)
		if err != nil || moved.Done {
			return err
		}
	}
}

// advance moves the account's clock from where it is.
func (t *trigger) advance(ctx context.Context, by time.Duration) error {
	now, err := t.now(ctx)
	if err != nil {
		return err
	}
	return t.advanceTo(ctx, now.Add(by))
}

// now is the time of the account's clock.
func (t *trigger) now(ctx context.Context) (time.Time, error) {
	var clock struct{ Now time.Time }
	err := t.get(ctx, "/v1/sandbox/clock", &clock)
	return clock.Now.UTC(), err
}

func (t *trigger) refund(ctx context.Context) error {
	r, err := t.buy(ctx, cardPays, once)
	if err != nil {
		return err
	}
	return t.post(ctx, "/v1/refunds", object{"paymentId": r.PaymentID, "reason": "requested_by_customer"}, nil)
}

func (t *trigger) dispute(ctx context.Context) error {
	_, err := t.buy(ctx, cardDisputed, once)
	return err
}

func (t *trigger) acceptDispute(ctx context.Context) error {
	r, err := t.buy(ctx, cardDisputed, once)
	if err != nil {
		return err
	}
	for range disputeTries {
		var found struct{ Data []struct{ ID string } }
		if err := t.advance(ctx, time.Second); err != nil {
			return err
		}
		if err := t.get(ctx, "/v1/disputes?paymentId="+r.PaymentID, &found); err != nil {
			return err
		}
		if len(found.Data) > 0 {
			return t.post(ctx, "/v1/disputes/"+found.Data[0].ID+"/accept", nil, nil)
		}
	}
	return errors.New("the payment is not disputed")
}

// disputeTries bounds how often a dispute is looked for: a busy worker may not have finished opening it.
const disputeTries = 20

// payoutSales bounds how many sales trigger makes for one payout, which has a minimum.
const payoutSales = 25

// payOut pays out what is available once sales of this moment are: as many as it takes.
func (t *trigger) payOut(ctx context.Context) error {
	for sales := 1; ; sales++ {
		if _, err := t.buy(ctx, cardPays, once); err != nil {
			return err
		}
		if err := t.advance(ctx, 8*24*time.Hour); err != nil {
			return err
		}
		err := t.payOutMost(ctx)
		var refused *apiError
		if !errors.As(err, &refused) || refused.Code != string(fault.InsufficientBalance) || sales == payoutSales {
			return err
		}
	}
}

// payOutMost pays out the largest available balance.
func (t *trigger) payOutMost(ctx context.Context) error {
	type funds struct {
		Currency         string
		AvailableInCents int64
	}
	var balance struct{ Data []funds }
	if err := t.get(ctx, "/v1/balance", &balance); err != nil {
		return err
	}
	if len(balance.Data) == 0 {
		return errors.New("the account has no money to pay out")
	}
	most := slices.MaxFunc(balance.Data, func(a, b funds) int {
		return cmp.Compare(a.AvailableInCents, b.AvailableInCents)
	})
	if err := t.post(ctx, "/v1/payouts", object{"currency": most.Currency}, nil); err != nil {
		return err
	}
	return t.advance(ctx, time.Second)
}

func (t *trigger) invoice(ctx context.Context) error { return t.invoiceWith(ctx, cardPays) }

func (t *trigger) invoiceFails(ctx context.Context) error {
	err := t.invoiceWith(ctx, cardFails)
	if refusalStatus(err) == http.StatusPaymentRequired {
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
