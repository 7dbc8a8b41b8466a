package cli

import (
	"os"
	"path/filepath"
	"testing"
)

func TestTheCatalogCommandIsReadStrictly(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args []string
		want catalogCommand
		ok   bool
	}{
		"an export": {[]string{"export", "f"}, catalogCommand{action: "export", file: "f"}, true},
		"an export of an account": {
			[]string{"export", "f", "a@b.c"}, catalogCommand{action: "export", file: "f", account: "a@b.c"}, true,
		},
		"an import as a preview": {
			[]string{"import", "--dry-run", "f"}, catalogCommand{action: "import", file: "f", dryRun: true}, true,
		},
		"an import without a doubt": {
			[]string{"import", "-", "--yes"}, catalogCommand{action: "import", file: "-", yes: true}, true,
		},
		"nothing":                {nil, catalogCommand{}, false},
		"no file":                {[]string{"import"}, catalogCommand{}, false},
		"an unknown action":      {[]string{"sync", "f"}, catalogCommand{}, false},
		"an unknown flag":        {[]string{"import", "f", "--force"}, catalogCommand{}, false},
		"an export as a preview": {[]string{"export", "f", "--dry-run"}, catalogCommand{}, false},
		"too much":               {[]string{"import", "f", "a", "b"}, catalogCommand{}, false},
	} {
		got, err := parseCatalogCommand(c.args)
		if (err == nil) != c.ok || c.ok && got != c.want {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// Standard input is null in a unit of systemd, a container or a job of cron, where nobody can agree.
func TestIsTerminal_NotTheNullDevice(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "stdin")
	if err := os.Symlink(os.DevNull, path); err != nil {
		t.Fatal(err)
	}
	stdin, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = stdin.Close() })
	if isTerminal(stdin) {
		t.Error("the null device is taken for a terminal")
	}
}
