package bootstrap

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"sundry/adapters/ical"
	"sundry/adapters/jobs"
	"sundry/adapters/meetinghosts"
	"sundry/adapters/passwords"
	"sundry/adapters/pdf"
	"sundry/adapters/sandboxpay"
	"sundry/adapters/stripepay"
	"sundry/adapters/taxtable"
	"sundry/adapters/telemetry"
	"sundry/adapters/vies"
	"sundry/core/appointment"
	"sundry/ports"
)

// Options are the adapters that a program brings itself. A zero member stands for the one that the configuration picks.
type Options struct {
	// Providers open payment providers. The first takes new payments; the others, and the one that the configuration
	// picks, are asked about what they took before.
	Providers []ports.OpenProvider
	Mailer    ports.Mailer
	Taxes     ports.TaxCalculator
	VAT       ports.VATRegister
	Documents ports.Documents
	// Calendars writes the calendar files of appointments, and CalendarReader reads those of creators.
	Calendars      ports.CalendarWriter
	CalendarReader ports.CalendarReader
	// MeetingHosts are the providers at which meetings are made on creators' accounts.
	MeetingHosts map[appointment.Provider]ports.MeetingHost
	// Files keeps the bytes of the files that creators upload.
	Files ports.FileStorage
	// Passwords hashes creators' passwords.
	Passwords ports.PasswordHasher
}

// openAdapters fills the options that the program left open with what the configuration picks.
func (a *App) openAdapters(o Options) error {
	if err := a.openProviders(o.Providers); err != nil {
		return err
	}
	if o.Mailer == nil {
		o.Mailer = a.mailer()
	}
	if a.tracer != nil {
		o.Mailer = telemetry.TraceMailer(a.tracer, o.Mailer)
	}
	if o.Taxes == nil {
		taxes, err := a.taxCalculator()
		if err != nil {
			return err
		}
		o.Taxes = taxes
	}
	if o.VAT == nil && a.cfg.VIESEnabled {
		o.VAT = vies.New(vies.Config{APIBase: a.cfg.VIESAPIBase, RequesterVATID: a.cfg.SellerVATID}, a.clock.Real)
	}
	if o.Documents == nil {
		o.Documents = pdf.New()
	}
	if o.Calendars == nil {
		o.Calendars = ical.Calendars{}
	}
	if o.CalendarReader == nil {
		o.CalendarReader = ical.Calendars{}
	}
	if o.MeetingHosts == nil {
		o.MeetingHosts = a.meetingHosts()
	}
	if o.Files == nil {
		files, err := a.fileStorage()
		if err != nil {
			return err
		}
		o.Files = files
	}
	if o.Passwords == nil {
		o.Passwords = passwords.NewArgon2id(passwords.Recommended)
	}
	a.adapters = o
	return nil
}

// openProviders opens the program's own payment providers, and the one that the configuration picks: Stripe where its
// keys are set, else the sandbox, which moves no money and is never picked in live.
func (a *App) openProviders(own []ports.OpenProvider) error {
	all := slices.Clone(own)
	switch {
	case a.cfg.Stripe():
		all = append(all, stripepay.Open(a.stripeConfig(), a.cfg.StripePublishableKey, a.cfg.StripeScriptURL))
	case !a.live():
		all = append(all, sandboxpay.Open)
	}
	for _, open := range all {
		var host providerHost
		provider, err := open(host.of(a))
		if err != nil {
			return fmt.Errorf("open a payment provider: %w", err)
		}
		if _, err := a.providers.Get(provider.Name); err == nil || provider.Name == "" {
			return fmt.Errorf("a payment provider named %q is registered already, or without a name", provider.Name)
		}
		if a.tracer != nil {
			provider.Processor = telemetry.TraceProcessor(a.tracer, provider.Name, provider.Processor)
		}
		host.signatureHeader = provider.SignatureHeader
		a.providers = append(a.providers, provider)
	}
	if len(a.providers) == 0 {
		return errors.New("no payment provider is registered")
	}
	if _, ok := a.providers.PaidOutBy(); !ok {
		return errors.New("no registered payment provider pays creators out")
	}
	return nil
}

// providerHost is the program as one provider sees it.
type providerHost struct{ signatureHeader string }

func (h *providerHost) of(a *App) ports.ProviderHost {
	return ports.ProviderHost{
		Store: a.store, Clock: a.clock, Live: a.live(), DataDir: a.cfg.DataDir, Key: a.keys.Lasting,
		Handle: func(kind string, run func(context.Context, ports.Task) error) { a.mux.Handle(kind, jobs.Payments, run) },
		Verify: func(check func(context.Context) ([]string, error)) { a.verify("providers", check) },
		Receive: func(ctx context.Context, payload []byte, signature string) error {
			return a.modules.Inbox.Receive(ctx, payload, func(name string) string {
				if name == h.signatureHeader {
					return signature
				}
				return ""
			})
		},
	}
}

func (a *App) stripeConfig() stripepay.Config {
	return stripepay.Config{
		SecretKey: a.cfg.StripeSecretKey, WebhookSecret: a.cfg.StripeWebhookSecret,
		ConnectWebhookSecret: a.cfg.StripeConnectWebhookSecret, APIBase: a.cfg.StripeAPIBase, Live: a.live(),
	}
}

// taxCalculator is Stripe Tax or the program's own table.
func (a *App) taxCalculator() (ports.TaxCalculator, error) {
	if a.cfg.StripeTax() {
		return stripepay.NewTaxes(stripepay.New(a.stripeConfig()), a.clock.Real), nil
	}
	return taxtable.New(a.cfg.SellerCountry)
}

// meetingHosts are the providers of meetings whose settings are given.
func (a *App) meetingHosts() map[appointment.Provider]ports.MeetingHost {
	all := map[appointment.Provider]ports.MeetingHost{}
	if a.cfg.Zoom() {
		all[appointment.Zoom] = meetinghosts.NewZoom(meetinghosts.Config{
			ClientID: a.cfg.ZoomClientID, ClientSecret: a.cfg.ZoomClientSecret,
		})
	}
	if a.cfg.GoogleMeet() {
		all[appointment.GoogleMeet] = meetinghosts.NewGoogleMeet(meetinghosts.Config{
			ClientID: a.cfg.GoogleClientID, ClientSecret: a.cfg.GoogleClientSecret,
		})
	}
	return all
}
