// Package invoice serves the page on which a customer sees an invoice and pays it. The page is a form; only the card
// processor's own form needs a script. The secret in the address is the authorization, and there is no cookie that
// another site could use.
package invoice

import (
	"embed"
	"errors"
	"net/url"
	"time"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/web/layout"
	"sundry/core/document"
	"sundry/core/fault"
	core "sundry/core/invoice"
	"sundry/core/locale"
	"sundry/core/payment"
	"sundry/core/tax"
	"sundry/modules/invoicing"
	"sundry/ports"
)

//go:embed templates
var files embed.FS

// Routes serves the pages of invoices.
type Routes struct {
	layout    *layout.Layout
	pages     *layout.Pages
	invoicing *invoicing.Service
	documents *invoicing.Documents
}

// New ties the page to the invoices.
func New(l *layout.Layout, invoices *invoicing.Service, documents *invoicing.Documents) (*Routes, error) {
	pages, err := l.Pages(layout.Files{Name: "invoice", FS: files})
	if err != nil {
		return nil, err
	}
	return &Routes{layout: l, pages: pages, invoicing: invoices, documents: documents}, nil
}

// Mount adds the page to the application.
func (r *Routes) Mount(app fiber.Router) {
	handle := r.layout.Handle
	compress := layout.Compress()
	app.Get("/i/:secret", compress, handle(r.show))
	app.Get("/i/:secret/pdf", handle(r.pdf))
	app.Post("/i/:secret/pay", compress, handle(r.pay))
	app.Get("/i/:secret/challenge", r.challenge)
	app.Post("/i/:secret/authenticate", compress, handle(r.authenticate))
}

// page holds the data of the template.
type page struct {
	core.State
	Path string // /i/{secret}
	Shop string // the creator's name
	// Problem explains why paying failed; "" when it did not.
	Problem string
	// Waiting means that a charge waits for the customer's bank, and Mandate what paying with a new card agrees to.
	Waiting bool
	Mandate string
	// Processing means that a charge is under way, which does not wait for the customer.
	Processing bool
	reader     locale.Locale
}

// Due reports whether there is something to pay.
func (p page) Due() bool { return p.Status != core.Paid }

// Period returns the time that the invoice is for, in the reader's words; "" when it names none.
func (p page) Period() string {
	if p.PeriodStart == "" || p.PeriodEnd == "" {
		return ""
	}
	return p.day(p.PeriodStart) + " – " + p.day(p.PeriodEnd)
}

// day is a date, or the day of an instant, in the reader's words.
func (p page) day(text string) string {
	for _, form := range []string{time.DateOnly, time.RFC3339Nano} {
		if at, err := time.Parse(form, text); err == nil {
			return p.reader.Date(at)
		}
	}
	return text
}

// TaxLabel names the tax, with its rate and country.
func (p page) TaxLabel() string { return p.reader.TaxLine(p.TaxDetails, p.TaxAdded().Minor == 0) }

// ReverseCharge reports whether the customer accounts for the tax.
func (p page) ReverseCharge() bool { return p.TaxDetails.Treatment == tax.ReverseCharge }

// Quantity returns the quantity of a line of usage; "" for any other.
func (page) Quantity(l core.Line) string { return l.Quantity() }

func (r *Routes) show(c *fiber.Ctx) error {
	state, err := r.invoicing.ByLink(c.UserContext(), c.Params("secret"))
	if err != nil {
		return err
	}
	return r.send(c, page{State: state, Problem: problem(c)})
}

func (r *Routes) pdf(c *fiber.Ctx) error {
	state, err := r.invoicing.ByLink(c.UserContext(), c.Params("secret"))
	if err != nil {
		return err
	}
	issued, err := r.documents.Of(c.UserContext(), document.Invoice, state.ID, layout.Reader(c))
	if err != nil {
		return err
	}
	content, err := r.documents.PDF(issued)
	if err != nil {
		return err
	}
	return layout.SendPDF(c, state.Number, content)
}

