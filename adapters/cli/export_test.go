package cli

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAnExportThatBreaksOffLeavesNoFile(t *testing.T) {
	t.Parallel()
	const line = `{"type":"customer","data":{}}` + "\n"
	for name, c := range map[string]struct {
		body string
		ok   bool
	}{
		"a whole one":           {line + `{"type":"end","data":{"lines":1}}` + "\n", true},
		"one without an end":    {line + line, false},
		"one with a line less":  {`{"type":"end","data":{"lines":1}}` + "\n", false},
		"one that ends in half": {line + `{"type":"end","data"`, false},
		"nothing":               {"", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/v1/export" || r.Header.Get("Authorization") != "Bearer k" {
					t.Errorf("asked %s with %q", r.URL, r.Header.Get("Authorization"))
				}
				_, _ = io.WriteString(w, c.body)
			}))
			defer server.Close()
			file := filepath.Join(t.TempDir(), "out")
			var out strings.Builder
			err := Run(t.Context(), []string{"export", "--api", server.URL, "--key", "k", file}, Host{Out: &out})
			text, readErr := os.ReadFile(file)
			if (err == nil) != c.ok || (readErr == nil) != c.ok || c.ok && string(text) != c.body {
				t.Errorf("error %v, file %q, %v", err, text, readErr)
			}
			if _, err := os.Stat(file + ".part"); !os.IsNotExist(err) {
				t.Errorf("a part is left: %v", err)
			}
		})
	}
}
