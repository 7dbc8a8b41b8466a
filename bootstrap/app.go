// Package bootstrap puts the program together: which adapter fills which port, which module subscribes to which event,
// and what starts and stops in which order.
package bootstrap

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/redis/go-redis/v9"

	"sundry/adapters/gormstore"
	"sundry/adapters/jobs"
	"sundry/adapters/keyring"
	"sundry/adapters/system"
	"sundry/adapters/telemetry"
	"sundry/config"
	"sundry/core/id"
	"sundry/modules/access"
	"sundry/modules/booking"
	"sundry/modules/catalog"
	"sundry/modules/checkout"
	"sundry/modules/customers"
	"sundry/modules/directory"
	"sundry/modules/files"
	"sundry/modules/idempotency"
	"sundry/modules/identity"
	"sundry/modules/images"
	"sundry/modules/imports"
	"sundry/modules/invoicing"
	"sundry/modules/operator"
	"sundry/modules/payments"
	"sundry/modules/requestlog"
	"sundry/modules/sandbox"
	"sundry/modules/subscriptions"
	"sundry/modules/tasks"
	"sundry/modules/treasury"
	"sundry/modules/usage"
	"sundry/modules/webhooks"
	"sundry/ports"
)

// App is the wired program.
type App struct {
	cfg       config.Config
	log       *slog.Logger
	store     *gormstore.Store
	redis     *redis.Client   // nil without REDIS_URL
	tracer    ports.Tracer    // nil where nothing is traced
	directory ports.Directory // nil where there is one cell
	clock     ports.Clock
	ids       ports.IDs
	keys      *keyring.Ring
	mux       *jobs.Mux
	metrics   *prometheus.Registry
	exported  *telemetry.Metrics // nil where metrics are not sent
	bus       *bus
	limiter   ports.RateLimiter
	standing  *operator.Service
	adapters  Options
	providers ports.Providers
	modules   modules
	http      *fiber.App
	// operations is served on METRICS_ADDR when that is set.
	operations *fiber.App
	// outdated is closed when a later version has taken from the schema what this one may use.
	outdated chan struct{}
	// stopping is closed when the program is asked to stop, for requests that wait.
	stopping chan struct{}
	// maintenance are the kinds of the platform's own periodic tasks.
	maintenance []string
	// verifiers each check one module's invariants.
	verifiers []verifier
	// manyRows is true once the regular check of all rows has taken too long.
	manyRows bool
	// invariants contains the results of the last checks.
	invariants *invariants
	// recurring contains the subscriptions that were counted last.
	recurring *recurring
	// wake is called after a commit that scheduled work due now; nil until the process is ready.
	wake atomic.Pointer[func(classes ...ports.TaskClass)]
	// closers run in reverse order of what they close.
	closers []func() error
	// opened are the addresses that Listen has opened and Run is to serve.
	opened []opened
	// listeners close idle connections when the program stops.
	listeners []*listener
	stopped   bool // nothing is served from now on
	listening sync.Mutex
}

// modules are the use cases.
type modules struct {
	Directory     *directory.Service
	Identity      *identity.Service
	Catalog       *catalog.Service
	CatalogFiles  *catalog.Transfer
	Imports       *imports.Service
	Booking       *booking.Service
	Cancellations *booking.Cancellations
	Checkout      *checkout.Service
	Access        *access.Service
	Webhooks      *webhooks.Service
	Idempotency   *idempotency.Service
	Requests      *requestlog.Service
	Images        *images.Service
	Files         *files.Service
	TaskAdmin     *tasks.Service
	Sandbox       *sandbox.Service // nil in live
	Treasury      *treasury.Service
	Customers     *customers.Service
	Payments      *payments.Service
	Attempts      *payments.Attempts
	Inbox         *payments.Inbox
	Subscriptions *subscriptions.Service
	Refunds       *payments.Refunds
	Disputes      *payments.Disputes
	Usage         *usage.Service
	Invoicing     *invoicing.Service
	Documents     *invoicing.Documents
	Operator      *operator.Service

	Reconciliation *payments.Reconciliation
}

// Role is a part of the program that a process plays.
type Role string

// The roles: one process plays both unless configured otherwise.
const (
	Serve Role = "serve"
	Work  Role = "worker"
)

