// Package web_test holds the texts of core/locale to their uses on the pages of every site.
package web_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"sundry/core/locale"
)

// sources joins the templates, the scripts and the Go files of the sites. The dashboard has catalogs and a Text of its
// own, so its Go files are apart.
func sources(t *testing.T) (templates, scripts, code, dashboard string) {
	t.Helper()
	var out [4]strings.Builder
	kinds := map[string]int{".html": 0, ".js": 1, ".go": 2}
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		kind, known := kinds[filepath.Ext(path)]
		if err != nil || entry.IsDir() || !known || strings.HasSuffix(path, "_test.go") {
			return err
		}
		if kind == 2 && strings.HasPrefix(path, "dashboard"+string(filepath.Separator)) {
			kind = 3
		}
		body, err := os.ReadFile(path)
		out[kind].Write(body)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out[0].String(), out[1].String(), out[2].String(), out[3].String()
}

// built are keys that are put together from a state, a unit, a status or a number, and those that mails and rules say.
var built = regexp.MustCompile(
	`^(interval|billed|bytes|days|hours|minutes|title|error|mode|weekday|month|mail|every|document|remedy|decline|zone|results|tax|consent|discount|share)\.`,
)

// Every text is used and every used text exists, so a translation is complete when it has the same keys.
func TestTextsAndTheirUsesAgree(t *testing.T) {
	t.Parallel()
	templates, scripts, code, dashboard := sources(t)
	for _, m := range regexp.MustCompile(`\b(?:t|Text\() ?"([^"]+)"[ })|]`).FindAllStringSubmatch(templates, -1) {
		if !locale.Has(m[1]) {
			t.Errorf("a template uses the unknown text %q", m[1])
		}
	}
	for _, m := range regexp.MustCompile(`\.Text\("([^"]+)"[,)]`).FindAllStringSubmatch(code, -1) {
		if !locale.Has(m[1]) {
			t.Errorf("a page uses the unknown text %q", m[1])
		}
	}
	for _, m := range regexp.MustCompile(`words\.([a-z_]+)`).FindAllStringSubmatch(scripts, -1) {
		if !locale.Has("js." + m[1]) {
			t.Errorf("a script uses the unknown text %q", m[1])
		}
	}
	for _, key := range locale.Keys() {
		name, ofScript := strings.CutPrefix(key, "js.")
		quoted := strconv.Quote(key)
		switch {
		case built.MatchString(key):
		case ofScript && (strings.Contains(scripts, "words."+name) || strings.Contains(scripts, strconv.Quote(name))):
		case strings.Contains(templates, quoted), strings.Contains(code, quoted), strings.Contains(dashboard, quoted):
		default:
			t.Errorf("the text %q is never used", key)
		}
	}
}
