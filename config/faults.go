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

// faultList collects what is wrong with the settings.
type faultList []error

// require adds a fault unless a demand is met.
func (f *faultList) require(met bool, fault string, args ...any) {
	if !met {
		*f = append(*f, fmt.Errorf(fault, args...))
	}
}

// faults lists every setting that is missing, malformed or contradicts another.
func (c Config) faults() (all faultList) {
	all.require(oneOf(string(c.Environment), string(Sandbox), string(Live)),
		"ENVIRONMENT must be sandbox or live, not %q", c.Environment)
	all.require(c.Cell >= 0 && c.Cell <= int(id.MaxCell), "CELL must be 0 to %d, not %d", id.MaxCell, c.Cell)
	all = append(all, c.addressFaults()...)
	all = append(all, c.secretFaults()...)
	all.require(oneOf(c.LogLevel, "debug", "info", "warn", "error"),
		"LOG_LEVEL must be debug, info, warn or error, not %q", c.LogLevel)
	all.require(oneOf(c.LogFormat, "text", "json"), "LOG_FORMAT must be text or json, not %q", c.LogFormat)
	all.require(oneOf(c.SignUps, "open", "invite", "closed"), "SIGN_UPS must be open, invite or closed, not %q", c.SignUps)
	if limit := c.RateLimitPerMinute; limit != nil {
		all.require(*limit >= 0, "RATE_LIMIT_PER_MINUTE must be 0 (off) or more, not %d", *limit)
	}
	all.require(c.PlatformFeeBasisPoints >= 0 && c.PlatformFeeBasisPoints <= 10_000,
		"PLATFORM_FEE_BASIS_POINTS must be 0 to 10000, not %d", c.PlatformFeeBasisPoints)
	all.require(c.PlatformFeeFixed >= 0 && c.PlatformFeeFixed <= plan.MaxAmount,
		"PLATFORM_FEE_FIXED must be 0 to %d minor units, not %d", plan.MaxAmount, c.PlatformFeeFixed)
	all.require(c.EventRetentionDays >= minEventRetention,
		"EVENT_RETENTION_DAYS must be %d or more: that long their deliveries are kept", minEventRetention)
	all.require(c.UsageRetentionDays >= minUsageRetention,
		"USAGE_RETENTION_DAYS must be %d or more: a year's period and what is reported late", minUsageRetention)
	s := c.StatementDescriptor
	all.require(utf8.RuneCountInString(s) <= maxStatement && !strings.ContainsAny(s, notOnStatements),
		"STATEMENT_DESCRIPTOR must have at most %d characters, none of < > \\ ' \" *; it is %q", maxStatement, s)
	all.require(c.PayoutMinimum >= 1, "PAYOUT_MINIMUM must be 1 or more minor units, not %d", c.PayoutMinimum)
	all = slices.Concat(all, c.proxyFaults(), c.mailFaults(), c.sellerFaults(), c.stripeFaults(), c.fileFaults(),
		c.taxFaults(), c.meetingFaults(), c.workFaults(), c.telemetryFaults())
	if c.Live() {
		all = append(all, c.liveFaults()...)
	}
	return all
}

// workFaults checks how much is done at a time, and where.
func (c Config) workFaults() (all faultList) {
	for _, workers := range []struct {
		name  string
		count int
	}{{"PAYMENT_WORKERS", c.PaymentWorkers}, {"WEBHOOK_WORKERS", c.WebhookWorkers},
		{"DEFAULT_WORKERS", c.DefaultWorkers}} {
		all.require(workers.count >= 1 && workers.count <= maxWorkers,
			"%s must be 1 to %d, not %d", workers.name, maxWorkers, workers.count)
	}
	for _, beside := range []struct{ name, address string }{
		{"DATABASE_DIRECT_URL", c.DatabaseDirectURL}, {"DATABASE_READ_URL", c.DatabaseReadURL},
	} {
		all.require(beside.address == "" || isPostgres(c.DatabaseURL) && isPostgres(beside.address),
			"%s must be postgres://… beside a DATABASE_URL of the same kind", beside.name)
	}
	all.require(c.DatabaseReadLagSeconds >= 1 && c.DatabaseReadLagSeconds <= 3600,
		"DATABASE_READ_LAG_SECONDS must be 1 to 3600, not %d", c.DatabaseReadLagSeconds)
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
func (c Config) liveFaults() (all faultList) {
	for _, needed := range []struct{ name, value string }{
		{"BASE_URL", c.BaseURL}, {"DATABASE_URL", c.DatabaseURL}, {"APP_SECRET", c.AppSecret}, {"SMTP_URL", c.SMTPURL},
		{"SELLER_NAME", c.SellerName}, {"SELLER_ADDRESS", c.SellerAddress}, {"SELLER_VAT_ID", c.SellerVATID},
		{"SELLER_EMAIL", c.SellerEmail}, {"TERMS_URL", c.TermsURL}, {"PRIVACY_URL", c.PrivacyURL},
	} {
		all.require(strings.TrimSpace(needed.value) != "", "%s is required when ENVIRONMENT=live", needed.name)
	}
	all.require(!c.WebhooksToPrivate(), "WEBHOOK_ALLOW_PRIVATE must not be set when ENVIRONMENT=live")
	all.require(c.SeedDemo == nil || !*c.SeedDemo, "SEED_DEMO must not be true when ENVIRONMENT=live")
	all.require(!strings.HasPrefix(c.BaseURL, "http://"), "BASE_URL must be https when ENVIRONMENT=live")
	all.require(!strings.HasPrefix(c.DatabaseURL, "sqlite:"), "DATABASE_URL must be postgres:// when ENVIRONMENT=live")
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
