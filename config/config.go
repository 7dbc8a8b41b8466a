// Package config reads the process environment once, at the start, and reports every fault of it at once. Nothing else
// in the program reads environment variables.
package config

import (
	"errors"
	"net/mail"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/caarlos0/env/v11"
)

// Environment is the kind of a deployment: a sandbox (no real money) or live.
type Environment string

// The environments.
const (
	Sandbox Environment = "sandbox"
	Live    Environment = "live"
)

// minEventRetention is the number of days for which deliveries are kept, which need their events.
const minEventRetention = 30

// minUsageRetention covers the longest period and reports that come late: until then a period may be counted again.
const minUsageRetention = 400

// maxStatement is the longest text that card networks show on a statement, and notOnStatements are the characters that
// it can't have.
const (
	maxStatement    = 22
	notOnStatements = `<>\'"*`
)

// maxWorkers bounds the workers of one class in one process.
const maxWorkers = 10_000

// Config is the process configuration. Every field names its variable; a sandbox needs none of them. The tags and
// comments are docs/configuration.md, which a test in tests/arch writes.
type Config struct {
	// Deployment

	// Environment is `sandbox` (no real money) or `live`. Each has its own database.
	Environment Environment `env:"ENVIRONMENT" envDefault:"sandbox"`
	// BaseURL is the public origin of this deployment, without a path. Default in the sandbox: `http://` and Addr.
	BaseURL string `env:"BASE_URL"`
	// Cell is the number of this cell, 0 to 1023, where accounts are divided among several databases. It is in every id,
	// link and key, and the database belongs to it.
	Cell int `env:"CELL" envDefault:"0"`
	// Addr is the host and port to listen on.
	Addr string `env:"ADDR" envDefault:"127.0.0.1:8080"`
	// MetricsAddr is the host and port of a listener for `/metrics` alone. Without it, Addr serves them.
	MetricsAddr string `env:"METRICS_ADDR"`
	// DataDir is the folder of the embedded database, the secrets and the mail of a sandbox.
	DataDir string `env:"DATA_DIR" envDefault:"data"`
	// AppSecret has at least 32 random bytes, from which every key and link is derived: keep it. A sandbox without one
	// generates it in DataDir.
	AppSecret string `env:"APP_SECRET,unset"`
	// AppSecretPrevious is the AppSecret before, while `sundry secrets rotate` has not replaced it yet.
	AppSecretPrevious string `env:"APP_SECRET_PREVIOUS,unset"`
	// SeedDemo makes the demo creator in an empty sandbox database, unless it is `false`. Of several cells one has it. Not
	// in live.
	SeedDemo *bool `env:"SEED_DEMO"`
	// LogLevel is `debug`, `info`, `warn` or `error`.
	LogLevel string `env:"LOG_LEVEL" envDefault:"info"`
	// LogFormat is `text` or `json`.
	LogFormat string `env:"LOG_FORMAT" envDefault:"text"`

	// Traces and metrics

	// OTLPEndpoint is the address of an OpenTelemetry collector that receives traces and metrics by OTLP over HTTP, such
	// as `http://collector:4318`. Without it and the two below, nothing is traced or sent. The SDK itself reads
	// `OTEL_SERVICE_NAME`, `OTEL_RESOURCE_ATTRIBUTES`, `OTEL_TRACES_SAMPLER` and `OTEL_BSP_*`.
	OTLPEndpoint string `env:"OTEL_EXPORTER_OTLP_ENDPOINT"`
	// OTLPTracesEndpoint is the same for traces alone, with the whole path.
	OTLPTracesEndpoint string `env:"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"`
	// OTLPMetricsEndpoint is the same for metrics alone.
	OTLPMetricsEndpoint string `env:"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT"`
	// OTelMetricsExporter is `otlp`, or `none` where metrics are only scraped.
	OTelMetricsExporter string `env:"OTEL_METRICS_EXPORTER" envDefault:"otlp"`
	// OTelMetricInterval is the time between two exports of the metrics, in milliseconds.
	OTelMetricInterval int `env:"OTEL_METRIC_EXPORT_INTERVAL" envDefault:"60000"`
	// OTLPHeaders are sent to the collector: `name=value`, separated by commas, values percent-encoded.
	OTLPHeaders string `env:"OTEL_EXPORTER_OTLP_HEADERS,unset"`
	// OTelDisabled traces and sends nothing, with `true`.
	OTelDisabled bool `env:"OTEL_SDK_DISABLED"`

	// Database and background work

	// DatabaseURL is `sqlite:PATH` or `postgres://…`, which live needs. Default in the sandbox: `sundry.db` in DataDir.
	// A PostgreSQL address may have the parameters `pool_max_conns` (16, at least 2) and `statement_cache_capacity` (512),
	// and name a primary and its standbys: `postgres://db1,db2/sundry?target_session_attrs=read-write`.
	DatabaseURL string `env:"DATABASE_URL,unset"`
	// DatabaseDirectURL is the address of PostgreSQL itself where DatabaseURL leads to a pooler such as PgBouncer in
	// transaction mode. Migrations, LISTEN and the leader's lock need a session and go there.
	DatabaseDirectURL string `env:"DATABASE_DIRECT_URL,unset"`
	// DatabaseReadURL is the address of a standby of that PostgreSQL. It serves lists of the API, exports, the dashboard's
	// figures, the business metrics and `sundry verify`, which may miss the last seconds then; everything else, and these
	// while it is away, goes to DatabaseURL. Several hosts: `postgres://db1,db2/sundry?target_session_attrs=standby`.
	DatabaseReadURL string `env:"DATABASE_READ_URL,unset"`
	// DatabaseReadLagSeconds is the age of what that standby may miss, 1 to 3,600; one that misses older things is not
	// asked.
	DatabaseReadLagSeconds int `env:"DATABASE_READ_LAG_SECONDS" envDefault:"10"`
	// DatabaseSchema is the schema of PostgreSQL that has this cell's tables; the first start makes it. Cells may share a
	// database, each with a schema, and Redis. A pooler has to set its search path.
	DatabaseSchema string `env:"DATABASE_SCHEMA" envDefault:"public"`
	// DirectoryURL is the PostgreSQL with the directory of all cells: which one has which email address and slug. It is a
	// small database of its own, or a schema of one that cells share: `postgres://db/sundry?search_path=directory`.
	// Without it, there is one cell.
	DirectoryURL string `env:"DIRECTORY_URL,unset"`
	// RedisURL is `redis://…` or `rediss://…`: slot locks, rate limits and work shared by several workers. Without it,
	// all of that is in the process. With `?master_name=` it is the address of a Sentinel, and each `addr=` one more.
	RedisURL string `env:"REDIS_URL,unset"`
	// PaymentWorkers limits the tasks about payments that one process runs at a time, 1 to 10,000.
	PaymentWorkers int `env:"PAYMENT_WORKERS" envDefault:"8"`
	// WebhookWorkers is the same for deliveries of webhooks, which mostly wait for their receivers.
	WebhookWorkers int `env:"WEBHOOK_WORKERS" envDefault:"256"`
	// DefaultWorkers is the same for all other tasks.
	DefaultWorkers int `env:"DEFAULT_WORKERS" envDefault:"8"`
	// EventRetentionDays is the number of days for which events are kept, 30 or more. Deliveries are kept for 30.
	EventRetentionDays int `env:"EVENT_RETENTION_DAYS" envDefault:"365"`
	// UsageRetentionDays is the number of days for which reports of use are kept once they are counted, 400 or more.
	// Counts, invoices with their explanations, and idempotency keys stay.
	UsageRetentionDays int `env:"USAGE_RETENTION_DAYS" envDefault:"400"`

	// Files

	// FileMaxMB is the size of the largest file that a creator may upload for buyers, in MB (1,048,576 bytes).
	FileMaxMB int `env:"FILE_MAX_MB" envDefault:"2048"`
	// FileAccountMB is the size of all files of an account together, in MB.
	FileAccountMB int `env:"FILE_ACCOUNT_MB" envDefault:"51200"`
	// S3Endpoint is the address of an S3-compatible storage that keeps the files, such as
	// `https://s3.eu-central-1.amazonaws.com`. Without it they are in the folder `files` of DataDir, which all processes
	// have to share then.
	S3Endpoint string `env:"S3_ENDPOINT"`
	// S3Bucket is the bucket, which has to exist. S3Endpoint needs it.
	S3Bucket string `env:"S3_BUCKET"`
	// S3Region is the region that requests are signed for.
	S3Region string `env:"S3_REGION" envDefault:"us-east-1"`
	// S3AccessKeyID names the key that may read, write and delete in the bucket. S3Endpoint needs it.
	S3AccessKeyID string `env:"S3_ACCESS_KEY_ID"`
	// S3SecretAccessKey is its secret. S3Endpoint needs it.
	S3SecretAccessKey string `env:"S3_SECRET_ACCESS_KEY,unset"`

	// Seller of record

	// SellerName is the name of the seller of record on pages, mails and documents. Default in the sandbox: `Sundry`.
	SellerName string `env:"SELLER_NAME"`
	// StatementDescriptor is the text on buyers' card statements, as it is set at the card processor: at most 22
	// characters, none of `< > \ ' " *`. Default: the seller's name in capitals, without those.
	StatementDescriptor string `env:"STATEMENT_DESCRIPTOR"`
	// SellerAddress is the seller's postal address.
	SellerAddress string `env:"SELLER_ADDRESS"`
	// SellerVATID is the seller's VAT ID.
	SellerVATID string `env:"SELLER_VAT_ID"`
	// SellerEmail is the address at which the seller can be reached.
	SellerEmail string `env:"SELLER_EMAIL"`
	// SellerCountry is the seller's country (ISO 3166-1 alpha-2), whose tax rules hold.
	SellerCountry string `env:"SELLER_COUNTRY" envDefault:"IE"`
	// TermsURL is the address of the terms, linked where buyers pay.
	TermsURL string `env:"TERMS_URL"`
	// PrivacyURL is the address of the privacy policy, linked where buyers pay.
	PrivacyURL string `env:"PRIVACY_URL"`

	// Money

	// PlatformFeeBasisPoints is the part that the service keeps of what the buyer paid: 500 is 5 %. With
	// PlatformFeeFixed it is at most the sale without its tax.
	PlatformFeeBasisPoints int64 `env:"PLATFORM_FEE_BASIS_POINTS" envDefault:"500"`
	// PlatformFeeFixed is the fixed part of the service's fee on each sale, in minor units of its currency.
	PlatformFeeFixed int64 `env:"PLATFORM_FEE_FIXED" envDefault:"0"`
	// PayoutMinimum is the least amount of a payout, in minor units of its currency.
	PayoutMinimum int64 `env:"PAYOUT_MINIMUM" envDefault:"1000"`

	// Stripe

	// StripeSecretKey begins with `sk_test_`, or with `sk_live_` in live. With StripePublishableKey and
	// StripeWebhookSecret, of which a sandbox has all or none, Stripe takes the payments.
	StripeSecretKey string `env:"STRIPE_SECRET_KEY,unset"`
	// StripePublishableKey begins with `pk_test_`, or with `pk_live_` in live.
	StripePublishableKey string `env:"STRIPE_PUBLISHABLE_KEY"`
	// StripeWebhookSecret is the signing secret of Stripe's webhook endpoint.
	StripeWebhookSecret string `env:"STRIPE_WEBHOOK_SECRET,unset"`
	// StripeConnectWebhookSecret is the signing secret of Stripe's webhook endpoint for connected accounts.
	StripeConnectWebhookSecret string `env:"STRIPE_CONNECT_WEBHOOK_SECRET,unset"`
	// StripeAPIBase is the address of Stripe's API, for tests against a stand-in. Default: Stripe's own address.
	StripeAPIBase string `env:"STRIPE_API_BASE"`
	// StripeScriptURL is the address of Stripe's script, for tests against a stand-in. Not in live.
	StripeScriptURL string `env:"STRIPE_SCRIPT_URL" envDefault:"https://js.stripe.com/v3/"`

	// Tax

	// TaxProvider calculates the tax: `table`, the program's own table of rates, or in live `stripe`, Stripe Tax.
	TaxProvider string `env:"TAX_PROVIDER" envDefault:"table"`
	// VIESEnabled has the EU's register check each VAT ID for which no tax is charged, with `true`. Live only.
	VIESEnabled bool `env:"VIES_ENABLED"`
	// VIESAPIBase is the address of that register. Default: the European Commission's address.
	VIESAPIBase string `env:"VIES_API_BASE"`

	// Meetings

	// ZoomClientID is the client id of an OAuth application at Zoom, with which creators connect their accounts. Its
	// redirect address is `BASE_URL` with `/dashboard/bookings/meetings/zoom/connected`. With ZoomClientSecret or not
	// at all.
	ZoomClientID string `env:"ZOOM_CLIENT_ID"`
	// ZoomClientSecret is that application's client secret.
	ZoomClientSecret string `env:"ZOOM_CLIENT_SECRET,unset"`
	// GoogleClientID is the client id of an OAuth application at Google with the Meet API, for Google Meet. Its
	// redirect address is `BASE_URL` with `/dashboard/bookings/meetings/google_meet/connected`. With GoogleClientSecret
	// or not at all.
	GoogleClientID string `env:"GOOGLE_CLIENT_ID"`
	// GoogleClientSecret is that application's client secret.
	GoogleClientSecret string `env:"GOOGLE_CLIENT_SECRET,unset"`

	// Mail

	// SMTPURL is the mail server, `smtp://user:password@host:587` or `smtps://…`. Without it, a sandbox writes mail to
	// files in the folder `mail` of DataDir. `?starttls=` is `required` (the default where a password is sent to
	// another machine), `opportunistic` or `never`.
	SMTPURL string `env:"SMTP_URL,unset"`
	// MailFrom is the sender, such as `Example <no-reply@example.com>`. Default in live: SellerName and SellerEmail.
	MailFrom string `env:"MAIL_FROM"`

	// Network and limits

	// SignUps is `open`, `invite` or `closed`: whether anyone may create a creator's account, only who got an invitation
	// of `sundry admin invite`, or nobody. Those who have one go on.
	SignUps string `env:"SIGN_UPS" envDefault:"open"`
	// RateLimitPerMinute limits the requests that one API key may make, 0 for no limit. Default: 600 in live, 0 in the
	// sandbox.
	RateLimitPerMinute *int `env:"RATE_LIMIT_PER_MINUTE"`
	// TrustedProxies are the addresses and networks (CIDR), separated by commas, whose `X-Forwarded-For` is trusted
	// when visitors are counted. `private` means loopback and the private ranges, `none` nobody. Set it behind a proxy,
	// or all visitors are counted as one.
	TrustedProxies []string `env:"TRUSTED_PROXIES" envDefault:"none"`
	// ClientCountryHeader is the header in which a trusted proxy names the country that a request comes from, such as
	// `CF-IPCountry`. A sale keeps it as evidence of where the buyer is.
	ClientCountryHeader string `env:"CLIENT_COUNTRY_HEADER"`
	// WebhookAllowPrivate lets webhooks use http and reach your own machine and network with `true`, neither with
	// `false`. Without it, they reach this machine where BaseURL is loopback. Sandbox only.
	WebhookAllowPrivate *bool `env:"WEBHOOK_ALLOW_PRIVATE"`

	// ShutdownTimeout limits how long requests and background work under way may take after SIGTERM.
	ShutdownTimeout time.Duration `env:"-"`

	// ownPayments is set if the program registers a payment provider of its own.
	ownPayments bool
}

