package bootstrap

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sundry/config"
)

func TestAUsedDatabaseGetsNoNewSecret(t *testing.T) {
	t.Parallel()
	cfg := config.Config{DataDir: t.TempDir()}
	path := filepath.Join(cfg.DataDir, "app_secret")
	used := true
	load := func() ([]byte, error) { return loadSecret(cfg, func() (bool, error) { return used, nil }) }
	if _, err := load(); err == nil || !strings.Contains(err.Error(), "APP_SECRET") {
		t.Errorf("without the secret: %v", err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("a refused start has written a secret")
	}
	used = false
	first, err := load()
	if err != nil {
		t.Fatal(err)
	}
	used = true
	if again, err := load(); err != nil || string(again) != string(first) {
		t.Errorf("the next start: %v", err)
	}
}
