package config_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"sundry/config"
)

func TestEveryFaultIsALineThatNamesItsVariable(t *testing.T) {
	t.Parallel()
	_, err := config.FromMap(map[string]string{
		"ENVIRONMENT": "prod", "ADDR": "nonsense", "METRICS_ADDR": "127.0.0.1:99999",
		"BASE_URL":     "https://ada:hunter2@pay.example.com",
		"DATABASE_URL": "postgres://ada:hunter2@db:port/x", "REDIS_URL": "redis://:hunter2@cache:port",
		"APP_SECRET": "hunter2",
		"LOG_LEVEL":  "loud", "LOG_FORMAT": "xml", "SIGN_UPS": "ajar", "SEED_DEMO": "maybe", "WEBHOOK_ALLOW_PRIVATE": "2",
		"RATE_LIMIT_PER_MINUTE": "many",
		"SMTP_URL":              "smtp://hunter2", "MAIL_FROM": "Sundry", "TRUSTED_PROXIES": "proxy", "TERMS_URL": "terms",
		"PRIVACY_URL": "mailto:privacy@example.com",
	})
	lines := strings.Split(fmt.Sprint(err), "\n")
	for _, variable := range []string{
		"ENVIRONMENT", "ADDR", "METRICS_ADDR", "BASE_URL", "DATABASE_URL", "REDIS_URL", "APP_SECRET", "LOG_LEVEL",
		"LOG_FORMAT", "SIGN_UPS", "SEED_DEMO",
		"WEBHOOK_ALLOW_PRIVATE", "RATE_LIMIT_PER_MINUTE", "MAIL_FROM", "TRUSTED_PROXIES", "TERMS_URL", "PRIVACY_URL",
	} {
		count := 0
		for _, line := range lines {
			if strings.HasPrefix(line, variable+" ") {
				count++
			}
		}
		if count != 1 {
			t.Errorf("%d lines about %s in:\n%v", count, variable, err)
		}
	}
	if strings.Contains(fmt.Sprint(err), "hunter2") {
		t.Errorf("a password is repeated:\n%v", err)
	}
}

func TestOneFaultIsOneLine(t *testing.T) {
	t.Parallel()
	for setting, want := range map[string]string{
		"SEED_DEMO=maybe":                            `SEED_DEMO must be true or false, not "maybe"`,
		"WEBHOOK_ALLOW_PRIVATE=2":                    `WEBHOOK_ALLOW_PRIVATE must be true or false, not "2"`,
		"RATE_LIMIT_PER_MINUTE=many":                 `RATE_LIMIT_PER_MINUTE must be a whole number, not "many"`,
		"RATE_LIMIT_PER_MINUTE=99999999999999999999": `RATE_LIMIT_PER_MINUTE must be a whole number, not "99999999999999999999"`,
		"RATE_LIMIT_PER_MINUTE=-1":                   "RATE_LIMIT_PER_MINUTE must be 0 (off) or more, not -1",
		"ADDR=8080":                                  "ADDR must be host:port, such as 127.0.0.1:8080 or :8080",
		"ADDR=127.0.0.1:":                            "ADDR must be host:port, such as 127.0.0.1:8080 or :8080",
		"BASE_URL=https://a.example#x":               "BASE_URL must be an origin such as https://pay.example.com, without a path",
		"BASE_URL=https://a.example/x":               "BASE_URL must be an origin such as https://pay.example.com, without a path",
		"BASE_URL=https://a.example?":                "BASE_URL must be an origin such as https://pay.example.com, without a path",
		"BASE_URL=https://:443":                      "BASE_URL must be an origin such as https://pay.example.com, without a path",
		"BASE_URL=https://a.example:99999":           "BASE_URL must be an origin such as https://pay.example.com, without a path",
		"DATABASE_URL=sqlite:":                       "DATABASE_URL needs a path after sqlite:",
		"DATABASE_URL=sqlite::memory:":               "DATABASE_URL needs a path after sqlite:",
		"SELLER_EMAIL=help":                          "SELLER_EMAIL must be an email address such as help@example.com",
		"SELLER_EMAIL=Shop <help@example.com>":       "SELLER_EMAIL must be an email address such as help@example.com",
		"DATABASE_URL=mysql://x":                     "DATABASE_URL must begin with sqlite: or postgres:// and be a valid address",
		"WEBHOOK_WORKERS=0":                          "WEBHOOK_WORKERS must be 1 to 10000, not 0",
		"DIRECTORY_URL=sqlite:names.db":              "DIRECTORY_URL must begin with postgres:// or postgresql://",
		"DATABASE_SCHEMA=cell_a":                     "DATABASE_SCHEMA needs a DATABASE_URL of PostgreSQL: a database of SQLite has one cell",
		"DATABASE_SCHEMA=pg_a": "DATABASE_SCHEMA must be at most 40 of a-z, 0-9 and _, begin with no digit and be none of " +
			`PostgreSQL's own, not "pg_a"`,
		"DATABASE_DIRECT_URL=postgres://db/x": "DATABASE_DIRECT_URL must be postgres://… beside a DATABASE_URL of the same kind",
		"DATABASE_READ_URL=postgres://db/x":   "DATABASE_READ_URL must be postgres://… beside a DATABASE_URL of the same kind",
		"DATABASE_READ_LAG_SECONDS=0":         "DATABASE_READ_LAG_SECONDS must be 1 to 3600, not 0",
		"WEBHOOK_WORKERS=many":                `WEBHOOK_WORKERS must be a whole number, not "many"`,
		"EVENT_RETENTION_DAYS=1.5":            `EVENT_RETENTION_DAYS must be a whole number, not "1.5"`,
		"USAGE_RETENTION_DAYS=399":            "USAGE_RETENTION_DAYS must be 400 or more: a year's period and what is reported late",
		"PAYOUT_MINIMUM=a lot":                `PAYOUT_MINIMUM must be a whole number, not "a lot"`,
		"PLATFORM_FEE_FIXED=100000000000":     "PLATFORM_FEE_FIXED must be 0 to 99999999999 minor units, not 100000000000",
		"CELL=1024":                           "CELL must be 0 to 1023, not 1024",
		"CELL=-1":                             "CELL must be 0 to 1023, not -1",
		"SELLER_COUNTRY=ie":                   `SELLER_COUNTRY must be a country's two capital letters, such as IE, not "ie"`,
		"SELLER_COUNTRY=XX":                   `SELLER_COUNTRY must be a country's two capital letters, such as IE, not "XX"`,
		"REDIS_URL=cache:6379":                "REDIS_URL must begin with redis:// or rediss:// and be a valid address",
	} {
		variable, value, _ := strings.Cut(setting, "=")
		if _, err := config.FromMap(map[string]string{variable: value}); fmt.Sprint(err) != want {
			t.Errorf("%s: %v", setting, err)
		}
	}
}

