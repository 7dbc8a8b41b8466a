package config

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/caarlos0/env/v11"

	"sundry/core/id"
	"sundry/core/plan"
)

// faults lists every setting that is missing, malformed or contradicts another.
func (c Config) faults() []error {
	var all []error
	add := func(format string, args ...any) { all = append(all, fmt.Errorf(format, args...)) }

	switch c.Environment {
	case Sandbox, Live:
	default:
		add("ENVIRONMENT must be sandbox or live, not %q", c.Environment)
	}
	if c.Cell < 0 || c.Cell > int(id.MaxCell) {
		add("CELL must be 0 to %d, not %d", id.MaxCell, c.Cell)
	}
	all = append(all, c.addressFaults()...)
	all = append(all, c.secretFaults()...)
	if !oneOf(c.LogLevel, "debug", "info", "warn", "error") {
		add("LOG_LEVEL must be debug, info, warn or error, not %q", c.LogLevel)
	}
	if !oneOf(c.LogFormat, "text", "json") {
		add("LOG_FORMAT must be text or json, not %q", c.LogFormat)
	}
	if !oneOf(c.SignUps, "open", "invite", "closed") {
		add("SIGN_UPS must be open, invite or closed, not %q", c.SignUps)
	}
	if c.RateLimitPerMinute != nil && *c.RateLimitPerMinute < 0 {
		add("RATE_LIMIT_PER_MINUTE must be 0 (off) or more, not %d", *c.RateLimitPerMinute)
	}
	if c.PlatformFeeBasisPoints < 0 || c.PlatformFeeBasisPoints > 10_000 {
		add("PLATFORM_FEE_BASIS_POINTS must be 0 to 10000, not %d", c.PlatformFeeBasisPoints)
	}
	if c.PlatformFeeFixed < 0 || c.PlatformFeeFixed > plan.MaxAmount {
		add("PLATFORM_FEE_FIXED must be 0 to %d minor units, not %d", plan.MaxAmount, c.PlatformFeeFixed)
	}
	if c.EventRetentionDays < minEventRetention {
		add("EVENT_RETENTION_DAYS must be %d or more: that long their deliveries are kept", minEventRetention)
	}
	if c.UsageRetentionDays < minUsageRetention {
		add("USAGE_RETENTION_DAYS must be %d or more: a year's period and what is reported late", minUsageRetention)
	}
	if s := c.StatementDescriptor; utf8.RuneCountInString(s) > maxStatement || strings.ContainsAny(s, notOnStatements) {
		add("STATEMENT_DESCRIPTOR must have at most %d characters, none of < > \\ ' \" *; it is %q", maxStatement, s)
	}
	if c.PayoutMinimum < 1 {
		add("PAYOUT_MINIMUM must be 1 or more minor units, not %d", c.PayoutMinimum)
	}
	all = slices.Concat(all, c.proxyFaults(), c.mailFaults(), c.sellerFaults(), c.stripeFaults(), c.fileFaults(),
		c.taxFaults(), c.meetingFaults(), c.workFaults(), c.telemetryFaults())
	if c.Live() {
		all = append(all, c.liveFaults()...)
	}
	return all
}

// workFaults checks how much is done at a time, and where.
func (c Config) workFaults() []error {
	var all []error
	for _, workers := range []struct {
		name  string
		count int
	}{{"PAYMENT_WORKERS", c.PaymentWorkers}, {"WEBHOOK_WORKERS", c.WebhookWorkers},
		{"DEFAULT_WORKERS", c.DefaultWorkers}} {
		if workers.count < 1 || workers.count > maxWorkers {
			all = append(all, fmt.Errorf("%s must be 1 to %d, not %d", workers.name, maxWorkers, workers.count))
		}
	}
	if c.DatabaseDirectURL != "" && (!isPostgres(c.DatabaseURL) || !isPostgres(c.DatabaseDirectURL)) {
		all = append(all, errors.New("DATABASE_DIRECT_URL must be postgres://… beside a DATABASE_URL of the same kind"))
	}
	if c.DatabaseReadURL != "" && (!isPostgres(c.DatabaseURL) || !isPostgres(c.DatabaseReadURL)) {
		all = append(all, errors.New("DATABASE_READ_URL must be postgres://… beside a DATABASE_URL of the same kind"))
	}
	if c.DatabaseReadLagSeconds < 1 || c.DatabaseReadLagSeconds > 3600 {
		all = append(all, fmt.Errorf("DATABASE_READ_LAG_SECONDS must be 1 to 3600, not %d", c.DatabaseReadLagSeconds))
	}
	return append(all, c.schemaFaults()...)
}

