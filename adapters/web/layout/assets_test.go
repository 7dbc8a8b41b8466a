package layout

import (
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

func smallSite(card string) fstest.MapFS {
	file := func(body string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(body)} }
	return fstest.MapFS{
		"static/css/00.css":      file("a{}\n"),
		"static/css/10.css":      file("b{}\n"),
		"static/favicon.svg":     file("<svg/>"),
		"static/js/card.js":      file(card),
		"static/js/pay.js":       file(`import * as card from "./card.js";`),
		"static/js/checkout.js":  file(`import pay from "./pay.js";`),
		"static/js/unrelated.js": file("2"),
	}
}

func assetsOf(site fstest.MapFS) (*Assets, error) {
	a := newAssets()
	return a, a.addSite("sundry", site)
}

func TestAChangedModuleRenamesItselfAndEverythingAbove(t *testing.T) {
	t.Parallel()
	before, err := assetsOf(smallSite("export const a = 1"))
	if err != nil {
		t.Fatal(err)
	}
	after, err := assetsOf(smallSite("export const a = 2"))
	if err != nil {
		t.Fatal(err)
	}
	for name, changes := range map[string]bool{"card.js": true, "pay.js": true, "checkout.js": true, "unrelated.js": false,
		"sundry.css": false} {
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
}

func TestAssetsThatCannotBeBuiltStopTheStart(t *testing.T) {
	t.Parallel()
	cases := map[string]func(fstest.MapFS){
		"a module importing a missing one": func(f fstest.MapFS) { f["static/js/card.js"].Data = []byte(`import "./gone.js"`) },
		"modules importing each other":     func(f fstest.MapFS) { f["static/js/card.js"].Data = []byte(`import x from "./pay.js"`) },
		"two files of one name":            func(f fstest.MapFS) { f["static/sundry.css"] = &fstest.MapFile{} },
	}
	for name, spoil := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			site := smallSite("")
			spoil(site)
			if _, err := assetsOf(site); err == nil {
				t.Error("no error")
			}
		})
	}
}

func TestOnlyServedPathsAreFound(t *testing.T) {
	t.Parallel()
	assets, err := assetsOf(smallSite(""))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/assets/", "/assets/checkout.js", "/assets/../layout.go", "/static/js/checkout.js",
		""} {
		if assets.Lookup(path) != nil {
			t.Errorf("%q is served", path)
		}
	}
	for _, name := range []string{"sundry.css", "favicon.svg", "card.js", "checkout.js"} {
		path, err := assets.Path(name)
		if err != nil || assets.Lookup(path) == nil || assets.Lookup(path).ContentType == "" {
			t.Errorf("%s is not served at %q: %v", name, path, err)
		}
	}
	if _, err := assets.Path("gone.js"); err == nil {
		t.Error("a missing asset has a path")
	}
}
