// Package docs is the site for integrators: the landing page, the guide and the API reference, which is read from the
// OpenAPI document on the first request for it.
package docs

import (
	"embed"
	"html/template"
	"strings"
	"sync"
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
	layout *layout.Layout
	pages  *layout.Pages
	// reference is read for each page that is rendered, which are few: kept, it would be most of an idle process's memory.
	reference func() (*apiDoc, error)
}

// New parses the templates. The reference is read from the OpenAPI document (YAML) later.
func New(l *layout.Layout, openapi func() ([]byte, error)) (_ *Routes, err error) {
	r := &Routes{
		layout: l,
		reference: func() (*apiDoc, error) {
			text, err := openapi()
			if err != nil {
				return nil, err
			}
			return readAPIDoc(text, l.Config().BaseURL)
		},
	}
	r.pages, err = l.Pages(layout.Files{Name: "docs", FS: files, Funcs: r.funcs})
	return r, err
}

// Mount adds the pages to the application.
func (r *Routes) Mount(app fiber.Router) {
	app.Get("/", r.public("landing.html", "landing.title", "", "site"))
	app.Get("/llms.txt", layout.Compress(), r.plain)
	app.Get("/docs", r.public("docs.html", "docs.guide_title", "docs.js", "site docs"))
}

// public serves a page that is the same for all readers of one language and format. The reference takes a tenth of a
// second to render and more to compress, so each page is cached for the day that its dates count from.
func (r *Routes) public(name, title, script, classes string) fiber.Handler {
	type rendered struct {
		day  string
		page *layout.Encoded
	}
	var rendering sync.Mutex
	kept := map[locale.Locale]rendered{}
	today := func(reader locale.Locale) (*layout.Encoded, error) {
		rendering.Lock()
		defer rendering.Unlock()
		day := time.Now().UTC().Format(time.DateOnly)
		if kept[reader].day == day {
			return kept[reader].page, nil
		}
		html, err := r.render(reader, name, title, script, classes)
		if err != nil {
			return nil, err
		}
		kept[reader] = rendered{day, layout.NewEncoded(html)}
		return kept[reader].page, nil
	}
	return func(c *fiber.Ctx) error {
		page, err := today(layout.Reader(c).Pattern())
		if err != nil {
			return r.layout.Fail(c, err)
		}
		c.Set(fiber.HeaderCacheControl, "public, max-age=300")
		c.Vary(fiber.HeaderAcceptLanguage)
		return layout.SendEncoded(c, page, layout.Policy{Scripts: "'self'"})
	}
}

func (r *Routes) render(reader locale.Locale, name, title, script, classes string) ([]byte, error) {
	return r.pages.Render(reader, name, layout.View{
		Title: reader.Text(title) + " · " + reader.Text("brand"), Script: script, Classes: classes,
	})
}

func (r *Routes) funcs(reader locale.Locale) template.FuncMap {
	return template.FuncMap{
		"reference": r.reference,
		"guide":     func() []guideSection { return r.guideSections(reader) },
		"example":   program,
		"remedies":  func() []remedy { return r.remedies(reader) },
		"dated":     func(text string) string { return asOf(time.Now(), text) },
		"today":     func() string { return time.Now().UTC().Format(time.DateOnly) },
		"monday":    func() string { return firstMonday(time.Now()) },
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
	if !r.layout.Config().Live {
		ids = append(ids, "local", "test-cards")
	}
	ids = append(ids, "errors")
	sections := make([]guideSection, len(ids))
	for i, id := range ids {
		sections[i] = guideSection{id, reader.Text("guide." + strings.ReplaceAll(id, "-", "_"))}
	}
	return sections
}