// Live reports whether this deployment moves real money.
func (c Config) Live() bool { return c.Environment == Live }

// Seeds reports whether an empty database is filled with the demo creator at the start.
func (c Config) Seeds() bool { return !c.Live() && (c.SeedDemo == nil || *c.SeedDemo) }

// IsDatabaseInDataDir reports whether the database is the one that a sandbox has in DataDir by itself.
func (c Config) IsDatabaseInDataDir() bool { return c.DatabaseURL == c.embeddedDatabaseURL() }

func (c Config) embeddedDatabaseURL() string {
	return "sqlite:" + filepath.Join(c.DataDir, "sundry.db")
}

// WebhooksToPrivate reports whether webhook URLs may be http and lead to private networks.
func (c Config) WebhooksToPrivate() bool {
	return c.WebhookAllowPrivate != nil && *c.WebhookAllowPrivate
}

// WebhooksToLoopback reports whether webhook URLs may be http and lead to this machine.
func (c Config) WebhooksToLoopback() bool {
	if c.WebhookAllowPrivate != nil {
		return *c.WebhookAllowPrivate
	}
	base, err := url.Parse(c.BaseURL)
	return err == nil && !c.Live() && thisMachine(base.Hostname())
}

// RateLimit returns the resolved per-key limit per minute; 0 means none.
func (c Config) RateLimit() int {
	switch {
	case c.RateLimitPerMinute != nil:
		return *c.RateLimitPerMinute
	case c.Live():
		return 600
	}
	return 0
}

