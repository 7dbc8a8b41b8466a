package dashboard

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/web/dashboard/ui"
	"sundry/adapters/web/layout"
	"sundry/core/fault"
	"sundry/ports"
)

// frame is a page with everything around it.
type frame struct {
	ui.Page
	Groups  []navGroup
	Shop    string
	Email   string
	Token   string
	Path    string
	Flash   *flash
	Sandbox *sandboxBar
}

type navGroup struct {
	Label ui.Words
	Links []navLink
}

type navLink struct {
	Label      ui.Words
	Href, Icon string
	Current    bool
}

// navigation lists every area that the reader may see, in the order of the sidebar.
func navigation(current string, may ui.May) []navGroup {
	groups := []navGroup{
		{"", []navLink{{Label: "Home", Href: base, Icon: "home"}}},
		{"Sell", []navLink{
			{Label: "Listings", Href: base + "/listings", Icon: "listings"},
			{Label: "Payment links", Href: base + "/links", Icon: "links"},
			{Label: "Discounts", Href: base + "/discounts", Icon: "discounts"},
			{Label: "Bookings", Href: base + "/bookings", Icon: "bookings"},
		}},
		{"Buyers", []navLink{
			{Label: "Orders", Href: base + "/orders", Icon: "orders"},
			{Label: "Customers", Href: base + "/customers", Icon: "customers"},
			{Label: "Subscriptions", Href: base + "/subscriptions", Icon: "subscriptions"},
			{Label: "Invoices", Href: base + "/invoices", Icon: "invoices"},
			{Label: "Usage", Href: base + "/usage", Icon: "usage"},
			{Label: "Disputes", Href: base + "/disputes", Icon: "disputes"},
		}},
		{"Money", []navLink{{Label: "Balance and payouts", Href: base + "/balance", Icon: "balance"}}},
		{"Developers", []navLink{
			{Label: "API keys", Href: base + "/keys", Icon: "developers"},
			{Label: "Webhooks", Href: base + "/webhooks", Icon: "webhooks"},
			{Label: "Events", Href: base + "/events", Icon: "events"},
			{Label: "Requests", Href: base + "/requests", Icon: "requests"},
			{Label: "Documentation", Href: "/docs", Icon: "invoices"},
		}},
		{"You", []navLink{
			{Label: "Settings", Href: base + "/settings", Icon: "settings"},
			{Label: "Team", Href: base + "/team", Icon: "customers"},
			{Label: "Security", Href: base + "/security", Icon: "developers"},
		}},
	}
	var shown []navGroup
	for _, g := range groups {
		var links []navLink
		for _, l := range g.Links {
			if may(fiber.MethodGet, l.Href) {
				l.Current = l.Href == current
				links = append(links, l)
			}
		}
		if g.Links = links; len(links) > 0 {
			shown = append(shown, g)
		}
	}
	return shown
}

// sandboxBar is the account's clock, in the sandbox.
type sandboxBar struct {
	Now   time.Time
	Clock string
	// MayAdvance is set for who may move it.
	MayAdvance bool
}

// send shows a page.
func (r *Routes) send(c *fiber.Ctx, v *visit, p ui.Page) error {
	if p.Nav == "" {
		p.Nav = base
	}
	may := r.may(v)
	p.Permit(may)
	f := frame{
		Page: p, Groups: navigation(p.Nav, may), Shop: v.Creator.DisplayName, Email: v.User.Email, Token: v.FormToken,
		Path:  c.OriginalURL(),
		Flash: r.takeFlash(c),
	}
	if c.Method() != fiber.MethodGet {
		f.Path = p.Nav
	}
	if r.Sandbox != nil {
		now, err := r.Sandbox.Clock(c.UserContext(), v.account())
		if err != nil {
			return err
		}
		f.Sandbox = &sandboxBar{now, v.when(now), may(fiber.MethodPost, base+"/sandbox/advance")}
	}
	html, err := r.pages.Render(v.reader, "page.html", layout.View{
		Title: p.Title.In(v.reader.Language) + " – Sundry", Classes: strings.TrimSpace("dash " + p.Body),
		Script: "dashboard.js", Data: scriptTexts(v.reader), Page: f,
	})
	if err != nil {
		return err
	}
	allows := policy
	allows.FormsLeadTo = p.FormsLeadTo
	return layout.SendPrivate(c, html, allows)
}