func TestWhoListensEverywhereIsFoundAtHome(t *testing.T) {
	t.Parallel()
	for addr, want := range map[string]string{
		"127.0.0.1:8080": "http://127.0.0.1:8080",
		":8080":          "http://127.0.0.1:8080",
		"0.0.0.0:80":     "http://127.0.0.1:80",
		"[::]:8080":      "http://127.0.0.1:8080",
		"[::1]:8080":     "http://[::1]:8080",
		"sundry:8080":    "http://sundry:8080",
	} {
		cfg, err := config.FromMap(map[string]string{"ADDR": addr})
		if err != nil || cfg.BaseURL != want {
			t.Errorf("ADDR=%s: %q, %v; want %s", addr, cfg.BaseURL, err, want)
		}
	}
}

func TestSettingsThatContradictEachOtherStopTheStart(t *testing.T) {
	t.Parallel()
	_, err := config.FromMap(map[string]string{
		"ADDR": "127.0.0.1:9000", "METRICS_ADDR": "127.0.0.1:9000", "APP_SECRET": strings.Repeat("x", 64),
	})
	lines := strings.Split(fmt.Sprint(err), "\n")
	if len(lines) != 2 || !strings.HasPrefix(lines[0], "METRICS_ADDR ") || !strings.HasPrefix(lines[1], "APP_SECRET ") ||
		strings.Contains(lines[1], "xxx") {
		t.Errorf("got %q, want a line about each", lines)
	}
	if _, err := config.FromMap(map[string]string{"METRICS_ADDR": "127.0.0.1:9090",
		"APP_SECRET": strings.Repeat("only for tests ", 4)}); err != nil {
		t.Errorf("good settings: %v", err)
	}
}

func TestLiveTakesNothingOfTheSandbox(t *testing.T) {
	t.Parallel()
	live := map[string]string{
		"ENVIRONMENT": "live", "BASE_URL": "https://pay.example.com", "DATABASE_URL": "postgres://db/sundry",
		"APP_SECRET": strings.Repeat("only for tests ", 4),
		"SMTP_URL":   "smtp://mail.example.com", "MAIL_FROM": "Example <no-reply@example.com>",
		"SELLER_NAME": "Example Ltd.", "SELLER_ADDRESS": "1 Main Street, Dublin", "SELLER_VAT_ID": "IE1234567T",
		"SELLER_EMAIL": "help@example.com",
		"TERMS_URL":    "https://example.com/terms", "PRIVACY_URL": "https://example.com/privacy",
		"STRIPE_SECRET_KEY": "sk_live_1", "STRIPE_PUBLISHABLE_KEY": "pk_live_1", "STRIPE_WEBHOOK_SECRET": "whsec_1",
	}
	cfg, err := config.FromMap(live)
	if err != nil || cfg.Seeds() || cfg.RateLimit() != 600 {
		t.Errorf("live: %v, seeds %v, limit %d", err, cfg.Seeds(), cfg.RateLimit())
	}
	contradicting := maps.Clone(live)
	maps.Copy(contradicting, map[string]string{
		"SEED_DEMO": "true", "WEBHOOK_ALLOW_PRIVATE": "true", "BASE_URL": "http://pay.example.com",
		"DATABASE_URL": "sqlite:live.db",
	})
	_, err = config.FromMap(contradicting)
	for _, want := range []string{
		"SEED_DEMO must not be true", "WEBHOOK_ALLOW_PRIVATE must not be set", "BASE_URL must be https",
		"DATABASE_URL must be postgres://",
	} {
		if !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%q is not among:\n%v", want, err)
		}
	}
	sandbox, err := config.FromMap(map[string]string{"SEED_DEMO": "false"})
	if err != nil || sandbox.Seeds() {
		t.Errorf("a sandbox that is not to be seeded: %v", err)
	}
	if sandbox, err = config.FromMap(nil); err != nil || !sandbox.Seeds() || sandbox.RateLimit() != 0 {
		t.Errorf("a sandbox with nothing set: %v", err)
	}
}