// Brought names something that a program brings itself, so that live needs no settings for it.
type Brought string

// OwnPayments means that the program registers a payment provider of its own.
const OwnPayments Brought = "payments"

// FromEnvironment reads and checks the configuration of a program that brings some parts itself. The error holds one
// line per fault.
func FromEnvironment(own ...Brought) (Config, error) { return parse(env.Options{}, own...) }

// FromMap is FromEnvironment over the given variables only, for tests and tools.
func FromMap(vars map[string]string, own ...Brought) (Config, error) {
	return parse(env.Options{Environment: vars}, own...)
}

func parse(opts env.Options, own ...Brought) (Config, error) {
	cfg := Config{ownPayments: slices.Contains(own, OwnPayments)}
	if opts.Environment == nil {
		opts.Environment = env.ToMap(os.Environ())
	}
	environment, unread := withFiles(opts.Environment)
	opts.Environment = environment
	// What could not be read hides none of the other faults.
	unread = append(unread, parseFaults(env.ParseWithOptions(&cfg, opts))...)
	cfg.ShutdownTimeout = 20 * time.Second
	cfg.defaults()
	again := func(fault error) bool { // a variable that could not be read has no value that could be wrong
		return slices.ContainsFunc(unread, func(first error) bool { return variableOf(first) == variableOf(fault) })
	}
	if faults := slices.Concat(unread, slices.DeleteFunc(cfg.faults(), again)); len(faults) > 0 {
		return Config{}, errors.Join(faults...)
	}
	return cfg, nil
}

