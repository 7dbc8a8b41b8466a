package httpapi

import (
	"github.com/gofiber/fiber/v2"

	"sundry/core/checkout"
	"sundry/core/civil"
	"sundry/core/fault"
	"sundry/core/payment"
	"sundry/core/wire"
	"sundry/modules/selling"
)

// checkoutPageRoutes are the JSON behind the hosted page. The secret in the path is the authorisation.
func (s *Server) checkoutPageRoutes() []Route {
	return []Route{
		{Method: fiber.MethodGet, Path: "/c/:secret/state", Handle: private(s.getPageState)},
		{Method: fiber.MethodPost, Path: "/c/:secret/slots", Handle: private(s.postPageSlots)},
		{Method: fiber.MethodPost, Path: "/c/:secret/details", Handle: private(s.postPageDetails)},
		{Method: fiber.MethodPost, Path: "/c/:secret/pay", Handle: private(s.postPagePay)},
		{Method: fiber.MethodPost, Path: "/c/:secret/authenticate", Handle: private(s.postPageAuthenticate), SandboxOnly: true},
	}
}

// private keeps an answer out of caches and its address out of referrers.
func private(handle fiber.Handler) fiber.Handler {
	return func(c *fiber.Ctx) error {
		c.Set(fiber.HeaderCacheControl, "no-store")
		c.Set(fiber.HeaderReferrerPolicy, "no-referrer")
		return handle(c)
	}
}

// pageStateView is what the page's script reads (contract §6).
type pageStateView struct {
	CheckoutID       string             `json:"checkoutId"`
	Status           checkout.Status    `json:"status"`
	State            checkout.PageState `json:"state"`
	ExpiresAt        *string            `json:"expiresAt"`
	Currency         string             `json:"currency"`
	SubtotalInCents  int64              `json:"subtotalInCents"`
	DiscountInCents  int64              `json:"discountInCents"`
	TaxInCents       int64              `json:"taxInCents"`
	TotalInCents     int64              `json:"totalInCents"`
	Listing          pageListingView    `json:"listing"`
	AppointmentSlots []chosenSlotView   `json:"appointmentSlots"`
	DeliveryModes    []string           `json:"deliveryModes"`
	SessionCount     *int               `json:"sessionCount"`
	LastPaymentError *payment.Refusal   `json:"lastPaymentError"`
	CancelURL        *string            `json:"cancelUrl"`
	ListingURL       *string            `json:"listingUrl"`
	RedirectURL      *string            `json:"redirectUrl"`
}

type pageListingView struct {
	Title string `json:"title"`
	Type  string `json:"type"`
}

func viewOfPage(p selling.Page) pageStateView {
	c := p.Session
	view := pageStateView{
		CheckoutID: c.ID, Status: c.Status, State: p.State, ExpiresAt: wire.Time(c.ExpiresAt), Currency: string(c.Total.Currency),
		SubtotalInCents: c.Subtotal.Minor, DiscountInCents: c.Discount.Minor, TaxInCents: c.Tax.Minor, TotalInCents: c.Total.Minor,
		Listing: pageListingView{Title: c.Offer.Title, Type: c.Offer.ListingType}, AppointmentSlots: chosenSlotViews(c.Slots),
		DeliveryModes: c.Offer.DeliveryModes, LastPaymentError: lastError(c), CancelURL: wire.Text(c.CancelURL),
		ListingURL: wire.Text(p.AgainURL), RedirectURL: wire.Text(p.RedirectURL),
	}
	if view.DeliveryModes == nil {
		view.DeliveryModes = []string{}
	}
	if c.Offer.ForAppointments() {
		view.SessionCount = &c.Offer.SessionCount
	}
	return view
}

func (s *Server) getPageState(c *fiber.Ctx) error {
	page, err := s.Selling.Page(c.UserContext(), c.Params("secret"))
	if err != nil {
		return err
	}
	return c.JSON(viewOfPage(page))
}

// pageRequest is what the page's form sends; every member is optional, since the session may know it already.
type pageRequest struct {
	buyerRequest
	CardNumber *string `json:"cardNumber"`
	Email      *string `json:"email"`
}

func (s *Server) postPageDetails(c *fiber.Ctx) error {
	body, reading := decode[pageRequest](c)
	var f fault.Faults
	f.Check(body.CardNumber == nil, "cardNumber", fault.DetailNotAllowed, "Send the card with pay.")
	if err := together(reading, f.Err(), selling.CheckBuyer(or(body.Email), body.details())); err != nil {
		return err
	}
	session, err := s.Selling.Describe(c.UserContext(), c.Params("secret"), or(body.Email), body.details())
	return s.answerPage(c, session, err)
}

type pageSlotsRequest struct {
	AppointmentSlots *[]slotRequest `json:"appointmentSlots"`
}

func (s *Server) postPageSlots(c *fiber.Ctx) error {
	body, reading := decode[pageSlotsRequest](c)
	slots, err := picks(nil, body.AppointmentSlots)
	var f fault.Faults
	f.Check(slots != nil, "appointmentSlots", fault.DetailRequired, "Expected the times that the buyer chose.")
	if err := civil.Refusal(together(reading, f.Err(), err)); err != nil {
		return err
	}
	session, err := s.Selling.ChooseOnPage(c.UserContext(), c.Params("secret"), slots)
	return s.answerPage(c, session, err)
}

func (s *Server) postPagePay(c *fiber.Ctx) error {
	body, reading := decode[pageRequest](c)
	p := selling.Payment{CardNumber: or(body.CardNumber), Email: or(body.Email), Buyer: body.details()}
	if reading != nil {
		return together(reading, s.Selling.CheckPayment(p))
	}
	session, err := s.Selling.PayOnPage(c.UserContext(), c.Params("secret"), p)
	if fault.Is(err, fault.AuthenticationRequired) {
		err = nil // the page goes on to the challenge: for a person that is a step, not a refusal
	}
	return s.answerPage(c, session, err)
}

type authenticateRequest struct {
	Approve *bool `json:"approve"`
}

func (s *Server) postPageAuthenticate(c *fiber.Ctx) error {
	body, err := decode[authenticateRequest](c)
	if err != nil {
		return err
	}
	if body.Approve == nil {
		return fault.Invalid(fault.Detail{Field: "approve", Code: fault.DetailRequired, Message: "Say true or false."})
	}
	session, err := s.Selling.Authenticate(c.UserContext(), c.Params("secret"), *body.Approve)
	return s.answerPage(c, session, err)
}

func (s *Server) answerPage(c *fiber.Ctx, session checkout.State, err error) error {
	if err != nil {
		return err
	}
	page, err := s.Selling.PageOf(c.UserContext(), session)
	if err != nil {
		return err
	}
	return c.JSON(viewOfPage(page))
}
