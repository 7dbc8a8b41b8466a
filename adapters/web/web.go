// Package web is the room for pages people look at: the hosted checkout, receipts,
// the documentation and the landing page. Pages are rendered by the server from the
// state of the session, so a reload or a second tab always lands where the session is;
// the scripts only send forms and follow what the server answers.
//
// Checkout pages carry no cookies, no third-party code and a nonce content policy.
// Every string a person reads is in strings.go, so a translation is one more table.
package web

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"strings"

	"sundry/core/wire"
)

//go:embed examples
var examples embed.FS

//go:embed templates/*.html
var templateFiles embed.FS

//go:embed static
var staticFiles embed.FS

// Site is what every page knows of the deployment it belongs to.
type Site struct {
	BaseURL string // absolute, without a trailing slash
	Sandbox bool   // shows the sandbox banner, test cards and sign-in hint
}

// Pages renders every page. It is built once at start and safe for concurrent use.
type Pages struct {
	site   Site
	assets *Assets
	tmpl   *template.Template
	docs   *apiDoc
}

// NewPages parses the embedded templates, hashes the assets and reads the OpenAPI
// document (YAML), so that a broken page stops the start instead of a buyer.
func NewPages(site Site, openapi []byte) (*Pages, error) {
	assets, err := newAssets(staticFiles)
	if err != nil {
		return nil, fmt.Errorf("web assets: %w", err)
	}
	p := &Pages{site: site, assets: assets}
	p.tmpl, err = template.New("").Funcs(p.funcs()).ParseFS(templateFiles, "templates/*.html")
	if err != nil {
		return nil, fmt.Errorf("web templates: %w", err)
	}
	if p.docs, err = readAPIDoc(openapi, site.BaseURL); err != nil {
		return nil, fmt.Errorf("web docs: %w", err)
	}
	return p, nil
}

// Assets gives the registry the routes are registered from.
func (p *Pages) Assets() *Assets { return p.assets }

// example is one of the programs that the guide shows and a test runs.
func example(name string) (string, error) {
	source, err := examples.ReadFile("examples/" + name)
	return strings.TrimSpace(string(source)), err
}

func (p *Pages) funcs() template.FuncMap {
	return template.FuncMap{
		"t":         text,
		"asset":     p.assets.Path,
		"money":     formatMoney,
		"date":      formatDate,
		"moment":    formatMoment,
		"stamp":     wire.Instant,
		"host":      hostOf,
		"icon":      p.icon,
		"countries": func() []country { return countries },
		"testCards": func() []testCard { return testCards },
		"upper":     strings.ToUpper,
		"guide":     p.guideSections,
		"example":   example,
		"sandbox":   func() bool { return p.site.Sandbox },
		"base":      func() string { return p.site.BaseURL },
	}
}

// icon inlines one of the small drawings of static/icons, hidden from readers: the words
// beside it always say the same.
func (p *Pages) icon(name string) (template.HTML, error) {
	raw, err := fs.ReadFile(staticFiles, "static/icons/"+name+".svg")
	if err != nil {
		return "", fmt.Errorf("icon %s: %w", name, err)
	}
	return template.HTML(bytes.TrimSpace(raw)), nil //nolint:gosec // embedded at build time, never from a request
}

// render executes one page into memory first: a failing template must never leave half
// a page with a 200 behind it.
func (p *Pages) render(name string, view any) ([]byte, error) {
	var out bytes.Buffer
	if err := p.tmpl.ExecuteTemplate(&out, name, view); err != nil {
		return nil, fmt.Errorf("render %s: %w", name, err)
	}
	return out.Bytes(), nil
}