// variableOf is the variable that a fault's line begins with.
func variableOf(fault error) string {
	name, _, _ := strings.Cut(fault.Error(), " ")
	return name
}

func (c *Config) defaults() {
	if c.BaseURL == "" && !c.Live() {
		c.BaseURL = originAt(c.Addr)
	}
	c.BaseURL = strings.TrimRight(c.BaseURL, "/")
	if c.DatabaseURL == "" && !c.Live() {
		c.DatabaseURL = c.embeddedDatabaseURL()
	}
	if c.MailFrom == "" && !c.Live() {
		c.MailFrom = sandboxSender
	}
	if c.MailFrom == "" && isBareAddress(c.SellerEmail) {
		c.MailFrom = (&mail.Address{Name: c.SellerName, Address: c.SellerEmail}).String()
	}
	if c.SellerName == "" && !c.Live() {
		c.SellerName = "Sundry"
	}
	if c.StatementDescriptor == "" {
		name := []rune(withoutAny(strings.ToUpper(c.SellerName), notOnStatements))
		c.StatementDescriptor = strings.TrimSpace(string(name[:min(len(name), maxStatement)]))
	}
}

// withoutAny returns s without the characters.
func withoutAny(s, characters string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(characters, r) {
			return -1
		}
		return r
	}, s)
}
