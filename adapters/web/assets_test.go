package web

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

// goStrings collects the string literals of the package's own files, without the table
// of messages itself.
func goStrings(t *testing.T) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if name == "strings.go" || strings.HasSuffix(name, "_test.go") {
			continue
		}
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, src, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if s, err := strconv.Unquote(lit.Value); err == nil {
					found[s] = true
				}
			}
			return true
		})
	}
	return found
}

func smallSite(card string) fstest.MapFS {
	file := func(body string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(body)} }
	return fstest.MapFS{
		"static/css/00.css":      file("a{}\n"),
		"static/css/10.css":      file("b{}\n"),
		"static/favicon.svg":     file("<svg/>"),
		"static/sundry.js":       file("1"),
		"static/js/card.js":      file(card),
		"static/js/pay.js":       file(`import * as card from "./card.js";`),
		"static/js/checkout.js":  file(`import pay from "./pay.js";`),
		"static/js/unrelated.js": file("2"),
	}
}

func TestAChangedModuleRenamesItselfAndEverythingAbove(t *testing.T) {
	t.Parallel()
	before, err := newAssets(smallSite("export const a = 1"))
	if err != nil {
		t.Fatal(err)
	}
	after, err := newAssets(smallSite("export const a = 2"))
	if err != nil {
		t.Fatal(err)
	}
	for name, changes := range map[string]bool{"card.js": true, "pay.js": true, "checkout.js": true, "unrelated.js": false, "sundry.css": false} {
		old, _ := before.Path(name)
		now, _ := after.Path(name)
		if (old != now) != changes {
			t.Errorf("%s: %s then %s, want changed=%v", name, old, now, changes)
		}
	}
	pay, card := after.byName["pay.js"], after.byName["card.js"]
	if !strings.Contains(string(pay.Body), strconv.Quote(card.Path)) {
		t.Errorf("pay.js imports %s, want %s", pay.Body, card.Path)
	}
	if css := after.byName["sundry.css"]; string(css.Body) != "a{}\nb{}\n" {
		t.Errorf("styles joined as %q", css.Body)
	}
	if got, _ := after.Path(overlayScript); got != "/sundry.js" {
		t.Errorf("overlay script is at %q", got)
	}
}

func TestAssetsThatCannotBeBuiltStopTheStart(t *testing.T) {
	t.Parallel()
	cases := map[string]func(fstest.MapFS){
		"a module importing a missing one": func(f fstest.MapFS) { f["static/js/card.js"].Data = []byte(`import "./gone.js"`) },
		"modules importing each other":     func(f fstest.MapFS) { f["static/js/card.js"].Data = []byte(`import x from "./pay.js"`) },
		"no style sheet":                   func(f fstest.MapFS) { delete(f, "static/css/00.css"); delete(f, "static/css/10.css") },
		"no overlay script":                func(f fstest.MapFS) { delete(f, "static/sundry.js") },
	}
	for name, spoil := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			site := smallSite("")
			spoil(site)
			if _, err := newAssets(site); err == nil {
				t.Error("no error")
			}
		})
	}
}

func TestOnlyServedPathsAreFound(t *testing.T) {
	t.Parallel()
	assets, err := newAssets(staticFiles)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/assets/", "/assets/checkout.js", "/assets/../web.go", "/static/js/checkout.js", ""} {
		if assets.Lookup(path) != nil {
			t.Errorf("%q is served", path)
		}
	}
	names, err := fs.Glob(staticFiles, "static/js/*.js")
	if err != nil || len(names) < 5 {
		t.Fatalf("%d modules, %v", len(names), err)
	}
	for _, name := range names {
		path, err := assets.Path(filepath.Base(name))
		if err != nil || assets.Lookup(path) == nil || assets.Lookup(path).ContentType == "" {
			t.Errorf("%s is not served at %q: %v", name, path, err)
		}
	}
	if _, err := assets.Path("gone.js"); err == nil {
		t.Error("a missing asset has a path")
	}
}