// schemaName is a name that needs no quotes, and is short enough for what is named after it.
var schemaName = regexp.MustCompile(`^[a-z_][a-z0-9_]{0,39}$`)

func (c Config) schemaFaults() []error {
	if c.DirectoryURL != "" && !isPostgres(c.DirectoryURL) {
		return []error{errors.New("DIRECTORY_URL must begin with postgres:// or postgresql://")}
	}
	switch {
	case !schemaName.MatchString(c.DatabaseSchema) || strings.HasPrefix(c.DatabaseSchema, "pg_") ||
		c.DatabaseSchema == "information_schema":
		return []error{fmt.Errorf("DATABASE_SCHEMA must be at most 40 of a-z, 0-9 and _, begin with no digit and be none of "+
			"PostgreSQL's own, not %q", c.DatabaseSchema)}
	case c.DatabaseSchema != "public" && !isPostgres(c.DatabaseURL):
		return []error{errors.New("DATABASE_SCHEMA needs a DATABASE_URL of PostgreSQL: a database of SQLite has one cell")}
	}
	return nil
}

func isPostgres(address string) bool {
	return strings.HasPrefix(address, "postgres://") || strings.HasPrefix(address, "postgresql://")
}

// liveFaults checks the stricter demands of live: nothing secret has a default there.
func (c Config) liveFaults() []error {
	var all []error
	need := func(value, name string) {
		if strings.TrimSpace(value) == "" {
			all = append(all, fmt.Errorf("%s is required when ENVIRONMENT=live", name))
		}
	}
	need(c.BaseURL, "BASE_URL")
	need(c.DatabaseURL, "DATABASE_URL")
	need(c.AppSecret, "APP_SECRET")
	need(c.SMTPURL, "SMTP_URL")
	need(c.SellerName, "SELLER_NAME")
	need(c.SellerAddress, "SELLER_ADDRESS")
	need(c.SellerVATID, "SELLER_VAT_ID")
	need(c.SellerEmail, "SELLER_EMAIL")
	need(c.TermsURL, "TERMS_URL")
	need(c.PrivacyURL, "PRIVACY_URL")
	if c.WebhooksToPrivate() {
		all = append(all, errors.New("WEBHOOK_ALLOW_PRIVATE must not be set when ENVIRONMENT=live"))
	}
	if c.SeedDemo != nil && *c.SeedDemo {
		all = append(all, errors.New("SEED_DEMO must not be true when ENVIRONMENT=live"))
	}
	if strings.HasPrefix(c.BaseURL, "http://") {
		all = append(all, errors.New("BASE_URL must be https when ENVIRONMENT=live"))
	}
	if strings.HasPrefix(c.DatabaseURL, "sqlite:") {
		all = append(all, errors.New("DATABASE_URL must be postgres:// when ENVIRONMENT=live"))
	}
	return all
}

// parseFaults turns the library's aggregate into one fault per variable.
func parseFaults(err error) []error {
	var aggregate env.AggregateError
	if !errors.As(err, &aggregate) {
		if err != nil {
			return []error{err}
		}
		return nil
	}
	var all []error
	for _, one := range aggregate.Errors {
		if unread, ok := errors.AsType[env.ParseError](one); ok {
			if field, ok := reflect.TypeFor[Config]().FieldByName(unread.Name); ok {
				one = variableFault(field.Tag.Get("env"), unread.Type.String(), unread.Err)
			}
		}
		all = append(all, one)
	}
	return all
}

func oneOf(s string, allowed ...string) bool {
	return slices.Contains(allowed, s)
}
