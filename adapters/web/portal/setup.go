package portal

import (
	"github.com/gofiber/fiber/v2"

	"sundry/adapters/web/layout"
	"sundry/core/cardsetup"
	"sundry/core/identity"
)

// setupPage holds what the page that saves a card shows.
type setupPage struct {
	Path, Seller, Mandate, ReturnURL string
	Storefront                       identity.Profile
	State                            cardsetup.Status
	Expired                          bool
	Problem                          string
	Card                             string
	// Place fills the fields about the customer's address.
	Place place
}

func (r *Routes) setup(c *fiber.Ctx) error { return r.showSetup(c, nil) }

// showSetup shows the page of a setup, with what was sent of an address that was refused.
func (r *Routes) showSetup(c *fiber.Ctx, refused *place) error {
	s, err := r.Payments.SetupPage(c.UserContext(), c.Params("secret"), layout.Reader(c))
	if err != nil {
		return err
	}
	p := setupPage{
		Path: "/setup/" + c.Params("secret"), Seller: s.Seller.Name, Storefront: s.Seller.Profile, Mandate: s.Mandate,
		ReturnURL: s.Setup.ReturnURL,
		State:     s.Setup.Status, Expired: s.Expired, Problem: problem(c),
	}
	owner, err := r.Customers.Get(c.UserContext(), s.Setup.CreatorID, s.Setup.CustomerID)
	if err != nil {
		return err
	}
	p.Place = placeOf(owner.Details)
	if refused != nil {
		c.Status(fiber.StatusBadRequest)
		p.Place, p.Problem = *refused, layout.Reader(c).Text("portal.problem.address")
	}
	if s.Setup.LastError.Code != "" {
		p.Problem = layout.Reader(c).Decline(string(s.Setup.LastError.Code))
	}
	if s.Card.ID != "" {
		p.Card = layout.CardName(s.Card.Brand, s.Card.Last4)
	}
	reader := layout.Reader(c)
	return r.layout.SendForm(c, r.pages, "setup.html", layout.View{
		Title: reader.Text("portal.setup.title"), Classes: "sheet", Accent: p.Storefront.AccentColor, Page: p,
	},
		r.layout.CardForm(reader, layout.Amount(0, setupCurrency), true))
}

// setupCurrency is named to the card processor's form where a card is only saved.
const setupCurrency = "eur"

// Initial returns the seller's monogram.
func (p setupPage) Initial() string { return layout.Initial(p.Seller) }