func TestLiveNamesTheSellerOfRecord(t *testing.T) {
	t.Parallel()
	for _, variable := range []string{"SELLER_NAME", "SELLER_ADDRESS", "SELLER_VAT_ID", "SELLER_EMAIL", "TERMS_URL",
		"PRIVACY_URL"} {
		for _, blank := range []string{"", " "} {
			_, err := config.FromMap(map[string]string{"ENVIRONMENT": "live", variable: blank})
			if !strings.Contains(fmt.Sprint(err), variable+" is required when ENVIRONMENT=live") {
				t.Errorf("no line about %s of %q in:\n%v", variable, blank, err)
			}
		}
	}
	if sandbox, err := config.FromMap(nil); err != nil || sandbox.SellerName != "Sundry" {
		t.Errorf("a sandbox: %q, %v", sandbox.SellerName, err)
	}
}

// The variable that is wrong is named, not MAIL_FROM, which is made of it.
func TestLive_RefusesTheSellersAddress(t *testing.T) {
	t.Parallel()
	_, err := config.FromMap(map[string]string{"ENVIRONMENT": "live", "SELLER_NAME": "Example", "SELLER_EMAIL": "help"})
	if got := fmt.Sprint(err); strings.Contains(got, "MAIL_FROM") || !strings.Contains(got, "SELLER_EMAIL must be") {
		t.Errorf("got:\n%v\nwant a line about SELLER_EMAIL and none about MAIL_FROM", err)
	}
}

func TestStatementDescriptor_OfTheSellersName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"O'Neill \"Books\" Ltd": "ONEILL BOOKS LTD", "A Name That Is Quite Long, Ltd.": "A NAME THAT IS QUITE L",
	} {
		cfg, err := config.FromMap(map[string]string{"SELLER_NAME": name})
		if err != nil || cfg.StatementDescriptor != want {
			t.Errorf("%s: got %q, %v; want %q", name, cfg.StatementDescriptor, err, want)
		}
	}
	if _, err := config.FromMap(map[string]string{"STATEMENT_DESCRIPTOR": "O'NEILL"}); err == nil {
		t.Error("a text that no statement has is accepted")
	}
}

func TestWebhooksReachThisMachineWhereItServesItself(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		vars              map[string]string
		loopback, private bool
	}{
		"nothing set":      {map[string]string{}, true, false},
		"localhost":        {map[string]string{"BASE_URL": "http://localhost:8080"}, true, false},
		"a public address": {map[string]string{"BASE_URL": "https://sandbox.example.com"}, false, false},
		"true": {map[string]string{"BASE_URL": "https://sandbox.example.com",
			"WEBHOOK_ALLOW_PRIVATE": "true"}, true, true},
		"false on this machine": {map[string]string{"WEBHOOK_ALLOW_PRIVATE": "false"}, false, false},
		"false under a public address": {map[string]string{"BASE_URL": "https://sandbox.example.com",
			"WEBHOOK_ALLOW_PRIVATE": "false"}, false, false},
		"a name that begins like ours":  {map[string]string{"BASE_URL": "https://localhost.example.com"}, false, false},
		"another address of this range": {map[string]string{"BASE_URL": "http://127.0.0.2:8080"}, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg, err := config.FromMap(c.vars)
			if err != nil {
				t.Fatal(err)
			}
			if cfg.WebhooksToLoopback() != c.loopback || cfg.WebhooksToPrivate() != c.private {
				t.Errorf("loopback %v, private %v", cfg.WebhooksToLoopback(), cfg.WebhooksToPrivate())
			}
		})
	}
}

// What would have no effect, or break a page later, stops the start, with a line about nothing else.
func TestSettingsOfNoUseAreRefused(t *testing.T) {
	t.Parallel()
	for variable, value := range map[string]string{
		"CLIENT_COUNTRY_HEADER": "CF IPCountry", "STRIPE_SCRIPT_URL": "stripe.js", "ADDR": "any address",
	} {
		_, err := config.FromMap(map[string]string{variable: value})
		lines := strings.Split(fmt.Sprint(err), "\n")
		if len(lines) != 1 || !strings.HasPrefix(lines[0], variable+" must") {
			t.Errorf("%s=%s: got:\n%v\nwant one line about it", variable, value, err)
		}
	}
	_, err := config.FromMap(map[string]string{"PRIVACY_URL": "privacy"})
	if want := "PRIVACY_URL must be an absolute address such as https://example.com/privacy"; fmt.Sprint(err) != want {
		t.Errorf("got %v, want %q", err, want)
	}
}
