package bootstrap

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sundry/adapters/jobs"
	"sundry/ports"
)

const (
	// retimeEvery is the pause between two alignments of due times with the clocks of the accounts.
	retimeEvery = 30 * time.Second
	// verifyEvery is the pause between two regular checks of the invariants, verifyAllEvery between two of everything.
	verifyEvery    = 10 * time.Minute
	verifyFirst    = 5 * time.Second
	verifyAllEvery = 24 * time.Hour
	verifyAllFirst = time.Hour
	// retentionEvery is the pause between two deletions of old rows. retentionFirst delays the first one after a start.
	retentionEvery = 6 * time.Hour
	retentionFirst = 10 * time.Minute
	// What is kept, and for how long; EVENT_RETENTION_DAYS and USAGE_RETENTION_DAYS set it for events and reports of use.
	keepDeliveries = 30 * 24 * time.Hour
	keepSessions   = 90 * 24 * time.Hour
	keepMailBodies = 90 * 24 * time.Hour
	keepRequests   = 30 * 24 * time.Hour
	keepImages     = 90 * 24 * time.Hour
	// recoverEvery is the pause between two searches for attempts that nobody settles any more.
	recoverEvery = 10 * time.Second
	// flushEvery is the pause between two counts of usage reports, and partitionEvery the one between two creations of the
	// partitions of the next months.
	flushEvery     = time.Minute
	partitionEvery = 12 * time.Hour
	// sumEvery is the pause between two additions of new postings to the stored balances and figures. figuresFirst delays
	// the first of figures after a start, at which there may be a whole history to add up.
	sumEvery     = time.Hour
	figuresFirst = time.Minute
	// shortRun bounds a sweep of what is recent, and longRun one that may have a whole history before it. The next goes
	// on where one was ended.
	shortRun = 5 * time.Minute
	longRun  = time.Hour
)

// sweep does, in one process of all, what is periodic.
func (a *App) sweep(ctx context.Context) {
	a.store.RunAsLeader(ctx, "sweeps", func(ctx context.Context) {
		defer a.invariants.forget() // the next leader's word counts
		defer a.recurring.forget()
		jobs.RunSweeps(ctx, a.log,
			jobs.Sweep{Name: "unsettled payments", Every: recoverEvery, Limit: shortRun,
				Do: a.modules.Attempts.Recover},
			jobs.Sweep{Name: "usage flush", Every: flushEvery, Limit: longRun, Do: a.modules.Usage.Flush},
			jobs.Sweep{Name: "usage partitions", Every: partitionEvery, Limit: shortRun,
				Do: a.modules.Usage.MakePartitions},
			jobs.Sweep{Name: "retention", First: retentionFirst, Every: retentionEvery, Limit: longRun,
				Do: a.deleteOld},
			jobs.Sweep{Name: "uploads", First: retentionFirst, Every: retentionEvery, Limit: longRun,
				Do: a.modules.Files.SweepUploads},
			jobs.Sweep{Name: "balances", First: sumEvery, Every: sumEvery, Limit: longRun,
				Do: func(ctx context.Context) error { return a.store.SumBalances(ctx, a.clock.Real()) }},
			jobs.Sweep{Name: "figures", First: figuresFirst, Every: sumEvery, Limit: longRun,
				Do: func(ctx context.Context) error { return a.store.SumDays(ctx, a.clock.Real()) }},
			jobs.Sweep{Name: "movements", First: flushEvery, Every: flushEvery, Limit: longRun,
				Do: a.modules.Subscriptions.SumMovements},
			jobs.Sweep{Name: "retime", Every: retimeEvery, Limit: shortRun, Do: func(ctx context.Context) error {
				return a.store.Retime(ctx, "")
			}},
			jobs.Sweep{Name: "verify", First: verifyFirst, Every: verifyEvery, Limit: shortRun,
				Do: a.verifyIntoMetrics(a.verifyRecent, false)},
			jobs.Sweep{Name: "recurring revenue", First: verifyFirst, Every: verifyEvery, Limit: shortRun,
				Do: a.countRecurring},
			jobs.Sweep{Name: "verify all", First: verifyAllFirst, Every: verifyAllEvery, Limit: longRun,
				Do: a.verifyIntoMetrics(a.verifyAll, true)})
	})
}

