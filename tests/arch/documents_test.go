package arch

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestDocumentsNameWhatIsThere(t *testing.T) {
	t.Parallel()
	all, err := load()
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := parser.ParseFile(token.NewFileSet(), root+"/config/config.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	words := textsIn(all)
	for _, s := range settingsOf(parsed) {
		words = append(words, s.variable)
	}
	known, err := readRepository(root, all, words)
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, document := range documents(t, root) {
		raw, err := os.ReadFile(filepath.Join(root, document))
		if err != nil {
			t.Fatal(err)
		}
		for _, fault := range known.documentFaults(document, string(raw)) {
			t.Error(fault)
		}
		checked++
	}
	if checked < 20 {
		t.Errorf("checked %d documents, expected at least 20", checked)
	}
	wantFoldersNamed(t, root)
}

func TestCommentsCiteWhatIsThere(t *testing.T) {
	t.Parallel()
	all, err := load()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		if s.dir() == "tests/arch" {
			continue // the samples
		}
		raw, err := os.ReadFile(filepath.Join(root, s.path))
		if err != nil {
			t.Fatal(err)
		}
		for _, fault := range citationFaults(s.path, string(raw)) {
			t.Error(fault)
		}
	}
	for text, want := range map[string]int{
		"// timeout bounds an attempt (contract §12).": 1,
		"// The statuses of the specification.":        1,
		"x := 1 // see §4":                             1,
		"// RFC 9110, section 5.6.7":                   0,
		"alphabet := \"§\"":                            0,
	} {
		if faults := citationFaults("x.go", text); len(faults) != want {
			t.Errorf("%s: faults %q, want %d", text, faults, want)
		}
	}
}

// documents lists the documents that must be true. The others tell of the past.
func documents(t *testing.T, root string) []string {
	t.Helper()
	var all []string
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/architecture/*.md"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range found {
			relative, err := filepath.Rel(root, file)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, filepath.ToSlash(relative))
		}
	}
	return slices.DeleteFunc(all, func(file string) bool {
		return file == "CHANGELOG.md" || file == "docs/benchmarks.md"
	})
}

// wantFoldersNamed requires ARCHITECTURE.md to name the folders at the root and all of tests.
func wantFoldersNamed(t *testing.T, root string) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(root, "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, parent := range []string{"", "tests/"} {
		entries, err := os.ReadDir(filepath.Join(root, parent))
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range entries {
			name := parent + entry.Name()
			other := slices.Contains([]string{"data", "docs", "node_modules"}, name)
			if !entry.IsDir() || strings.HasPrefix(entry.Name(), ".") || other {
				continue
			}
			if !strings.Contains(string(raw), "`"+name+"`") && !strings.Contains(string(raw), "`"+name+"/") {
				t.Errorf("ARCHITECTURE.md does not name %s", name)
			}
		}
	}
}

func TestDocumentFaults(t *testing.T) {
	t.Parallel()
	s, err := parse(token.NewFileSet(), "core/payment/x.go", "core/payment/x.go", `package payment
		type Completed struct { State int }
		type Port interface { Charge() }
		func (p *Payment[T]) Settle() {}
		const Limit = 1`)
	if err != nil {
		t.Fatal(err)
	}
	known := repository{
		paths: map[string]bool{"core/payment": true, "docs/taxes.md": true}, names: map[string]bool{"pay.go": true},
		declared: map[string]map[string]bool{}, folders: map[string][]string{},
		words: map[string]bool{"BASE_URL": true, "payment.charge": true},
	}
	known.declare(s)
	for text, want := range map[string]string{
		"`payment.Completed`":                          "",
		"`core/payment.Limit`":                         "",
		"`payment.Port.Charge`":                        "",
		"`payment.Payment.Settle`":                     "",
		"`Completed.State`":                            "",
		"`payment.charge`, a task":                     "",
		"`core/<concept>`, `POST /v1/x`, `/c/{id}`":    "",
		"`core/payment`, `pay.go`, [taxes](taxes.md)":  "",
		"`BASE_URL`, `TEST_AXE`, `data/mail`, `RULES`": "",
		"[Go](https://go.dev/x)":                       "",
		"```\n`payment.Gone`\n```":                     "",
		"`payment.Succeeded`":                          "no such package",
		"`core/refund.Limit`":                          "no such package",
		"`payment.Port.Refund`":                        "no such package",
		"`Completed.Amount`":                           "no type",
		"`core/refund`":                                "no such file or folder",
		"`payment.settle`, a task":                     "neither a task",
		"`books.go`":                                   "no such file or folder",
		"`BASE_URI`":                                   "neither a setting",
		"[gone](gone.md#here)":                         "no such file",
	} {
		faults := known.documentFaults("docs/x.md", text)
		if want == "" && len(faults) > 0 || want != "" && (len(faults) != 1 || !strings.Contains(faults[0], want)) {
			t.Errorf("%s: faults %q, want %q", text, faults, want)
		}
	}
}