// flash is the result of the last action, shown on the next page.
type flash struct {
	Tone string
	Text ui.Words
}

// done redirects to a page that shows the result.
func (r *Routes) done(c *fiber.Ctx, to string, text ui.Words) error {
	return r.flash(c, to, "ok", text)
}

// refused leads back to a page that shows why something was not done; any other error is a page of its own.
func (r *Routes) refused(c *fiber.Ctx, to string, err error) error {
	var refusal *fault.Error
	if !errors.As(err, &refusal) || refusal.Code == fault.NotFoundCode ||
		r.layout.Config().StatusOf(err) >= fiber.StatusInternalServerError {
		return err
	}
	return r.flash(c, to, "bad", reasonOf(refusal))
}

// result redirects to a page that shows what was done or, with an error, why it was not.
func (r *Routes) result(c *fiber.Ctx, to string, err error, done ui.Words) error {
	if err != nil {
		return r.refused(c, to, err)
	}
	return r.done(c, to, done)
}

// reasonOf returns the reason of a refusal in words that are translated as far as the catalogs have them.
func reasonOf(refusal *fault.Error) ui.Words { return ui.Words(refusal.First()) }

// maxFlash keeps the cookie small.
const maxFlash = 400

func (r *Routes) flash(c *fiber.Ctx, to, tone string, text ui.Words) error {
	kept := strings.ToValidUTF8(string(text[:min(len(text), maxFlash)]), "")
	r.setCookie(c, flashCookie, base64.RawURLEncoding.EncodeToString([]byte(tone+" "+kept)), time.Minute)
	return layout.SeeOther(c, to)
}

// takeFlash reads the message that the page before left, once.
func (r *Routes) takeFlash(c *fiber.Ctx) *flash {
	raw := c.Cookies(r.cookieName(flashCookie))
	if raw == "" {
		return nil
	}
	r.setCookie(c, flashCookie, "", 0)
	decoded, err := base64.RawURLEncoding.DecodeString(raw)
	tone, text, ok := strings.Cut(string(decoded), " ")
	if err != nil || !ok || tone != "ok" && tone != "bad" || len(text) > maxFlash {
		return nil
	}
	return &flash{tone, ui.Words(text)}
}

// reveal redirects to a page that shows a secret once. Reloading that page repeats nothing and shows it no more.
func (r *Routes) reveal(c *fiber.Ctx, to string, words ui.Words, secret string) error {
	r.setCookie(c, revealCookie, base64.RawURLEncoding.EncodeToString([]byte(secret)), time.Minute)
	return r.done(c, to, words)
}

// takeRevealed reads the secret that the page before left, once; "" when there is none.
func (r *Routes) takeRevealed(c *fiber.Ctx) string {
	raw := c.Cookies(r.cookieName(revealCookie))
	if raw == "" {
		return ""
	}
	r.setCookie(c, revealCookie, "", 0)
	secret, _ := base64.RawURLEncoding.DecodeString(raw) // what is not ours shows nothing
	return string(secret)
}

// button is an action of a form of its own.
func (v *visit) button(label ui.Words, target string, values ...ui.Field) ui.Action {
	return ui.Action{Label: label, Post: target, Token: v.FormToken, Values: values}
}

// form is an empty form of this sign-in.
func (v *visit) form(id, target string, submit ui.Words, fields ...ui.Field) ui.Form {
	return ui.Form{ID: id, Action: target, Token: v.FormToken, Submit: submit, Fields: fields}
}

