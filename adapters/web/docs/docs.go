// Package docs is the site of those who build on the service: the landing page, the guide and the API reference, which is
// read from the OpenAPI document at start.
package docs

import (
	"embed"
	"fmt"
	"html/template"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/web/layout"
	"sundry/core/locale"
)

//go:embed templates static
var files embed.FS

//go:embed examples
var examples embed.FS

// Routes are the pages over HTTP.
type Routes struct {
	layout    *layout.Layout
	pages     *layout.Pages
	reference *apiDoc
}

// New reads the OpenAPI document (YAML), so that a broken one stops the start.
func New(l *layout.Layout, openapi []byte) (*Routes, error) {
	reference, err := readAPIDoc(openapi, l.Config().BaseURL)
	if err != nil {
		return nil, fmt.Errorf("docs: %w", err)
	}
	r := &Routes{layout: l, reference: reference}
	r.pages, err = l.Pages(layout.Files{Name: "docs", FS: files, Funcs: r.funcs})
	return r, err
}

// Mount adds the pages to the application.
func (r *Routes) Mount(app fiber.Router) {
	compress := layout.Compress()
	app.Get("/", compress, r.public("landing.html", "landing.title", "", "site"))
	app.Get("/llms.txt", compress, r.plain)
	app.Get("/docs", compress, r.public("docs.html", "docs.guide_title", "docs.js", "site docs"))
}

// public serves a page that is the same for everybody.
func (r *Routes) public(name, title, script, classes string) fiber.Handler {
	return func(c *fiber.Ctx) error {
		html, err := r.render(layout.Reader(c), name, title, script, classes)
		if err != nil {
			return r.layout.Fail(c, err)
		}
		c.Set(fiber.HeaderCacheControl, "public, max-age=300")
		c.Vary(fiber.HeaderAcceptLanguage)
		return layout.Send(c, html, layout.Policy{Scripts: "'self'"})
	}
}

func (r *Routes) render(reader locale.Locale, name, title, script, classes string) ([]byte, error) {
	return r.pages.Render(reader, name, layout.View{
		Title: reader.Text(title) + " · " + reader.Text("brand"), Script: script, Classes: classes, Page: r.reference,
	})
}

func (r *Routes) funcs(reader locale.Locale) template.FuncMap {
	return template.FuncMap{
		"guide":    func() []guideSection { return r.guideSections(reader) },
		"example":  program,
		"remedies": func() []remedy { return remedies(reader) },
		"dated":    func(text string) string { return asOf(time.Now(), text) },
		"today":    func() string { return time.Now().UTC().Format(time.DateOnly) },
		"monday":   func() string { return firstMonday(time.Now()) },
	}
}

// program is one of the programs that the guide shows and a test runs.
func program(name string) (string, error) {
	source, err := examples.ReadFile("examples/" + name)
	return strings.TrimSpace(string(source)), err
}

// guideSection is one heading of the guide, for its table of contents.
type guideSection struct{ ID, Title string }

// guideSections lists what templates/guide.html holds; a test compares the two.
func (r *Routes) guideSections(reader locale.Locale) []guideSection {
	ids := []string{"setup", "level-0", "level-1", "level-2", "level-3", "appointments", "overlay"}
	if r.layout.Config().Sandbox {
		ids = append(ids, "local", "test-cards")
	}
	ids = append(ids, "errors")
	sections := make([]guideSection, len(ids))
	for i, id := range ids {
		sections[i] = guideSection{id, reader.Text("guide." + strings.ReplaceAll(id, "-", "_"))}
	}
	return sections
}
