package config_test

import (
	"fmt"
	"strings"
	"testing"

	"sundry/config"
)

func TestTheMailServer(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]config.MailServer{
		"smtp://mail.example.com": {Host: "mail.example.com", Port: 587,
			STARTTLS: "opportunistic"},
		"smtp://127.0.0.1:1025/": {Host: "127.0.0.1", Port: 1025,
			STARTTLS: "opportunistic"},
		"smtp://ada:s%40cret@mail.example.com:2525": {Host: "mail.example.com", Port: 2525,
			STARTTLS: "required", Username: "ada", Password: "s@cret"},
		"smtp://ada:secret@localhost": {Host: "localhost", Port: 587, STARTTLS: "opportunistic",
			Username: "ada", Password: "secret"},
		"smtp://ada:secret@mail.example.com?starttls=opportunistic": {Host: "mail.example.com", Port: 587,
			STARTTLS: "opportunistic", Username: "ada", Password: "secret"},
		"smtp://[::1]:25?starttls=never": {Host: "::1", Port: 25, STARTTLS: "never"},
		"smtps://ada:secret@mail.example.com": {Host: "mail.example.com", Port: 465, TLS: true,
			Username: "ada", Password: "secret"},
	} {
		cfg, err := config.FromMap(map[string]string{"SMTP_URL": url})
		if err != nil {
			t.Errorf("%s: %v", url, err)
			continue
		}
		if got, ok := cfg.MailServer(); !ok || got != want {
			t.Errorf("%s is %+v, want %+v", url, got, want)
		}
	}
	cfg, err := config.FromMap(nil)
	if _, ok := cfg.MailServer(); err != nil || ok {
		t.Errorf("a mail server without SMTP_URL (%v)", err)
	}
	if from := cfg.Sender(); from.Name != "Sundry" || from.Address != "no-reply@sundry.example" {
		t.Errorf("the sandbox writes as %v", from)
	}
}

func TestABadMailServerStopsTheStartAndIsNotRepeated(t *testing.T) {
	t.Parallel()
	for _, url := range []string{
		"mail.example.com", "http://ada:hunter2@mail.example.com", "smtp://", "smtp://ada:hunter2@",
		"smtp://ada:hunter2@mail.example.com:0",
		"smtp://ada:hunter2@mail.example.com:99999", "smtp://ada:hunter2@mail.example.com:port",
		"smtp://ada:hunter2@mail.example.com/path",
		"smtp://hunter2@mail.example.com", "smtp://:hunter2@mail.example.com",
		"smtp://ada:hunter2@mail.example.com?starttls=maybe",
		"smtps://ada:hunter2@mail.example.com?starttls=required", "smtp://ada:hunter2@mail.example.com?tls=1",
		"smtp://ada:hunter2@mail.example.com?starttls=never&starttls=required", "smtp://ada:hunter2@mail.example.com#x",
		"smtp://ada:hunter2%zz@mail.example.com",
	} {
		_, err := config.FromMap(map[string]string{"SMTP_URL": url})
		if got := fmt.Sprint(err); !strings.Contains(got, "SMTP_URL") || strings.Contains(got, "hunter2") ||
			strings.Contains(got, "\n") {
			t.Errorf("%s: %v", url, err)
		}
	}
	for _, from := range []string{"Sundry", "no-reply@", "a@example.com, b@example.com", "Sundry <no-reply@exämple.com>"} {
		if _, err := config.FromMap(map[string]string{"MAIL_FROM": from}); !strings.Contains(fmt.Sprint(err), "MAIL_FROM") {
			t.Errorf("%s: %v", from, err)
		}
	}
}

func TestLiveNeedsItsMail(t *testing.T) {
	t.Parallel()
	live := map[string]string{
		"ENVIRONMENT": "live", "BASE_URL": "https://pay.example.com", "DATABASE_URL": "postgres://db/sundry",
		"APP_SECRET":  strings.Repeat("only for tests ", 4),
		"SELLER_NAME": "Example Ltd.", "SELLER_ADDRESS": "1 Main Street, Dublin", "SELLER_VAT_ID": "IE1234567T",
		"SELLER_EMAIL": "help@example.com",
		"TERMS_URL":    "https://example.com/terms", "PRIVACY_URL": "https://example.com/privacy",
		"STRIPE_SECRET_KEY": "sk_live_1", "STRIPE_PUBLISHABLE_KEY": "pk_live_1", "STRIPE_WEBHOOK_SECRET": "whsec_1",
	}
	_, err := config.FromMap(live)
	if got := fmt.Sprint(err); got != "SMTP_URL is required when ENVIRONMENT=live" {
		t.Errorf("without: %v", err)
	}
	live["SMTP_URL"] = "smtps://ada:secret@mail.example.com"
	if cfg, err := config.FromMap(live); err != nil || cfg.Sender().Address != "help@example.com" ||
		cfg.Sender().Name != "Example Ltd." {
		t.Errorf("with a server only: %v, %v", cfg.Sender(), err)
	}
	live["MAIL_FROM"] = "Example <no-reply@example.com>"
	if cfg, err := config.FromMap(live); err != nil || cfg.Sender().Address != "no-reply@example.com" {
		t.Errorf("with both: %v, %v", cfg.Sender(), err)
	}
}
