// Package docs is the site for integrators: the landing page, the guide, and the API reference with a page for each
// resource, which is read from the OpenAPI document on the first request for it.
package docs

import (
	"embed"
	"html/template"
	"strings"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/web/layout"
	"sundry/core/fault"
	"sundry/core/locale"
)

//go:embed templates static
var files embed.FS

//go:embed examples
var examples embed.FS

// Routes serves the documentation.
type Routes struct {
	layout *layout.Layout
	pages  *layout.Pages
	// reference is read for each page that is rendered, which are few: kept, it would be most of an idle process's memory.
	reference func() (*apiDoc, error)
	// contents is made with the first page, and kept: every page lists it, and the search reads it.
	contents func() (*contents, error)
	rendered dayCache
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
	r.contents = sync.OnceValues(func() (*contents, error) {
		doc, err := r.reference()
		if err != nil {
			return nil, err
		}
		guide, err := r.guideText()
		if err != nil {
			return nil, err
		}
		return newContents(r.guideSections(locale.Default), guide, doc), nil
	})
	r.pages, err = l.Pages(layout.Files{Name: "docs", FS: files, Funcs: r.funcs})
	return r, err
}

// Mount adds the pages to the application.
func (r *Routes) Mount(app fiber.Router) {
	handle := r.layout.Handle
	app.Get("/", handle(func(c *fiber.Ctx) error { return r.send(c, "landing", "", r.landing) }))
	app.Get("/llms.txt", layout.Compress(), r.plain)
	app.Get("/llms-full.txt", r.markdown)
	app.Get("/docs.md", r.markdown)
	app.Get("/docs", handle(r.start))
	app.Get("/docs/:page", handle(r.page))
}

func (r *Routes) landing(reader locale.Locale) ([]byte, error) {
	return r.pages.Render(reader, "landing.html", layout.View{
		Title: titled(reader, reader.Text("landing.title")), Classes: "site",
	})
}

// start serves the guide, and the results of a search.
func (r *Routes) start(c *fiber.Ctx) error {
	query := strings.TrimSpace(c.Query("q"))
	if query == "" {
		return r.serve(c, guidePage)
	}
	html, err := r.render(layout.Reader(c).Pattern(), "", query)
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderXRobotsTag, "noindex")
	return layout.SendPrivate(c, html, policy)
}

// page serves a page of the reference.
func (r *Routes) page(c *fiber.Ctx) error {
	all, err := r.contents()
	if err != nil {
		return err
	}
	slug := c.Params("page")
	if !all.has(slug) {
		return fault.New(fault.NotFoundCode, "There is no such page.")
	}
	return r.serve(c, slug)
}

// serve sends a page that is the same for all readers of one language and format.
func (r *Routes) serve(c *fiber.Ctx, slug string) error {
	return r.send(c, "docs", slug, func(reader locale.Locale) ([]byte, error) {
		return r.render(reader, slug, "")
	})
}

// send responds with what render makes, which is kept for the day that the dates of its examples count from.
func (r *Routes) send(c *fiber.Ctx, kind, slug string, render func(reader locale.Locale) ([]byte, error)) error {
	reader := layout.Reader(c).Pattern()
	page, err := r.rendered.get(cachedPage{kind, slug, reader}, func() ([]byte, error) { return render(reader) })
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderCacheControl, "public, max-age=300")
	c.Vary(fiber.HeaderAcceptLanguage)
	return layout.SendEncoded(c, page, policy)
}

// policy allows the search.
var policy = layout.Policy{Scripts: "'self'", Forms: true}

// guidePage is the slug of the guide, which is at /docs itself.
const guidePage = ""

// docsPage holds the data of the template.
type docsPage struct {
	Slug, Heading string
	Contents      *contents
	Reference     *apiDoc
	Group         *apiGroup // nil for the guide, the events, the list of operations and a search
	Query         string
	Found         []topic
}

// render makes the page of a slug, or the results of a search.
func (r *Routes) render(reader locale.Locale, slug, query string) ([]byte, error) {
	all, err := r.contents()
	if err != nil {
		return nil, err
	}
	page := docsPage{Slug: slug, Contents: all, Query: query}
	switch {
	case query != "":
		page.Heading, page.Found = reader.Text("docs.found"), all.search(query)
	case slug == guidePage:
		page.Heading = reader.Text("docs.guide_title")
	default:
		if page.Reference, err = r.reference(); err != nil {
			return nil, err
		}
		page.Group = page.Reference.group(slug)
		switch {
		case page.Group != nil:
			page.Heading = page.Group.Name
		case slug == eventsPage:
			page.Heading = reader.Text("docs.events")
		default:
			page.Heading = reader.Text("docs.title")
		}
	}
	return r.pages.Render(reader, "docs.html", layout.View{
		Title: titled(reader, page.Heading), Script: "docs.js", Classes: "site docs", Page: page,
	})
}

func titled(reader locale.Locale, title string) string { return title + " · " + reader.Text("brand") }

// guideText renders the guide alone, for the search.
func (r *Routes) guideText() ([]byte, error) {
	return r.pages.Render(locale.Default, "guide", layout.View{})
}

// dayCache keeps rendered pages for a day. One page is rendered at a time.
type dayCache struct {
	mu   sync.Mutex
	day  string
	kept map[cachedPage]*layout.Encoded
}

type cachedPage struct {
	kind, slug string
	reader     locale.Locale
}

func (d *dayCache) get(page cachedPage, render func() ([]byte, error)) (*layout.Encoded, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if day := time.Now().UTC().Format(time.DateOnly); d.day != day {
		d.day, d.kept = day, map[cachedPage]*layout.Encoded{}
	}
	if known := d.kept[page]; known != nil {
		return known, nil
	}
	html, err := render()
	if err != nil {
		return nil, err
	}
	d.kept[page] = layout.NewEncoded(html)
	return d.kept[page], nil
}

func (r *Routes) funcs(reader locale.Locale) template.FuncMap {
	return template.FuncMap{
		"guide":    func() []guideSection { return r.guideSections(reader) },
		"example":  program,
		"remedies": func() []remedy { return r.remedies(reader) },
		"dated":    r.asOfToday,
		"today":    func() string { return time.Now().UTC().Format(time.DateOnly) },
		"monday":   func() string { return firstMonday(time.Now()) },
	}
}

// asOfToday moves the dates of an example to today.
func (r *Routes) asOfToday(text string) string { return asOf(time.Now(), text) }

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
