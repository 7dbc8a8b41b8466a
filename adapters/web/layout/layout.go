// Package layout holds what the pages of every site share: the frame, the style sheet, the icons, the texts in the
// reader's language, the headers and the error page. A site is a package of its own beside it with its templates, its
// styles and its scripts:
//
//	//go:embed templates static
//	var files embed.FS
//
//	pages, err := l.Pages(layout.Files{Name: "portal", FS: files})
//	html, err := pages.Render(layout.Reader(c), "home.html", layout.View{Title: …, Script: "portal.js", Page: view})
//	return layout.Send(c, html, layout.Policy{Scripts: "'self'"})
//
// Pages are rendered by the server from the state of what they show, so a reload or a second tab shows the same; the
// scripts only send forms and follow what the server responds. Texts are in core/locale, one file per site.
package layout

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"log/slog"
	"net/url"
	"strings"
	"sync"

	"github.com/gofiber/fiber/v2"

	"sundry/core/apiformat"
	"sundry/core/country"
	"sundry/core/locale"
	"sundry/core/money"
	"sundry/core/secret"
	"sundry/ports"
)

//go:embed templates static
var files embed.FS

// Config holds the deployment's settings that every page shows.
type Config struct {
	BaseURL string // absolute, without a trailing slash
	Live    bool   // otherwise it shows the sandbox banner, test cards and sign-in hint
	// Form tells pages how to take a means of payment.
	Form   ports.PaymentForm
	Seller Seller
	// ClientAddress is the network that visitors are counted by.
	ClientAddress func(*fiber.Ctx) string
	// ClientCountry returns a reader's country as a trusted proxy reports it; "" when none does.
	ClientCountry func(*fiber.Ctx) string
	// Images fetches pictures that creators named, ImageKeys sign their addresses on our pages.
	Images    ImageFetcher
	ImageKeys secret.Keys
	// Uploads has the pictures that creators uploaded.
	Uploads Uploads
	// StatusOf is the API's one map from errors to HTTP statuses.
	StatusOf func(error) int
	Log      *slog.Logger
}

// Seller is the seller of record, named on every page where money is paid. Empty members are not shown.
type Seller struct {
	Name, Address, VATID, Email string
	// Statement is the text of buyers' card statements.
	Statement            string
	TermsURL, PrivacyURL string
}

// Layout is shared by all sites. It is built once at start; once every site has its Pages it is safe for concurrent
// use.
type Layout struct {
	config Config
	assets *Assets
	images *images
	errors *Pages
}

// New reads the shared assets.
func New(config Config) (*Layout, error) {
	l := &Layout{config: config, assets: newAssets(), images: newImages(config.ImageKeys, config.Images)}
	if err := l.assets.addSite("sundry", files); err != nil {
		return nil, fmt.Errorf("layout assets: %w", err)
	}
	var err error
	l.errors, err = l.Pages(Files{Name: "error"})
	return l, err
}

// Assets returns the files of all sites, as they are served.
func (l *Layout) Assets() *Assets { return l.assets }

// Config returns the configuration given to New.
func (l *Layout) Config() Config { return l.config }

// Files are the parts of one site.
type Files struct {
	Name string
	// FS holds templates/*.html, static/css/*.css (joined to <Name>.css), static/js/*.js (modules) and static/*.*
	// (files); all but the templates may be missing.
	FS fs.FS
	// Shared are further folders of templates that the site uses.
	Shared []fs.FS
	// Funcs are functions of the site's templates, in the reader's language; nil for none.
	Funcs func(locale.Locale) template.FuncMap
}

// Pages renders the pages of one site. It is safe for concurrent use.
type Pages struct {
	layout *Layout
	styles []string
	// byPattern parses the templates once for each pattern of locales that is read: a template's functions are bound
	// when it is parsed, and all patterns at once would take more memory than everything else. One that
	// is wrong is wrong for every reader, so the tests of its site notice.
	byPattern map[locale.Locale]func() (*template.Template, error)
}