// deleteOld deletes what nobody needs any more. Its times are real ones, as those of ids are.
func (a *App) deleteOld(ctx context.Context) error {
	now := a.clock.Real()
	return a.store.DeleteOld(ctx, ports.Retention{
		Deliveries: now.Add(-keepDeliveries), Events: now.AddDate(0, 0, -a.cfg.EventRetentionDays),
		Sessions:   now.Add(-keepSessions),
		MailBodies: now.Add(-keepMailBodies), Requests: now.Add(-keepRequests), Images: now.Add(-keepImages),
		Usage: now.AddDate(0, 0, -a.cfg.UsageRetentionDays), Now: now,
	})
}

// verifyIntoMetrics shows what a check of the invariants found; all means that it covers everything.
func (a *App) verifyIntoMetrics(check func(context.Context) ([]violations, error),
	all bool) func(context.Context) error {
	return func(ctx context.Context) error {
		began := time.Now()
		areas, err := check(ctx)
		if err != nil {
			return fmt.Errorf("check the invariants: %w", err)
		}
		found := map[string]int{}
		for _, v := range areas {
			found[v.area] += len(v.lines)
			if len(v.lines) > 0 {
				a.log.ErrorContext(ctx, "invariants are violated", slog.String("area", v.area),
					slog.Int("violations", len(v.lines)), slog.String("first", v.lines[0]))
			}
		}
		a.invariants.note(all, verified{found, time.Now(), time.Since(began)})
		return nil
	}
}

// verified is the result of one check.
type verified struct {
	found map[string]int // by area
	at    time.Time      // zero: never
	took  time.Duration
}

// invariants keeps the results of the last check of recent rows, and of the last of all rows. Only the process that
// checks shows them.
type invariants struct {
	violations *prometheus.Desc
	checkedAt  *prometheus.Desc
	took       *prometheus.Desc

	mu          sync.Mutex
	recent, all verified
}

func newInvariants() *invariants {
	scope := []string{"scope"}
	return &invariants{
		violations: prometheus.NewDesc("sundry_invariant_violations", "Violations that the last checks of the invariants "+
			"found, by area (sundry verify lists them).", []string{"area"}, nil),
		checkedAt: prometheus.NewDesc("sundry_invariants_checked_timestamp_seconds", "When the last check ended.", nil, nil),
		took: prometheus.NewDesc("sundry_invariants_check_duration_seconds", "How long the last check took, of what "+
			"is recent and of all.", scope, nil),
	}
}

func (i *invariants) note(all bool, v verified) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if all {
		i.all = v
	} else {
		i.recent = v
	}
}

func (i *invariants) forget() {
	i.note(false, verified{})
	i.note(true, verified{})
}

// Describe implements prometheus.Collector.
func (i *invariants) Describe(out chan<- *prometheus.Desc) {
	out <- i.violations
	out <- i.checkedAt
	out <- i.took
}

// Collect implements prometheus.Collector. What the check of everything found is shown until the next such check.
func (i *invariants) Collect(out chan<- prometheus.Metric) {
	i.mu.Lock()
	defer i.mu.Unlock()
	last := i.recent.at
	if i.all.at.After(last) {
		last = i.all.at
	}
	if last.IsZero() {
		return
	}
	areas := maps.Clone(i.recent.found)
	if areas == nil {
		areas = map[string]int{}
	}
	for area, n := range i.all.found {
		areas[area] = max(areas[area], n)
	}
	for area, n := range areas {
		out <- prometheus.MustNewConstMetric(i.violations, prometheus.GaugeValue, float64(n), area)
	}
	out <- prometheus.MustNewConstMetric(i.checkedAt, prometheus.GaugeValue, float64(last.Unix()))
	for scope, v := range map[string]verified{"recent": i.recent, "all": i.all} {
		if !v.at.IsZero() {
			out <- prometheus.MustNewConstMetric(i.took, prometheus.GaugeValue, v.took.Seconds(), scope)
		}
	}
}