// New connects, migrates and wires, with the program's own adapters. Close must be called even when Run never is.
func New(ctx context.Context, cfg config.Config, log *slog.Logger, own Options) (app *App, err error) {
	cell := id.Cell(cfg.Cell) //nolint:gosec // config has checked it
	a := &App{cfg: cfg, log: log, ids: system.NewCellIDs(cell), bus: newBus(), metrics: prometheus.NewRegistry(),
		stopping: make(chan struct{}), outdated: make(chan struct{}), invariants: newInvariants(), recurring: newRecurring()}
	a.metrics.MustRegister(a.invariants, a.recurring, buildInfo(Build()), collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	defer func() {
		if err != nil {
			err = errors.Join(err, a.Close())
		}
	}()
	if err = a.openTelemetry(ctx); err != nil {
		return nil, err
	}
	kinds := jobs.NewKinds()
	options := []gormstore.Option{
		gormstore.OnScheduled(a.noteScheduled), gormstore.TaskClasses(kinds.ClassOf),
		gormstore.TaskKeys(kinds.ConcurrencyKey), gormstore.Traced(a.tracer),
		gormstore.InSchema(cfg.DatabaseSchema),
	}
	if a.live() {
		options = append(options, gormstore.RealTime())
	}
	if cfg.DatabaseReadURL != "" {
		options = append(options, gormstore.Standby(cfg.DatabaseReadURL,
			time.Duration(cfg.DatabaseReadLagSeconds)*time.Second))
	}
	a.store, err = gormstore.OpenPooled(ctx, cfg.DatabaseURL, cfg.DatabaseDirectURL, options...)
	if err != nil {
		return nil, err
	}
	a.closers = append(a.closers, a.store.Close)
	if err = a.store.Migrate(ctx); err != nil {
		return nil, err
	}
	if err = a.openKeys(ctx); err != nil {
		return nil, err
	}
	if err = a.store.RaisePositions(ctx); err != nil {
		return nil, err
	}
	if err = a.openDirectory(ctx); err != nil {
		return nil, err
	}
	if err = a.openRedis(); err != nil {
		return nil, err
	}
	a.countBusiness()
	a.clock = system.NewClock(a.store, !a.live())
	a.limiter = a.rateLimiter()
	jobMetrics := jobs.NewMetrics(a.store, a.clock, log)
	a.metrics.MustRegister(jobMetrics)
	a.mux = jobs.NewMux(jobs.MuxDeps{
		Kinds: kinds, Queue: a.store, Clock: a.clock, Metrics: jobMetrics, Log: log, Tracer: a.tracer,
		Workers: jobs.Workers{jobs.Payments: cfg.PaymentWorkers, jobs.Webhooks: cfg.WebhookWorkers,
			jobs.Default: cfg.DefaultWorkers},
	})
	if err = a.openAdapters(own); err != nil {
		return nil, err
	}
	a.modules = a.wire()
	if err = a.mountHTTP(a.modules); err != nil {
		return nil, err
	}
	return a, nil
}

// live reports whether real money moves here.
func (a *App) live() bool { return a.cfg.Live() }

// Handler returns the HTTP application, for tests that need no listener.
func (a *App) Handler() *fiber.App { return a.http }

// Run plays the given roles until ctx ends, then stops within the shutdown time: no new requests, no new tasks; those
// under way finish. It is called once.
func (a *App) Run(ctx context.Context, roles ...Role) error {
	build := Build()
	a.log.InfoContext(ctx, "starting", slog.String("version", build.Version), slog.String("commit", build.Commit),
		slog.String("date", build.Date), slog.String("go", build.Go), slog.Any("roles", roles))
	failed := make(chan error, len(roles)+1)
	stop, err := a.prepare(ctx, roles)
	var once sync.Once
	stopWork := func(deadline context.Context) { once.Do(func() { stop(deadline) }) }
	var logging, watching sync.WaitGroup
	logging.Go(func() { a.writeRequests(a.stopping) })
	ended := make(chan struct{})
	watching.Go(func() { a.keepKeys(a.stopping) })
	watching.Go(func() { a.watchSchema(stopWork) })
	if a.exported != nil {
		logging.Go(func() { a.exported.Run(ended) })
	}
	switch {
	case ctx.Err() != nil: // it was stopped before it was ready, which is no failure
		err = nil
	case err == nil:
		err = a.listen(ctx, failed, roles)
	}
	if err == nil {
		select {
		case <-ctx.Done():
		case err = <-failed:
		}
	}
	close(a.stopping)
	a.closeIdleConns()
	deadline, cancel := context.WithTimeout(context.WithoutCancel(ctx), a.cfg.ShutdownTimeout)
	defer cancel()
	var work sync.WaitGroup
	work.Go(func() { stopWork(deadline) }) // beside the requests, not after them: both may need most of the time
	err = errors.Join(err, a.http.ShutdownWithContext(deadline), a.operations.ShutdownWithContext(deadline),
		a.closeListeners())
	work.Wait()
	close(ended)
	watching.Wait()
	logging.Wait()
	a.flushRequests() // the last ones
	return err
}

// prepare makes the process ready to play its roles. stopWork is never nil.
func (a *App) prepare(ctx context.Context, roles []Role) (stopWork func(context.Context), err error) {
	stopWork = func(context.Context) {}
	if err := a.store.LockProcess(); err != nil {
		return stopWork, err
	}
	a.wakeBy(a.store.NotifyWorkers)
	if err := a.scheduleMaintenance(ctx); err != nil {
		return stopWork, err
	}
	if !slices.Contains(roles, Work) {
		return stopWork, nil
	}
	return a.startWork(), nil
}

// watchSchema stops the work, and lets no request pass from then on, when the schema is no longer one that this version
// can use. The process stays up to say so until it is replaced: a restart would only be refused.
func (a *App) watchSchema(stopWork func(context.Context)) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		select {
		case <-a.stopping:
			cancel()
		case <-ctx.Done():
		}
	}()
	fault := a.store.AwaitSchemaFault(ctx)
	if fault == nil {
		return
	}
	close(a.outdated)
	a.log.ErrorContext(ctx, "replace this process: it takes no requests and no work any more", slog.Any("error", fault))
	deadline, cancelDeadline := context.WithTimeout(ctx, a.cfg.ShutdownTimeout)
	defer cancelDeadline()
	stopWork(deadline)
}

