package bootstrap

import (
	"sundry/adapters/httpapi"
	"sundry/adapters/ical"
	"sundry/adapters/jobs"
	"sundry/adapters/passwords"
	"sundry/adapters/sandboxpay"
	"sundry/adapters/sealer"
	"sundry/adapters/system"
	"sundry/adapters/tokens"
	"sundry/adapters/web"
	"sundry/adapters/webhookhttp"
	"sundry/core/checkout"
	"sundry/modules/background"
	"sundry/modules/booking"
	"sundry/modules/catalog"
	"sundry/modules/entitlement"
	"sundry/modules/identity"
	"sundry/modules/notify"
	"sundry/modules/recurring"
	"sundry/modules/sandbox"
	"sundry/modules/selling"
	"sundry/ports"
)

// wire builds the modules and says who hears which event and who runs which task: the whole program on one page.
func (a *App) wire() error {
	inSandbox := !a.cfg.Livemode()
	throttle := a.throttle()
	processor := sandboxpay.New(a.store)
	events := newBus()

	a.modules.Identity = identity.New(
		identity.Config{Livemode: a.cfg.Livemode(), KeySecret: a.secrets.derive("api-keys"), RefreshSecret: a.secrets.derive("refresh-tokens")},
		a.store, a.clock, a.ids, passwords.NewArgon2id(),
		tokens.NewJWT(a.cfg.BaseURL, "sundry:"+string(a.cfg.Environment), a.secrets.derive("access-tokens")), throttle)
	a.closers = append(a.closers, a.modules.Identity.Close)
	a.modules.Catalog = catalog.New(a.store, a.clock, a.ids, inSandbox)
	a.modules.Booking = booking.New(
		booking.Config{BaseURL: a.cfg.BaseURL, LinkKey: a.secrets.derive("appointments"), AllowPrivate: a.cfg.WebhookAllowPrivate},
		a.store, a.clock, system.Clock{}, a.ids, events, a.modules.Catalog, a.modules.Identity, a.slotLocks(),
		ical.Calendars{}, ical.Calendars{}, webhookhttp.NewFetcher(a.cfg.WebhookAllowPrivate))
	a.modules.Entitlement = entitlement.New(a.store, a.store, a.clock, system.Clock{}, a.ids, events, a.modules.Catalog, a.cfg.Livemode())
	a.modules.Selling = selling.New(
		selling.Config{BaseURL: a.cfg.BaseURL, Sandbox: inSandbox, Secrets: checkout.Secrets{Key: a.secrets.derive("checkout")}},
		a.store, a.clock, a.ids, events, processor, processor, a.modules.Catalog, a.modules.Booking, a.modules.Entitlement, a.modules.Identity)
	seal, err := sealer.New(a.secrets.derive("webhook-secrets"))
	if err != nil {
		return err
	}
	sender := webhookhttp.New(a.cfg.WebhookAllowPrivate)
	a.metrics.MustRegister(sender)
	a.modules.Notify = notify.New(
		notify.Config{Livemode: a.cfg.Livemode(), AllowPrivate: a.cfg.WebhookAllowPrivate},
		a.store, a.store, a.clock, a.ids, a.modules.Entitlement, sender, seal,
		notify.Post{
			Mailer: a.mailer(), Receipts: a.modules.Selling, Owners: a.modules.Identity,
			Buyers: a.modules.Selling, Desk: a.modules.Booking, Calendars: ical.Calendars{}, Sender: a.cfg.Sender().Address,
		})
	a.modules.Background = background.New(a.store, a.clock)
	subscriptions := recurring.New(a.store, a.clock, events)

	on(events, a.modules.Notify.OnCheckoutPaid) // first, so that payment.completed precedes what follows from it
	// A paid session becomes a grant, or a subscription that becomes one.
	on(events, a.modules.Entitlement.OnCheckoutPaid)
	on(events, subscriptions.OnCheckoutPaid)
	on(events, a.modules.Entitlement.OnSubscriptionStarted)
	on(events, a.modules.Entitlement.OnSubscriptionEnded)
	// Integrators are told of all of it.
	on(events, a.modules.Notify.OnSubscriptionStarted)
	on(events, a.modules.Notify.OnSubscriptionEnded)
	on(events, a.modules.Notify.OnAccessChanged)
	on(events, a.modules.Notify.OnAppointmentBooked)
	on(events, a.modules.Notify.OnAppointmentRescheduled)
	on(events, a.modules.Notify.OnAppointmentCanceled)

	a.mux.Handle(selling.TaskReconcile, jobs.Payments, a.modules.Selling.Reconcile)
	a.mux.Handle(selling.TaskGiveBack, jobs.Payments, a.modules.Selling.ReturnMoney)
	a.mux.Handle(selling.TaskExpire, jobs.Payments, a.modules.Selling.ExpireDue)
	a.mux.Handle(recurring.TaskPeriodEnd, jobs.Payments, subscriptions.EndPeriod)
	a.mux.Handle(entitlement.TaskExpire, jobs.Rest, a.modules.Entitlement.Expire)
	a.mux.Handle(notify.TaskAnnounce, jobs.Webhooks, a.modules.Notify.Announce)
	a.mux.HandleInLanes(notify.TaskDeliver, jobs.Webhooks, notify.LaneOf, a.modules.Notify.Deliver)
	a.mux.Handle(notify.TaskMail, jobs.Rest, a.modules.Notify.SendMail)
	a.mux.Handle(notify.TaskRemind, jobs.Rest, a.modules.Notify.Remind)
	a.mux.Handle(booking.TaskReadCalendar, jobs.Rest, a.modules.Booking.ReadCalendar)
	a.mux.Handle(identity.SweepTask, jobs.Rest, a.modules.Identity.Sweep)
	a.mux.Handle(idempotencySweepTask, jobs.Rest, a.sweepIdempotencyKeys)

	a.verifiers = append(a.verifiers, a.modules.Selling.Verify, a.modules.Entitlement.Verify, a.modules.Booking.Verify, a.modules.Notify.Verify)

	if inSandbox {
		a.modules.Sandbox = sandbox.New(a.store, a.store, a.mux, a.clock, system.Clock{}, a.ids, a.stopping, a.modules.Selling.ReconcileSoon)
	}
	return a.face(throttle)
}

// face puts the API and the pages before the modules.
func (a *App) face(throttle ports.Throttle) error {
	inSandbox := !a.cfg.Livemode()
	answers, err := sealer.New(a.secrets.derive("kept-answers"))
	if err != nil {
		return err
	}
	server := httpapi.New(
		httpapi.Config{
			Sandbox: inSandbox, BaseURL: a.cfg.BaseURL, RateLimitPerMinute: a.cfg.RateLimit(), Answers: answers, Ready: a.ready,
			TrustedProxies: a.cfg.Proxies(),
			Metrics:        a.metrics, MetricsElsewhere: a.cfg.MetricsAddr != "",
		},
		a.modules, a.store, a.clock, a.ids, throttle, a.log)
	pages, err := web.NewPages(web.Site{BaseURL: a.cfg.BaseURL, Sandbox: inSandbox}, httpapi.OpenAPI)
	if err != nil {
		return err
	}
	web.NewRoutes(pages, a.modules.Selling, a.modules.Booking, httpapi.StatusOf, a.log).Mount(server.App())
	web.NewAppointmentRoutes(pages, a.modules.Booking, httpapi.StatusOf, a.log).Mount(server.App())
	server.NotFound()
	a.http = server.App()
	a.operations = server.Operations()
	return nil
}
