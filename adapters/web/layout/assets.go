package layout

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"iter"
	"maps"
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
	encoded     *Encoded
}

// Assets maps names to hashed paths. A name with its content's hash can be cached for ever: a changed file is another
// path, so a deployment never mixes old and new. The names of all sites are different.
type Assets struct {
	byName map[string]*Asset
	byPath map[string]*Asset
}

// moduleImport finds the imports between our own modules, static and dynamic.
var moduleImport = regexp.MustCompile(`(from\s+|import\s+|import\()"\./([a-z-]+\.js)"`)

func newAssets() *Assets { return &Assets{byName: map[string]*Asset{}, byPath: map[string]*Asset{}} }

// addSite registers the style sheet, the files and the modules of a site.
func (a *Assets) addSite(name string, files fs.FS) error {
	if err := a.addStyles(files, name+".css"); err != nil {
		return err
	}
	loose, err := fs.Glob(files, "static/*.*")
	if err != nil {
		return fmt.Errorf("assets: %w", err)
	}
	for _, file := range loose {
		body, err := fs.ReadFile(files, file)
		if err == nil {
			err = a.add(path.Base(file), body)
		}
		if err != nil {
			return fmt.Errorf("asset %s: %w", file, err)
		}
	}
	modules, err := fs.Glob(files, "static/js/*.js")
	if err != nil {
		return fmt.Errorf("modules: %w", err)
	}
	for _, m := range modules {
		if err := a.addModule(files, path.Base(m), nil); err != nil {
			return err
		}
	}
	return nil
}

// addStyles makes one style sheet of the parts, in the order of their names: a page then needs one request, and the
// parts stay small enough to read. A site without parts has no sheet.
func (a *Assets) addStyles(files fs.FS, name string) error {
	parts, err := fs.Glob(files, "static/css/*.css")
	if err != nil || len(parts) == 0 {
		return err
	}
	var out []byte
	for _, p := range parts {
		body, err := fs.ReadFile(files, p)
		if err != nil {
			return fmt.Errorf("style %s: %w", p, err)
		}
		out = append(out, body...)
	}
	return a.add(name, out)
}

// addModule registers a module after the modules it imports, and writes their hashed names into it, so that a change
// below changes the name of everything above. A module may import those of sites added before.
func (a *Assets) addModule(files fs.FS, name string, above []string) error {
	body, err := fs.ReadFile(files, "static/js/"+name)
	if a.byName[name] != nil {
		return nil
	}
	if slices.Contains(above, name) {
		return fmt.Errorf("module %s: modules import each other: %s", name, strings.Join(above, " > "))
	}
	if err != nil {
		return fmt.Errorf("module %s: %w", name, err)
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
	return a.add(name, body)
}

func (a *Assets) add(name string, body []byte) error {
	if a.byName[name] != nil {
		return fmt.Errorf("asset %s: the name is taken", name)
	}
	sum := sha256.Sum256(body)
	hash := hex.EncodeToString(sum[:5])
	ext := path.Ext(name)
	asset := &Asset{
		Name:        name,
		Path:        "/assets/" + strings.TrimSuffix(name, ext) + "." + hash + ext,
		ContentType: contentTypes[ext],
		Body:        body,
		ETag:        `"` + hash + `"`,
		encoded:     NewEncoded(body),
	}
	a.byName[name] = asset
	a.byPath[asset.Path] = asset
	return nil
}

var contentTypes = map[string]string{
	".css": "text/css; charset=utf-8",
	".js":  "text/javascript; charset=utf-8",
	".svg": "image/svg+xml",
}

// Path returns the served path of a file; a template that names a missing one fails to render.
func (a *Assets) Path(name string) (string, error) {
	asset := a.byName[name]
	if asset == nil {
		return "", fmt.Errorf("no asset %q", name)
	}
	return asset.Path, nil
}

// Named returns the asset with a name, nil when there is none.
func (a *Assets) Named(name string) *Asset { return a.byName[name] }

// All returns the files of every site added so far.
func (a *Assets) All() iter.Seq[*Asset] { return maps.Values(a.byName) }

// Lookup finds the asset served at exactly this path, or nil.
func (a *Assets) Lookup(servedPath string) *Asset { return a.byPath[servedPath] }
