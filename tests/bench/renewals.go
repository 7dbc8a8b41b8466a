package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"sundry/adapters/gormstore"
	"sundry/adapters/jobs"
	"sundry/bootstrap"
	"sundry/core/identity"
	"sundry/ports"
)

const (
	// renewalsBeside is how many subscriptions of another account are due, after all of renewalsDue.
	renewalsBeside = 10
	renewalsWithin = 10 * time.Minute
	// renewalsSetup is how long writing the subscriptions may take before they are due.
	renewalsSetup = time.Minute
)

// renewalsDue is how many subscriptions of one account are due in the same minute.
var renewalsDue = 10_000

// renewals measures how fast a burst of renewals is charged by one worker and by three, and how long another account waits
// behind it.
func renewals(ctx context.Context, w *fixture) (string, error) {
	model, err := w.subscribed()
	if err != nil {
		return "", err
	}
	alone, err := w.renew(ctx, model, 0)
	if err != nil {
		return "", err
	}
	stop, err := w.moreWorkers(ctx, 2)
	if err != nil {
		return "", err
	}
	three, err := w.renew(ctx, model, 1)
	return fmt.Sprintf("%s; three workers: %s", alone, three), errors.Join(err, stop())
}

// subscribed buys one monthly plan and returns the subscription.
func (w *fixture) subscribed() (id string, err error) {
	var listings struct{ Data []struct{ ID string } }
	if err := w.call("GET", "/v1/listings?type=SUBSCRIPTION", nil, &listings); err != nil {
		return "", err
	}
	if len(listings.Data) == 0 {
		return "", errors.New("the demo shop sells no subscription")
	}
	var session, receipt map[string]any
	err = w.call("POST", "/v1/checkout-sessions", map[string]any{
		"listingId": listings.Data[0].ID, "externalCustomerId": "bench-renewals", "successUrl": "https://shop.example/thanks",
	}, &session)
	if err != nil {
		return "", err
	}
	err = w.call("POST", fmt.Sprintf("/v1/sandbox/checkout-sessions/%s/pay", session["id"]),
		map[string]any{"cardNumber": "4242424242424242", "email": "grace@example.com"}, &receipt)
	id, _ = receipt["subscriptionId"].(string)
	if err == nil && id == "" {
		err = fmt.Errorf("the receipt names no subscription: %v", receipt)
	}
	return id, err
}

// renew makes a burst of renewals due at once, and measures how fast it is charged and when the other account's are done.
func (w *fixture) renew(ctx context.Context, model string, turn int) (string, error) {
	store, err := gormstore.Open(ctx, w.pool.Config().ConnString(),
		gormstore.TaskClasses(func(string) ports.TaskClass { return ports.PaymentTasks }),
		gormstore.TaskKeys(func(_, _, creatorID string) string { return jobs.AccountGroup(creatorID) }))
	if err != nil {
		return "", err
	}
	defer func() { _ = store.Close() }() // it only wrote what was committed
	first := turn * 2 * renewalsDue
	due := time.Now().UTC().Truncate(time.Millisecond).Add(renewalsSetup)
	burst, err := clone(ctx, store, model, "", first, renewalsDue, due)
	if err != nil {
		return "", err
	}
	beside, err := clone(ctx, store, model, fmt.Sprintf("crt_%026d", turn), first+renewalsDue, renewalsBeside, due.Add(time.Millisecond))
	if err != nil {
		return "", err
	}
	if late := time.Since(due); late > 0 {
		return "", fmt.Errorf("writing the subscriptions took %s longer than expected", late)
	}
	time.Sleep(time.Until(due))
	all, err := w.awaitRenewed(ctx, burst, renewalsDue)
	if err != nil {
		return "", err
	}
	others, err := w.awaitRenewed(ctx, beside, renewalsBeside)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%.0f/s, another account's %d after %.1f s of %.1f s",
		float64(renewalsDue)/all.Sub(due).Seconds(), renewalsBeside, others.Sub(due).Seconds(), all.Sub(due).Seconds()), nil
}

