package config_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sundry/config"
)

func TestSecretsComeFromFiles(t *testing.T) {
	t.Parallel()
	folder, secret := t.TempDir(), strings.Repeat("ab", 20)
	file := filepath.Join(folder, "APP_SECRET")
	if err := os.WriteFile(file, []byte(secret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, vars := range map[string]map[string]string{
		"a variable":               {"APP_SECRET": secret},
		"a file":                   {"APP_SECRET_FILE": file},
		"systemd's credentials":    {"CREDENTIALS_DIRECTORY": folder},
		"a file before them":       {"CREDENTIALS_DIRECTORY": "/nowhere", "APP_SECRET_FILE": file},
		"a variable before them":   {"CREDENTIALS_DIRECTORY": "/nowhere", "APP_SECRET": secret},
		"credentials of other use": {"CREDENTIALS_DIRECTORY": t.TempDir(), "APP_SECRET": secret},
	} {
		if cfg, err := config.FromMap(vars); err != nil || cfg.AppSecret != secret {
			t.Errorf("%s: got %q, %v", name, cfg.AppSecret, err)
		}
	}
	for want, vars := range map[string]map[string]string{
		"APP_SECRET and APP_SECRET_FILE are both set": {"APP_SECRET": secret, "APP_SECRET_FILE": file},
		"APP_SECRET cannot be read":                   {"APP_SECRET_FILE": filepath.Join(folder, "none")},
		"STRIPE_SECRET_KEY cannot be read":            {"STRIPE_SECRET_KEY_FILE": folder},
		"APP_SECRET_PREVIOUS must be beside":          {"APP_SECRET_PREVIOUS": secret},
		"APP_SECRET_PREVIOUS must have":               {"APP_SECRET": secret, "APP_SECRET_PREVIOUS": "short"},
	} {
		if _, err := config.FromMap(vars); err == nil || !strings.Contains(err.Error(), want) ||
			strings.Contains(fmt.Sprint(err), secret) {
			t.Errorf("got %v, want a refusal with %q", err, want)
		}
	}
	for _, name := range []string{"APP_SECRET", "DATABASE_URL", "REDIS_URL", "SMTP_URL", "STRIPE_WEBHOOK_SECRET"} {
		if !slices.Contains(config.SecretVariables(), name) {
			t.Errorf("%s holds no secret", name)
		}
	}
}

// Not parallel: it sets variables of the process.
func TestSecretsLeaveTheEnvironment(t *testing.T) {
	secret := strings.Repeat("cd", 20)
	t.Setenv("APP_SECRET", secret)
	t.Setenv("SMTP_URL", "smtps://ada:"+secret+"@mail.example.com")
	cfg, err := config.FromEnvironment()
	if err != nil || cfg.AppSecret != secret {
		t.Fatalf("got %q, %v", cfg.AppSecret, err)
	}
	if all := strings.Join(os.Environ(), "\n"); strings.Contains(all, secret) {
		t.Error("a secret is left in the environment")
	}
}