// pay charges the saved card, or a test card that was typed.
func (r *Routes) pay(c *fiber.Ctx) error {
	secret := c.Params("secret")
	card := ports.CardInput{Number: c.FormValue("cardNumber"), Token: c.FormValue("confirmationToken")}
	var state core.State
	var err error
	if card == (ports.CardInput{}) {
		state, err = r.invoicing.PayByLink(c.UserContext(), secret)
	} else {
		state, err = r.invoicing.PayWithCard(c.UserContext(), secret, card, layout.Reader(c))
	}
	return paid(c, state, err)
}

// challenge passes to the page's script how to lead the customer to their bank.
func (r *Routes) challenge(c *fiber.Ctx) error {
	action, err := r.invoicing.Challenge(c.UserContext(), c.Params("secret"), r.layout.ClientAddress(c))
	return r.layout.SendChallenge(c, action, err)
}

// authenticate receives the customer back from their bank.
func (r *Routes) authenticate(c *fiber.Ctx) error {
	state, err := r.invoicing.Authenticate(
		c.UserContext(), c.Params("secret"), c.FormValue("approve") == "yes", r.layout.ClientAddress(c),
	)
	return paid(c, state, err)
}

// paid leads back to the page, which shows the result. A page of its own would charge again when it is reloaded.
func paid(c *fiber.Ctx, state core.State, err error) error {
	to := "/i/" + c.Params("secret")
	var refused *fault.Error
	switch {
	case err == nil, fault.Is(err, fault.StateConflict):
		return layout.SeeOther(c, to)
	case !errors.As(err, &refused) || state.ID == "":
		return err
	}
	return layout.SeeOther(c, to+"?problem="+url.QueryEscape(problemOf(refused)))
}

// problems are the texts of failed charges by their name in the page's address. Any other name is a decline code.
var problems = map[string]string{
	"no_card": "invoice.no_card", "test_only": "invoice.test_only", "unavailable": "invoice.unavailable",
}

// problemOf names a refused charge in the page's address.
func problemOf(refused *fault.Error) string {
	switch refused.Code {
	case fault.PaymentMethodRequired:
		return "no_card"
	case fault.ValidationFailed:
		return "test_only"
	case fault.CardDeclined:
		return refused.DeclineCode
	case fault.AuthenticationRequired:
		return "authentication_required"
	default:
		return "unavailable"
	}
}

// problem explains in the reader's language why the charge before failed; "" when none did.
func problem(c *fiber.Ctx) string {
	what, reader := c.Query("problem"), layout.Reader(c)
	if what == "" {
		return ""
	}
	if key, ours := problems[what]; ours {
		return reader.Text(key)
	}
	return reader.Decline(what)
}

func (r *Routes) send(c *fiber.Ctx, p page) error {
	p.Path, p.reader = "/i/"+c.Params("secret"), layout.Reader(c)
	var err error
	if p.Shop, err = r.invoicing.Shop(c.UserContext(), p.State); err != nil {
		return r.layout.Fail(c, err)
	}
	var form *layout.CardFormData
	if p.Due() {
		status, err := r.invoicing.UnderWay(c.UserContext(), p.State)
		if err == nil {
			p.Mandate, err = r.invoicing.MandateText(c.UserContext(), p.State, p.reader)
		}
		if err != nil {
			return err
		}
		p.Waiting = status == payment.RequiresAction
		p.Processing = status != "" && !p.Waiting
		if p.Waiting {
			p.Problem = "" // the page asks for the bank's confirmation instead
		}
		form = r.layout.CardForm(p.reader, p.Total, true)
	}
	return r.layout.SendForm(c, r.pages, "invoice.html", layout.View{
		Title: p.reader.Text("invoice.title", p.Number), Classes: "sheet", Page: p,
	}, form)
}