// clone writes n subscriptions like the model, each with a customer and a card, that fall due at an instant. They are those
// of the model's account, or of another, which is made.
func clone(ctx context.Context, store *gormstore.Store, model, account string, from, n int, due time.Time) (creatorID string, err error) {
	r := store.Read(ctx)
	sub, err := r.Subscriptions.Subscriptions.Get(ctx, model)
	if err != nil {
		return "", err
	}
	buyer, err := r.Customers.Customers.Get(ctx, sub.CustomerID)
	if err != nil {
		return "", err
	}
	card, err := r.Payments.PaymentMethods.Get(ctx, sub.PaymentMethodID)
	if err != nil {
		return "", err
	}
	if account != "" {
		err := store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
			owner, err := r.Identity.Creators.Get(ctx, sub.CreatorID)
			if err != nil {
				return err
			}
			s := owner.State()
			s.ID, s.Email = account, account+"@example.com"
			return r.Identity.Creators.Insert(ctx, identity.RestoreCreator(s))
		})
		if err != nil {
			return "", err
		}
		sub.CreatorID, buyer.CreatorID, card.CreatorID = account, account, account
	}
	sub.Anchor, sub.CurrentPeriodStart, sub.CurrentPeriodEnd = due.AddDate(0, -1, 0), due.AddDate(0, -1, 0), due
	const batch = 500
	for at := from; at < from+n; at += batch {
		err := store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
			for i := at; i < min(at+batch, from+n); i++ {
				number := fmt.Sprintf("_%026d", i)
				buyer.ID, buyer.ExternalCustomerID = "cus"+number, fmt.Sprint("bench-", i)
				buyer.Email = buyer.ExternalCustomerID + "@example.com" // one recipient gets only so many mails an hour
				card.ID, card.CustomerID = "pm"+number, buyer.ID
				sub.ID, sub.CheckoutID, sub.CustomerID, sub.PaymentMethodID = "sub"+number, "cs"+number, buyer.ID, card.ID
				sub.ExternalCustomerID = buyer.ExternalCustomerID
				err := errors.Join(r.Customers.Customers.Insert(ctx, buyer), r.Payments.PaymentMethods.Insert(ctx, card),
					r.Subscriptions.Subscriptions.Insert(ctx, sub), r.Tasks.Schedule(ctx, "subscription.due", sub.ID, sub.CreatorID, due))
				if err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return "", err
		}
	}
	return sub.CreatorID, nil
}

// awaitRenewed waits until an account has n renewals more than before and returns when the last was charged.
func (w *fixture) awaitRenewed(ctx context.Context, creatorID string, n int) (time.Time, error) {
	w.renewed[creatorID] += n
	for end := time.Now().Add(renewalsWithin); time.Now().Before(end) && ctx.Err() == nil; time.Sleep(50 * time.Millisecond) {
		var done int
		var last int64
		err := w.pool.QueryRow(ctx, `SELECT COUNT(*), COALESCE(MAX(p.settled_at), 0) FROM subscription_periods b JOIN payments p ON p.id = b.payment_id
			WHERE b.creator_id = $1`, creatorID).Scan(&done, &last)
		if err != nil {
			return time.Time{}, err
		}
		if done >= w.renewed[creatorID] {
			return time.UnixMilli(last), nil
		}
	}
	return time.Time{}, errors.Join(fmt.Errorf("fewer than %d renewals within %s", n, renewalsWithin), ctx.Err())
}

// moreWorkers starts n more processes' worth of workers.
func (w *fixture) moreWorkers(ctx context.Context, n int) (stop func() error, err error) {
	running, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	apps := make([]*bootstrap.App, 0, n)
	failures := make([]error, n)
	for i := range n {
		app, err := bootstrap.New(ctx, w.cfg, slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})))
		if err != nil {
			cancel()
			return nil, err
		}
		apps = append(apps, app)
		wg.Go(func() { failures[i] = app.Run(running, bootstrap.Work) })
	}
	return func() error {
		cancel()
		wg.Wait()
		all := errors.Join(failures...)
		for _, app := range apps {
			all = errors.Join(all, app.Close())
		}
		return all
	}, nil
}
