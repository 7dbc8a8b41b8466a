package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"sundry/adapters/gormstore"
	"sundry/adapters/jobs"
	"sundry/ports"
	"sundry/tests/bench/process"
)

const (
	// renewalsBeside is the number of subscriptions of another account that are due, after all of renewalsDue.
	renewalsBeside = 10
	// renewalsAccounts is the number of accounts among which a run of many divides renewalsDue.
	renewalsAccounts = 16
	renewalsWithin   = 10 * time.Minute
	// renewalsSetup is the time for writing the subscriptions before they are due.
	renewalsSetup = time.Minute
)

// renewalsDue counts the subscriptions that are due in the same minute.
var renewalsDue = 10_000

// renewals measures how fast a burst of one account's renewals is charged by one worker and by three, and of many
// accounts by one, and how long another account waits behind it.
func renewals(ctx context.Context, w *fixture) (string, error) {
	many, err := w.renew(ctx, renewalsAccounts)
	if err != nil {
		return "", err
	}
	alone, err := w.renew(ctx, 1)
	if err != nil {
		return "", err
	}
	stop, err := w.moreWorkers(ctx, 2)
	if err != nil {
		return "", err
	}
	defer stop()
	three, err := w.renew(ctx, 1)
	return fmt.Sprintf("%s; three workers: %s; of %d accounts: %s", alone, three, renewalsAccounts, many), err
}

// renew makes a burst of renewals of some accounts due at once, and measures how fast it is charged and when those of
// one more account are done, which fall due right after it.
func (w *fixture) renew(ctx context.Context, accounts int) (string, error) {
	due := time.Now().UTC().Truncate(time.Millisecond).Add(renewalsSetup)
	each := max(renewalsDue/accounts, 1)
	burst := make([]string, accounts)
	for i := range burst {
		var err error
		if burst[i], err = w.subscribers(ctx, each, due); err != nil {
			return "", err
		}
	}
	beside, err := w.subscribers(ctx, renewalsBeside, due.Add(time.Millisecond))
	if err != nil {
		return "", err
	}
	if late := time.Since(due); late > 0 {
		return "", fmt.Errorf("writing the subscriptions took %s longer than expected", late)
	}
	time.Sleep(time.Until(due))
	var all time.Time
	for _, account := range burst {
		last, err := w.awaitRenewed(ctx, account, each)
		if err != nil {
			return "", err
		}
		if last.After(all) {
			all = last
		}
	}
	others, err := w.awaitRenewed(ctx, beside, renewalsBeside)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%.0f/s, another account's %d after %.1f s of %.1f s",
		float64(accounts*each)/all.Sub(due).Seconds(), renewalsBeside, others.Sub(due).Seconds(), all.Sub(due).Seconds()), nil
}

// subscribers makes an account with n customers whose monthly subscriptions fall due at an instant.
func (w *fixture) subscribers(ctx context.Context, n int, due time.Time) (creatorID string, err error) {
	s, err := w.newClub()
	if err != nil {
		return "", err
	}
	m, err := w.modelSale(s, "bench-renewals", subscriptionTables)
	if err != nil {
		return "", err
	}
	if err := w.copySale(m, n); err != nil {
		return "", err
	}
	const begin = `UPDATE subscriptions SET anchor = $3, current_period_start = $3, current_period_end = $4 WHERE creator_id = $1 AND id <> $2 RETURNING id`
	rows, err := w.pool.Query(ctx, begin, m.creatorID, m.SubscriptionID, due.AddDate(0, -1, 0).UnixMilli(),
		due.UnixMilli())
	if err != nil {
		return "", err
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return "", err
	}
	return m.creatorID, w.schedule(ctx, m.creatorID, ids, due)
}

// schedule enters the tasks that renew the subscriptions.
func (w *fixture) schedule(ctx context.Context, creatorID string, subscriptions []string, due time.Time) error {
	store, err := gormstore.Open(ctx, w.pool.Config().ConnString(),
		gormstore.TaskClasses(func(string) ports.TaskClass { return ports.PaymentTasks }),
		gormstore.TaskKeys(func(_, _, creatorID string) string { return jobs.AccountGroup(creatorID) }))
	if err != nil {
		return err
	}
	for batch := range slices.Chunk(subscriptions, 500) {
		err = errors.Join(err, store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
			for _, id := range batch {
				if err := r.Tasks.Schedule(ctx, "subscription.due", id, creatorID, due); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	return errors.Join(err, store.Close())
}

// awaitRenewed waits until an account has n renewals and returns when the last was charged. Each has taken a receipt
// number after those of the n copied sales and the one that was copied, whose row costs next to nothing to ask for.
func (w *fixture) awaitRenewed(ctx context.Context, creatorID string, n int) (time.Time, error) {
	for end := time.Now().Add(renewalsWithin); time.Now().Before(end) &&
		ctx.Err() == nil; time.Sleep(50 * time.Millisecond) {
		var numbered int
		err := w.pool.QueryRow(ctx, "SELECT MAX(last) FROM document_numbers WHERE creator_id = $1", creatorID).Scan(&numbered)
		if err != nil {
			return time.Time{}, err
		}
		if numbered > 2*n {
			var last int64
			err := w.pool.QueryRow(ctx, "SELECT MAX(settled_at) FROM payments WHERE creator_id = $1", creatorID).Scan(&last)
			return time.UnixMilli(last), err
		}
	}
	return time.Time{}, errors.Join(fmt.Errorf("fewer than %d renewals within %s", n, renewalsWithin), ctx.Err())
}

// moreWorkers starts n more processes that only work.
func (w *fixture) moreWorkers(ctx context.Context, n int) (stop func(), err error) {
	var started []*process.Sundry
	stop = func() {
		for _, p := range started {
			p.End()
		}
	}
	for range n {
		p, err := process.StartSundry(ctx, w.binary, "worker", w.vars...)
		if err != nil {
			stop()
			return nil, err
		}
		started = append(started, p)
	}
	return stop, nil
}
