package layout

import (
	"github.com/gofiber/fiber/v2"

	"sundry/core/apiformat"
	"sundry/core/locale"
	"sundry/core/money"
	"sundry/core/payment"
)

// CardFormData is the JSON that a page's script needs for the card processor's form.
type CardFormData struct {
	PublishableKey string `json:"publishableKey"`
	ScriptURL      string `json:"scriptUrl"`
	Locale         string `json:"locale"`
	Currency       string `json:"currency"`
	Amount         int64  `json:"amount"` // minor units; 0 when the card is only saved
	Unit           int64  `json:"unit"`   // see ports.FormScript
	Saves          bool   `json:"saves"`  // the card is charged again later
	// Unreachable is the text shown when the form cannot be loaded.
	Unreachable string `json:"unreachable"`
}

// CardForm returns what a page's script needs for the payment provider's form; nil if the provider has no script.
func (l *Layout) CardForm(reader locale.Locale, amount money.Amount, saves bool) *CardFormData {
	form := l.config.Form.Script
	if form == nil {
		return nil
	}
	return &CardFormData{
		PublishableKey: form.PublishableKey, ScriptURL: form.URL, Locale: reader.Tag(), Currency: string(amount.Currency),
		Amount: amount.Minor, Unit: form.Unit(amount.Currency), Saves: saves,
		Unreachable: reader.Text("js.form_unreachable"),
	}
}

// SendForm responds with a page that is a plain form, private to its reader. Where it takes cards by the card
// processor's form, or leads to a bank, that needs a script; form is nil for any other.
func (l *Layout) SendForm(c *fiber.Ctx, pages *Pages, name string, view View, form *CardFormData) error {
	policy := Policy{Forms: true}
	if form != nil {
		view.Nonce, view.Script, view.Data = NewNonce(), "card-page.js", form
		policy.Scripts, policy.Form = Nonce(view.Nonce), l.config.Form.Script
	}
	html, err := pages.Render(Reader(c), name, view)
	if err != nil {
		return err
	}
	return SendPrivate(c, html, policy)
}

// challengeView tells the reader's browser how to open the bank's challenge.
type challengeView struct {
	ClientSecret *string `json:"clientSecret"`
	RedirectURL  *string `json:"redirectUrl"`
}

// SendChallenge passes to the page's script how to lead the reader to their bank, or by the status that it can't.
func (l *Layout) SendChallenge(c *fiber.Ctx, action payment.NextAction, err error) error {
	c.Set(fiber.HeaderCacheControl, "no-store")
	c.Set(fiber.HeaderReferrerPolicy, "no-referrer")
	if err != nil {
		status := l.config.StatusOf(err)
		setRetryAfter(c, status, err)
		return c.SendStatus(status)
	}
	return c.JSON(challengeView{apiformat.Text(action.ClientSecret), apiformat.Text(action.RedirectURL)})
}