// Pages adds the assets of a site, whose templates are parsed for their first reader.
func (l *Layout) Pages(site Files) (*Pages, error) {
	p := &Pages{
		layout: l, styles: []string{"sundry.css"}, byPattern: map[locale.Locale]func() (*template.Template, error){},
	}
	folders := append([]fs.FS{files}, site.Shared...)
	if site.FS != nil {
		if err := l.assets.addSite(site.Name, site.FS); err != nil {
			return nil, fmt.Errorf("%s assets: %w", site.Name, err)
		}
		if l.assets.byName[site.Name+".css"] != nil {
			p.styles = append(p.styles, site.Name+".css")
		}
		folders = append(folders, site.FS)
	}
	for _, pattern := range locale.Patterns() {
		p.byPattern[pattern] = sync.OnceValues(func() (*template.Template, error) {
			t := template.New("").Funcs(l.funcs(pattern))
			if site.Funcs != nil {
				t.Funcs(site.Funcs(pattern))
			}
			for _, folder := range folders {
				if _, err := t.ParseFS(folder, "templates/*.html"); err != nil {
					return nil, fmt.Errorf("%s templates: %w", site.Name, err)
				}
			}
			return t, nil
		})
	}
	return p, nil
}

func (l *Layout) funcs(reader locale.Locale) template.FuncMap {
	return template.FuncMap{
		"t":           reader.Text,
		"count":       reader.Count,
		"asset":       l.assets.Path,
		"money":       reader.Money,
		"amount":      func(minor int64, currency string) string { return reader.Money(Amount(minor, currency)) },
		"date":        reader.Date,
		"moment":      reader.Moment,
		"stamp":       apiformat.Instant,
		"interval":    reader.Interval,
		"host":        HostOf,
		"icon":        icon,
		"image":       l.images.path,
		"countries":   func() []country.Country { return country.List(reader.Language) },
		"cardName":    CardName,
		"sandbox":     func() bool { return !l.config.Live },
		"paymentForm": func() ports.PaymentForm { return l.config.Form },
		"testCards":   func() []testCard { return testCards },
		"seller":      func() Seller { return l.config.Seller },
		"base":        func() string { return l.config.BaseURL },
	}
}

// Amount is minor units of a currency by its code.
func Amount(minor int64, currency string) money.Amount {
	return money.Amount{Minor: minor, Currency: money.Currency(currency)}
}

// CardName returns the name of a card on every page: "Visa •••• 4242", and "" without one.
func CardName(brand, last4 string) string {
	if last4 == "" {
		return ""
	}
	if brand != "" {
		brand = strings.ToUpper(brand[:1]) + brand[1:] + " "
	}
	return brand + "•••• " + last4
}

// Initial returns the monogram of a name.
func Initial(name string) string {
	for _, r := range name {
		return string(r)
	}
	return "·"
}

// icon inlines one of the small drawings of static/icons, hidden from screen readers: the words beside it always mean
// the same.
func icon(name string) (template.HTML, error) {
	raw, err := fs.ReadFile(files, "static/icons/"+name+".svg")
	if err != nil {
		return "", fmt.Errorf("icon %s: %w", name, err)
	}
	return template.HTML(bytes.TrimSpace(raw)), nil //nolint:gosec // embedded at build time, never from a request
}

// View is the data of a template: the page's own part and the frame around it.
type View struct {
	Title   string
	Nonce   string // of the content policy; "" for pages whose scripts are allowed by origin
	Script  string // module to load; "" for pages without one
	Classes string // of the body
	Accent  string // the creator's color, #rrggbb; "" for ours
	Data    any    // read by the script from a JSON block of the page; nil for none
	Page    any
}

// frame is a View with what Render adds.
type frame struct {
	View
	Lang   string
	Styles []string
}

// Render executes one page for a reader, into memory: a failing template must never leave half a page behind a 200.
func (p *Pages) Render(reader locale.Locale, name string, view View) ([]byte, error) {
	templates, err := p.byPattern[reader.Pattern()]()
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := templates.ExecuteTemplate(&out, name, frame{view, reader.Tag(), p.styles}); err != nil {
		return nil, fmt.Errorf("render %s: %w", name, err)
	}
	return out.Bytes(), nil
}

// HostOf returns the host of a link, so that a buyer sees where they will land.
func HostOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		return raw
	}
	return strings.TrimPrefix(u.Host, "www.")
}
