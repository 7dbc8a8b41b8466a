// Package dashboard serves the pages on which creators run their shop: their listings, customers, money and
// integration. It calls the same use cases as the API, and has no rule of its own.
//
// Pages are rendered by the server and work without a script; every change is a form. A page is put together from
// parts (ui) that one template renders, so every area looks and behaves alike. A browser is signed in by a cookie
// that is sent to /dashboard only, and every form carries a token of that sign-in, which another site cannot know
// (session.go). The texts are English and stand beside what they are about; ui.Words translates them.
package dashboard

import (
	"embed"
	"html/template"
	"strings"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/web/dashboard/ui"
	"sundry/adapters/web/layout"
	"sundry/core/fault"
	"sundry/core/locale"
	"sundry/modules/access"
	"sundry/modules/booking"
	"sundry/modules/catalog"
	"sundry/modules/checkout"
	"sundry/modules/customers"
	"sundry/modules/files"
	"sundry/modules/identity"
	"sundry/modules/images"
	"sundry/modules/invoicing"
	"sundry/modules/payments"
	"sundry/modules/requestlog"
	"sundry/modules/sandbox"
	"sundry/modules/subscriptions"
	"sundry/modules/treasury"
	"sundry/modules/usage"
	"sundry/modules/webhooks"
	"sundry/ports"
)

//go:embed templates static
var assets embed.FS

// base is the address that everything here is below.
const base = "/dashboard"

// Deps are the use cases behind the pages.
type Deps struct {
	Clock         ports.Clock
	Identity      *identity.Service
	Catalog       *catalog.Service
	Checkout      *checkout.Service
	Booking       *booking.Service
	Cancellations *booking.Cancellations
	Payments      *payments.Service
	Refunds       *payments.Refunds
	Disputes      *payments.Disputes
	Customers     *customers.Service
	Access        *access.Service
	Subscriptions *subscriptions.Service
	// PaysOut is the payment provider that pays creators.
	PaysOut   ports.Provider
	Usage     *usage.Service
	Invoicing *invoicing.Service
	Documents *invoicing.Documents
	Treasury  *treasury.Service
	Webhooks  *webhooks.Service
	Requests  *requestlog.Service
	Images    *images.Service
	Files     *files.Service
	Sandbox   *sandbox.Service // nil in live
	// SendPreview responds with the checkout of a draft.
	SendPreview func(*fiber.Ctx, checkout.Page) error
}

// Routes serves the dashboard.
type Routes struct {
	Deps
	layout *layout.Layout
	pages  *layout.Pages
	// secure means that browsers reach us over https only.
	secure bool
	// permissions are the routes for users who are signed in.
	permissions []permission
}

// New ties the pages to the use cases.
func New(l *layout.Layout, d Deps) (*Routes, error) {
	pages, err := l.Pages(layout.Files{Name: "dashboard", FS: assets, Funcs: funcs})
	if err != nil {
		return nil, err
	}
	return &Routes{Deps: d, layout: l, pages: pages, secure: isHTTPS(l.Config().BaseURL)}, nil
}

// Mount adds the pages to the application.
func (r *Routes) Mount(app fiber.Router) {
	at := app.Group(base, layout.Compress(), r.inChosenLanguage, r.layout.CheckQuery)
	at.Post("/language", r.chooseLanguage)
	r.mountSignIn(at)
	r.get(at, "/", r.home)
	r.get(at, "/search", r.search)
	r.mountListings(at)
	r.mountLinks(at)
	r.mountOrders(at)
	r.mountCustomers(at)
	r.mountSubscriptions(at)
	r.mountDevelopers(at)
	r.mountBookings(at)
	r.mountDiscounts(at)
	r.mountMoney(at)
	r.mountDisputes(at)
	r.mountInvoices(at)
	r.mountUsage(at)
	r.mountSettings(at)
	r.mountTeam(at)
	r.mountImages(at)
	r.mountFiles(at)
	r.mountFilters(at)
	if r.Sandbox != nil {
		r.post(at, "/sandbox/advance", r.advanceClock)
	}
	at.Get("/*", r.signedIn(func(*fiber.Ctx, *visit) error { return fault.New(fault.NotFoundCode, "Page not found") }))
}

// fieldAt is a field with the id that it has on its page.
type fieldAt struct {
	Form, ID string
	Field    ui.Field
}

// funcs returns the template functions that only the dashboard has.
func funcs(reader locale.Locale) template.FuncMap {
	return template.FuncMap{
		"say":       func(words ui.Words, values ...any) string { return words.In(reader.Language, values...) },
		"languages": func() []language { return languages(reader.Language) },
		"at": func(formID string, f ui.Field) fieldAt {
			return fieldAt{formID, formID + "-" + strings.NewReplacer("[", "-", "]", "", ".", "-").Replace(f.Name), f}
		},
	}
}

// get adds a page for users who are signed in and may read what it shows.
func (r *Routes) get(at fiber.Router, path string, handle handler) {
	at.Get(path, r.signedIn(r.only(r.permit(fiber.MethodGet, path, false), handle)))
}

// form adds a page that is only for those who may change something.
func (r *Routes) form(at fiber.Router, path string, handle handler) {
	at.Get(path, r.signedIn(r.only(r.permit(fiber.MethodGet, path, true), handle)))
}

// post adds a form's target for users who are signed in and may change what it is about.
func (r *Routes) post(at fiber.Router, path string, handle handler) {
	at.Post(path, r.signedIn(r.fromForm(r.only(r.permit(fiber.MethodPost, path, true), handle))))
}