// ask shows a page with a form below its other parts.
func (r *Routes) ask(c *fiber.Ctx, v *visit, p ui.Page, f ui.Form) error {
	p.Parts = append(p.Parts, ui.FormPart(f))
	return r.send(c, v, p)
}

// again is ask for a form that was refused.
func (r *Routes) again(c *fiber.Ctx, v *visit, p ui.Page, f ui.Form, err error) error {
	if !f.Refill(c, err) || r.layout.Config().StatusOf(err) >= fiber.StatusInternalServerError {
		return err
	}
	c.Status(r.layout.Config().StatusOf(err))
	return r.ask(c, v, p, f)
}

// show responds with the list's page, or with its file.
func show[T any](r *Routes, c *fiber.Ctx, v *visit, l *ui.List[T], p ui.Page) error {
	if c.Query("format") == "csv" {
		return r.export(c, v, l.FileName, l.Export)
	}
	if len(l.Filters) > 0 && r.mayKeep(v, l.Path) {
		saved, err := r.savedFilters(c, v, l.Path)
		if err != nil {
			return err
		}
		l.Saved = saved
	}
	shown, err := l.Part(c, p.Title)
	if err != nil {
		return err
	}
	if p.Nav == "" {
		p.Nav = l.Path
	}
	p.Parts = append(p.Parts, shown)
	return r.send(c, v, p)
}

// totals returns a list's summary: how many things it finds and, under a label of their own, the sums of their amounts;
// "" for none.
func totals[T any](v *visit, things, sums ui.Words) func(context.Context, ui.Query, ports.List[T]) (ui.Part, error) {
	return func(_ context.Context, _ ui.Query, page ports.List[T]) (ui.Part, error) {
		count := ui.Stat{Label: things}
		var all []ui.Stat
		var n int64
		for _, t := range page.Totals {
			if n += t.Count; sums != "" {
				all = append(all, ui.Stat{Label: sums, Value: v.price(t.Minor, t.Currency)})
			}
		}
		shown := ui.Part{Kind: "totals"}
		if count.Value = fmt.Sprint(n); n >= ports.NewestRows {
			shown.Lead = "Totals of the latest 10,000. Filter the list for the rest."
		}
		shown.Data = append([]ui.Stat{count}, all...)
		return shown, nil
	}
}

// export sends a list as a file, once the access log says so.
func (r *Routes) export(c *fiber.Ctx, v *visit, name string, send func(c *fiber.Ctx) error) error {
	if err := r.Identity.RecordExport(c.UserContext(), v.account(), "", name+".csv"); err != nil {
		return err
	}
	return send(c)
}

// moment is a cell of an instant.
func (v *visit) moment(at time.Time) ui.Cell {
	if at.IsZero() {
		return ui.Cell{Text: "–"}
	}
	day, clock := v.reader.ShortDate(at.UTC()), v.reader.Clock(at.UTC())
	return ui.Cell{Text: ui.Data(unbroken(day) + ", " + unbroken(clock)), At: at}
}

// timeColumn is a column of instants, which files have exactly; sort as in ui.Column.
func timeColumn[T any](v *visit, label ui.Words, sort string, at func(T) time.Time) ui.Column[T] {
	return ui.Column[T]{
		Label: label, Sort: sort,
		Cell: func(one T) ui.Cell { return v.moment(at(one)) },
		CSV:  func(one T) string { return ui.ExactTime(at(one)) },
	}
}

// unbroken keeps a text on one line.
func unbroken(text string) string { return strings.ReplaceAll(text, " ", "\u00a0") }

// when writes an instant shortly, in UTC as every page of the dashboard: Nov 28, 2026, 6:42 AM or 28 Nov 2026, 06:42.
func (v *visit) when(at time.Time) string {
	return v.reader.ShortDate(at.UTC()) + ", " + v.reader.Clock(at.UTC())
}

// price writes an amount for people.
func (v *visit) price(minor int64, currency string) string {
	return v.reader.Money(layout.Amount(minor, currency))
}
