package order

import (
	"embed"
	"io/fs"
	"slices"

	"sundry/adapters/web/layout"
	core "sundry/core/checkout"
	"sundry/core/locale"
	"sundry/core/tax"
	"sundry/modules/checkout"
)

//go:embed templates
var templates embed.FS

// Folders returns the templates that the pages of a session share.
func Folders() []fs.FS { return []fs.FS{templates} }

// New returns a session as its pages show it to a reader; manage gives the address of an appointment's own page.
func New(p checkout.Page, reader locale.Locale, secret string, manage func(appointmentID string) string) Order {
	s := p.Session
	view := Order{
		Reader: reader,
		ID:     s.ID, Secret: secret, State: string(p.State), Seller: p.Seller.Name, Storefront: p.Seller.Profile,
		Item: Item{
			Title: s.Offer.Title, Description: s.Offer.Description, Pictures: s.Offer.Pictures,
			Included: included(s.Offer), Type: s.Offer.ListingType, Plan: planName(s),
		},
		Currency: string(s.Total.Currency),
		Subtotal: s.Subtotal.Minor, Discount: s.Discount.Minor, Tax: s.Tax.Minor, Total: s.Total.Minor,
		TaxLabel:      reader.TaxLine(s.TaxDetails, s.Subtotal.Minor-s.Discount.Minor == s.Total.Minor),
		NeedsCard:     s.NeedsCard(),
		SavesCard:     s.SavesCard(),
		ReverseCharge: s.TaxDetails.Treatment == tax.ReverseCharge,
		Buyer: Buyer{
			Email: s.Email, Name: s.Buyer.Name, Country: s.Buyer.Country, PostalCode: s.Buyer.PostalCode,
			TaxID: s.Buyer.TaxID,
		},
		Agreement:   s.Agreement(p.Terms, reader),
		Consent:     s.Consent,
		CancelURL:   s.CancelRedirect(),
		AgainURL:    p.AgainURL,
		RedirectURL: p.RedirectURL,
		Booking:     newBooking(p, reader, manage),
		Now:         p.Now,
		ExpiresAt:   s.ExpiresAt,
	}
	if s.UIMode == core.Embedded {
		view.Parents = origins(append([]string{s.SuccessURL, s.CancelURL}, p.Seller.EmbedOrigins.List()...)...)
	}
	if s.Offer.Recurring() {
		view.Recurring = recurring(p)
		view.Choice = newChoice(s.Offer, reader)
	}
	if terms := s.DiscountTerms; terms != nil {
		view.DiscountCode = terms.Code
		if s.Offer.Recurring() {
			view.DiscountNote = terms.Note(reader)
		}
	}
	if s.LastError.Code != "" {
		view.Failure = &Failure{Code: string(s.LastError.Code), Message: reader.Decline(string(s.LastError.Code))}
	}
	if s.Status == core.StatusPaid {
		view.Receipt = &Receipt{
			Number: s.ReceiptNumber, URL: p.ReceiptURL, PaidAt: s.PaidAt,
			Card: layout.CardName(p.CardBrand, p.CardLast4), Refunded: p.Refunded, DownloadURL: s.Offer.DownloadURL,
		}
	}
	return view
}

func recurring(p checkout.Page) *Recurring {
	offer := p.Session.Offer
	out := &Recurring{
		Unit: string(offer.Interval), Count: offer.IntervalCount,
		Amount: offer.Price.Minor, First: offer.Price.Minor, TrialDays: offer.TrialDays,
	}
	if due, err := core.Renewal(offer, p.Session.DiscountTerms, p.Session.TaxDetails); err == nil {
		out.Amount = due.Minor
	}
	if due, err := core.FirstCharge(offer, p.Session.DiscountTerms, p.Session.TaxDetails); err == nil {
		out.First = due.Minor
	}
	if offer.TrialDays > 0 {
		start := p.Now
		if p.Session.Status == core.StatusPaid {
			start = p.Session.PaidAt
		}
		out.FirstChargeAt = start.AddDate(0, 0, offer.TrialDays)
	}
	return out
}

// planName is empty where the plan would only repeat the title.
func planName(s core.State) string {
	return s.Offer.PlanTitle()
}

// origins returns the origins of the addresses, each once.
func origins(addresses ...string) []string {
	var out []string
	for _, a := range addresses {
		if o, ok := core.Origin(a); ok && !slices.Contains(out, o) {
			out = append(out, o)
		}
	}
	return out
}
