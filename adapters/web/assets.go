package web

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Asset is one file as it is served.
type Asset struct {
	Name        string // "checkout.js"
	Path        string // "/assets/checkout.1f2e3d4c5b.js", or its plain path when it must keep its name
	ContentType string
	Body        []byte
	ETag        string
}

// Assets maps names to hashed paths. A name with its content's hash can be cached for
// ever: a changed file is another path, so a deployment never mixes old and new.
type Assets struct {
	byName map[string]*Asset
	byPath map[string]*Asset
}

// overlayScript keeps its plain name because integrators write it into their own pages.
const overlayScript = "sundry.js"

// moduleImport finds the static imports between our own modules.
var moduleImport = regexp.MustCompile(`(from\s+|import\s+)"\./([a-z-]+\.js)"`)

func newAssets(files fs.FS) (*Assets, error) {
	a := &Assets{byName: map[string]*Asset{}, byPath: map[string]*Asset{}}
	css, err := joinStyles(files)
	if err != nil {
		return nil, err
	}
	a.add("sundry.css", css)
	for _, name := range []string{"favicon.svg", overlayScript} {
		body, err := fs.ReadFile(files, "static/"+name)
		if err != nil {
			return nil, fmt.Errorf("asset %s: %w", name, err)
		}
		a.add(name, body)
	}
	modules, err := fs.Glob(files, "static/js/*.js")
	if err != nil {
		return nil, fmt.Errorf("asset modules: %w", err)
	}
	for _, m := range modules {
		if err := a.addModule(files, path.Base(m), nil); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// joinStyles makes one style sheet of the parts, in the order of their names: pages then
// need one request, and the parts stay small enough to read.
func joinStyles(files fs.FS) ([]byte, error) {
	parts, err := fs.Glob(files, "static/css/*.css")
	if err != nil || len(parts) == 0 {
		return nil, fmt.Errorf("asset styles: %d parts, %w", len(parts), err)
	}
	var out []byte
	for _, p := range parts {
		body, err := fs.ReadFile(files, p)
		if err != nil {
			return nil, fmt.Errorf("asset %s: %w", p, err)
		}
		out = append(out, body...)
	}
	return out, nil
}

// addModule registers a module after the modules it imports, and writes their hashed
// names into it, so that a change below changes the name of everything above.
func (a *Assets) addModule(files fs.FS, name string, above []string) error {
	if a.byName[name] != nil {
		return nil
	}
	if slices.Contains(above, name) {
		return fmt.Errorf("asset %s: modules import each other: %s", name, strings.Join(above, " > "))
	}
	body, err := fs.ReadFile(files, "static/js/"+name)
	if err != nil {
		return fmt.Errorf("asset %s: %w", name, err)
	}
	for _, m := range moduleImport.FindAllSubmatch(body, -1) {
		if err := a.addModule(files, string(m[2]), append(above, name)); err != nil {
			return err
		}
	}
	body = moduleImport.ReplaceAllFunc(body, func(match []byte) []byte {
		m := moduleImport.FindSubmatch(match)
		return fmt.Appendf(nil, "%s%q", m[1], a.byName[string(m[2])].Path)
	})
	a.add(name, body)
	return nil
}

func (a *Assets) add(name string, body []byte) {
	sum := sha256.Sum256(body)
	hash := hex.EncodeToString(sum[:5])
	ext := path.Ext(name)
	asset := &Asset{
		Name:        name,
		Path:        "/assets/" + strings.TrimSuffix(name, ext) + "." + hash + ext,
		ContentType: contentTypes[ext],
		Body:        body,
		ETag:        `"` + hash + `"`,
	}
	if name == overlayScript {
		asset.Path = "/" + overlayScript
	}
	a.byName[name] = asset
	a.byPath[asset.Path] = asset
}

var contentTypes = map[string]string{
	".css": "text/css; charset=utf-8",
	".js":  "text/javascript; charset=utf-8",
	".svg": "image/svg+xml",
}

// Path gives the served path of a file; a template naming a missing one fails to render.
func (a *Assets) Path(name string) (string, error) {
	asset := a.byName[name]
	if asset == nil {
		return "", fmt.Errorf("no asset %q", name)
	}
	return asset.Path, nil
}

// Lookup finds the asset served at exactly this path, or nil.
func (a *Assets) Lookup(servedPath string) *Asset { return a.byPath[servedPath] }