// isOutdated reports whether the schema is no longer one that this version can use.
func (a *App) isOutdated() bool {
	select {
	case <-a.outdated:
		return true
	default:
		return false
	}
}

// wakeBy chooses who learns that work due now was scheduled. wake must not block.
func (a *App) wakeBy(wake func(classes ...ports.TaskClass)) { a.wake.Store(&wake) }

// noteScheduled is called after a commit that scheduled work due now. It does not block.
func (a *App) noteScheduled(classes ...ports.TaskClass) {
	if wake := a.wake.Load(); wake != nil {
		(*wake)(classes...)
	}
}

// opened is an address that is open, and what is served there.
type opened struct {
	app *fiber.App
	net.Listener
}

// Listen takes the database for this process and opens the addresses that the roles need, which Run serves. Run does
// both itself where it was not called.
func (a *App) Listen(ctx context.Context, roles ...Role) error {
	if err := a.store.LockProcess(); err != nil {
		return err
	}
	open := func(app *fiber.App, addr string) error {
		l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
		if err != nil {
			return fmt.Errorf("listen on %s: %w", addr, err)
		}
		a.opened = append(a.opened, opened{app, l})
		return nil
	}
	if a.cfg.MetricsAddr != "" {
		if err := open(a.operations, a.cfg.MetricsAddr); err != nil {
			return err
		}
	}
	if slices.Contains(roles, Serve) {
		return open(a.http, a.cfg.Addr)
	}
	return nil
}

// listen serves the addresses that the roles need until they are shut down.
func (a *App) listen(ctx context.Context, failed chan<- error, roles []Role) error {
	if len(a.opened) == 0 {
		if err := a.Listen(ctx, roles...); err != nil {
			return err
		}
	}
	for _, o := range a.opened {
		go func() { failed <- a.serve(o.app, o.Listener) }()
	}
	if slices.Contains(roles, Serve) {
		a.log.InfoContext(ctx, "serving", slog.String("url", a.cfg.BaseURL))
	}
	if slices.Contains(roles, Work) {
		a.log.InfoContext(ctx, "working")
	}
	return nil
}

// Serve serves HTTP on a listener until Run stops.
func (a *App) Serve(l net.Listener) error { return a.serve(a.http, l) }

func (a *App) serve(app *fiber.App, raw net.Listener) error {
	l := newListener(raw)
	a.listening.Lock()
	a.listeners = append(a.listeners, l)
	stopped := a.stopped
	a.listening.Unlock()
	if stopped {
		return l.Close()
	}
	return app.Listener(l)
}

// closeListeners ends what began to serve while the shutdown ran, which did not know it yet, and whatever begins from
// now on.
func (a *App) closeListeners() error {
	a.listening.Lock()
	defer a.listening.Unlock()
	a.stopped = true
	var all []error
	for _, l := range a.listeners {
		all = append(all, l.Close())
	}
	return errors.Join(all...)
}

func (a *App) closeIdleConns() {
	a.listening.Lock()
	defer a.listening.Unlock()
	for _, l := range a.listeners {
		l.closeIdleConns()
	}
}

// Close releases everything, last opened first.
func (a *App) Close() error {
	var all []error
	for _, closer := range slices.Backward(a.closers) {
		all = append(all, closer())
	}
	a.closers = nil
	return errors.Join(all...)
}
