package web

import (
	"fmt"
	"net/http"
)

// ReceiptView is the printable receipt of a paid session; Checkout.Receipt must be set.
type ReceiptView struct {
	Checkout
	Refunded int64 // minor units
}

// Country is the buyer's country by name.
func (r ReceiptView) Country() string {
	for _, c := range countries {
		if c.Code == r.Buyer.Country {
			return c.Name
		}
	}
	return r.Buyer.Country
}

// ReceiptHTML renders the receipt page.
func (p *Pages) ReceiptHTML(r ReceiptView) ([]byte, error) {
	if r.Receipt == nil {
		return nil, fmt.Errorf("receipt %s: session has none", r.ID)
	}
	return p.render("receipt.html", view{
		Title:   text("receipt.title", r.Receipt.Number),
		Script:  "receipt.js",
		Classes: "sheet",
		Page:    r,
	})
}

// errorView is a page for people where the API would answer an error body.
type errorView struct {
	Status                   int
	Heading, Lead, RequestID string
}

// ErrorHTML renders a friendly page for an HTTP status. The request id is what support
// needs to find the log line; nothing else of the fault is shown.
func (p *Pages) ErrorHTML(status int, requestID string) ([]byte, error) {
	key := "error.404"
	switch {
	case status == http.StatusBadRequest:
		key = "error.400"
	case status >= http.StatusInternalServerError:
		key = "error.500"
	case status == http.StatusTooManyRequests:
		key = "error.429"
	case status == http.StatusGone, status == http.StatusConflict:
		key = "error.410"
	}
	return p.render("error.html", view{
		Title: text(key + ".title"),
		Page:  errorView{Status: status, Heading: text(key + ".title"), Lead: text(key + ".lead"), RequestID: requestID},
	})
}

// LandingHTML renders the page at the root: what this is and where to go next.
func (p *Pages) LandingHTML() ([]byte, error) {
	return p.render("landing.html", view{Title: text("landing.title"), Classes: "site"})
}

// DocsHTML renders the guide and the API reference.
func (p *Pages) DocsHTML() ([]byte, error) {
	return p.render("docs.html", view{
		Title:   text("docs.guide_title") + " · " + text("brand"),
		Script:  "docs.js",
		Classes: "site docs",
		Page:    p.docs,
	})
}

// guideSection is one heading of the guide, for its table of contents.
type guideSection struct{ ID, Title string }

// guideSections lists what templates/guide.html holds; a test compares the two.
func (p *Pages) guideSections() []guideSection {
	sections := []guideSection{
		{"level-0", text("guide.level_0")},
		{"level-1", text("guide.level_1")},
		{"level-2", text("guide.level_2")},
		{"level-3", text("guide.level_3")},
		{"appointments", text("guide.appointments")},
		{"overlay", text("guide.overlay")},
		{"errors", text("guide.errors")},
	}
	if p.site.Sandbox {
		sections = append(sections, guideSection{"test-cards", text("guide.test_cards")})
	}
	return sections
}
