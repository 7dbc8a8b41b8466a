package config_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sundry/config"
)

func TestSettingsComeFromAFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "cell.env")
	for name, c := range map[string]struct {
		text, fault string
	}{
		"as Docker and systemd read it": {text: "# a cell\n\nCELL=7\r\nSELLER_NAME=\"Ada & Co\"\nDATABASE_URL='sqlite:a=b.db'\n"},
		"a line of something else":      {text: "CELL=7\nexport X hunter2", fault: "line 2 is not NAME=value"},
		"a setting that is wrong":       {text: "CELL=1024", fault: "CELL must be 0 to 1023, not 1024"},
	} {
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		cfg, err := config.FromFile(path)
		if c.fault != "" {
			if !strings.Contains(fmt.Sprint(err), c.fault) || strings.Contains(fmt.Sprint(err), "hunter2") {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil || cfg.Cell != 7 || cfg.SellerName != "Ada & Co" || cfg.DatabaseURL != "sqlite:a=b.db" {
			t.Errorf("%s: cell %d of %q, %v", name, cfg.Cell, cfg.SellerName, err)
		}
	}
	if _, err := config.FromFile(path + "x"); err == nil {
		t.Error("a file that is not there is read")
	}
}
