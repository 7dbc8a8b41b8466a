package checkout

import (
	"github.com/gofiber/fiber/v2"

	"sundry/adapters/httpapi"
	"sundry/adapters/httpapi/strictjson"
	"sundry/core/apiformat"
	core "sundry/core/checkout"
	"sundry/core/civil"
	"sundry/core/customer"
	"sundry/core/fault"
	"sundry/core/identity"
	"sundry/core/locale"
	"sundry/core/payment"
	"sundry/core/plan"
	"sundry/modules/checkout"
	"sundry/ports"
)

// pageRoutes are the JSON behind the hosted page. The secret in the path is the authorization.
func (h handlers) pageRoutes() []httpapi.Route {
	return []httpapi.Route{
		{Method: fiber.MethodGet, Path: "/c/:secret/state", Handle: httpapi.Private(h.getPageState)},
		{Method: fiber.MethodPost, Path: "/c/:secret/slots", Handle: httpapi.Private(h.postPageSlots)},
		{Method: fiber.MethodPost, Path: "/c/:secret/details", Handle: httpapi.Private(h.postPageDetails)},
		{Method: fiber.MethodPost, Path: "/c/:secret/discount", Handle: httpapi.Private(h.postPageDiscount)},
		{Method: fiber.MethodPost, Path: "/c/:secret/change", Handle: httpapi.Private(h.postPageChange)},
		{Method: fiber.MethodPost, Path: "/c/:secret/pay", Handle: httpapi.Private(h.postPagePay)},
		{Method: fiber.MethodGet, Path: "/c/:secret/challenge", Handle: httpapi.Private(h.getPageChallenge)},
		{Method: fiber.MethodPost, Path: "/c/:secret/authenticate", Handle: httpapi.Private(h.postPageAuthenticate)},
	}
}

// pageStateView is the response that the page's script reads.
type pageStateView struct {
	CheckoutID       string                 `json:"checkoutId"`
	Status           core.Status            `json:"status"`
	State            core.PageState         `json:"state"`
	ExpiresAt        *string                `json:"expiresAt"`
	Currency         string                 `json:"currency"`
	SubtotalInCents  int64                  `json:"subtotalInCents"`
	DiscountInCents  int64                  `json:"discountInCents"`
	TaxInCents       int64                  `json:"taxInCents"`
	TotalInCents     int64                  `json:"totalInCents"`
	DiscountCode     *string                `json:"discountCode"`
	Interval         *string                `json:"interval"`
	Quantity         int                    `json:"quantity"`
	Listing          pageListingView        `json:"listing"`
	AppointmentSlots []chosenSlotView       `json:"appointmentSlots"`
	DeliveryModes    []string               `json:"deliveryModes"`
	SessionCount     *int                   `json:"sessionCount"`
	LastPaymentError *payment.DeclineReason `json:"lastPaymentError"`
	CancelURL        *string                `json:"cancelUrl"`
	ListingURL       *string                `json:"listingUrl"`
	RedirectURL      *string                `json:"redirectUrl"`
}

type pageListingView struct {
	Title string `json:"title"`
	Type  string `json:"type"`
}

func newPageStateView(p checkout.Page) pageStateView {
	c := p.Session
	view := pageStateView{
		CheckoutID: c.ID, Status: c.Status, State: p.State, ExpiresAt: apiformat.Time(c.ExpiresAt),
		Currency:        string(c.Total.Currency),
		SubtotalInCents: c.Subtotal.Minor, DiscountInCents: c.Discount.Minor, TaxInCents: c.Tax.Minor,
		TotalInCents: c.Total.Minor,
		Interval:     apiformat.Text(string(c.Offer.Interval)), Quantity: c.Offer.Seats(),
		Listing:          pageListingView{Title: c.Offer.Title, Type: string(c.Offer.ListingType)},
		AppointmentSlots: newChosenSlotViews(c.Slots),
		DeliveryModes:    c.Offer.DeliveryModes, LastPaymentError: lastError(c),
		CancelURL:  apiformat.Text(c.CancelRedirect()),
		ListingURL: apiformat.Text(p.AgainURL), RedirectURL: apiformat.Text(p.RedirectURL),
	}
	if view.DeliveryModes == nil {
		view.DeliveryModes = []string{}
	}
	if c.DiscountTerms != nil {
		view.DiscountCode = &c.DiscountTerms.Code
	}
	if c.Offer.ForAppointments() {
		view.SessionCount = &c.Offer.SessionCount
	}
	return view
}

func (h handlers) getPageState(c *fiber.Ctx) error {
	return httpapi.Respond(c, newPageStateView)(h.Checkout.Page(c.UserContext(), c.Params("secret")))
}

// pageRequest is the page's form. Every member is optional, since the session may know it already.
type pageRequest struct {
	buyerRequest
	intakeRequest
	CardNumber *string `json:"cardNumber"`
	Email      *string `json:"email"`
	// HourCycle is the clock that the buyer chose on the page.
	HourCycle *string `json:"hourCycle"`
}

// reader are the buyer's details with how they read, which mails and later pages follow.
func (b pageRequest) reader(c *fiber.Ctx) customer.Details {
	details := b.buyer()
	reader := locale.Parse(c.Get(fiber.HeaderAcceptLanguage))
	details.Locale = reader.Tag()
	if b.HourCycle != nil {
		details.Locale = reader.WithClock(*b.HourCycle).Full()
	}
	return details
}

func (b pageRequest) check(f *fault.Violations) {
	known := b.HourCycle == nil || *b.HourCycle == "12" || *b.HourCycle == "24"
	f.Check(known, "hourCycle", fault.DetailNotAllowed, "Expected 12 or 24.")
}

// buyer returns the buyer's details in the form. An empty name, postal code or VAT id removes one from before.
func (b pageRequest) buyer() customer.Details {
	details := b.details()
	for _, of := range []struct {
		sent *string
		to   *string
	}{{b.Name, &details.Name}, {b.PostalCode, &details.PostalCode}, {b.TaxID, &details.TaxID}} {
		if of.sent != nil && *of.sent == "" {
			*of.to = customer.None
		}
	}
	return details
}

func (h handlers) postPageDetails(c *fiber.Ctx) error {
	body, reading := httpapi.Decode[pageRequest](c)
	var f fault.Violations
	body.check(&f)
	f.Check(body.CardNumber == nil, "cardNumber", fault.DetailNotAllowed, "Send the card with pay.")
	if err := httpapi.MergeFieldErrors(
		reading, f.Err(), checkout.CheckBuyer(httpapi.ValueOf(body.Email), body.buyer()),
	); err != nil {
		return err
	}
	return h.respondPage(c)(h.Checkout.Describe(c.UserContext(), c.Params("secret"), checkout.Description{
		Email: httpapi.ValueOf(body.Email), Buyer: body.reader(c), Intake: body.given(),
	}, h.ClientAddress(c)))
}

type pageDiscountRequest struct {
	Code strictjson.Optional[string] `json:"code"`
}

func (h handlers) postPageDiscount(c *fiber.Ctx) error {
	body, reading := httpapi.Decode[pageDiscountRequest](c)
	var f fault.Violations
	code := httpapi.PatchNullable(&f, "code", body.Code)
	if err := httpapi.MergeFieldErrors(reading, f.Err()); err != nil {
		return err
	}
	return h.respondPage(c)(h.Checkout.ApplyDiscountOnPage(
		c.UserContext(), c.Params("secret"), httpapi.ValueOf(code), h.ClientAddress(c),
	))
}

type pageChangeRequest struct {
	Interval      *string `json:"interval"`
	IntervalCount *int    `json:"intervalCount"`
	Quantity      *int    `json:"quantity"`
}

func (h handlers) postPageChange(c *fiber.Ctx) error {
	body, reading := httpapi.Decode[pageChangeRequest](c)
	var f fault.Violations
	every := httpapi.ReadCadence(&f, body.Interval, body.IntervalCount)
	plan.CheckSeats(&f, "quantity", body.Quantity)
	if err := httpapi.MergeFieldErrors(reading, f.Err()); err != nil {
		return err
	}
	return h.respondPage(c)(h.Checkout.ChangeOffer(c.UserContext(), c.Params("secret"), every, body.Quantity))
}

type pageSlotsRequest struct {
	AppointmentSlots *[]httpapi.SlotRequest `json:"appointmentSlots"`
}

func (h handlers) postPageSlots(c *fiber.Ctx) error {
	body, reading := httpapi.Decode[pageSlotsRequest](c)
	slots, err := httpapi.ReadSlots(nil, body.AppointmentSlots)
	var f fault.Violations
	f.Check(slots != nil, "appointmentSlots", fault.DetailRequired, "Expected the times that the buyer chose.")
	if err := civil.AsInvalidTimezone(httpapi.MergeFieldErrors(reading, f.Err(), err)); err != nil {
		return err
	}
	return h.respondPage(c)(h.Checkout.ChooseOnPage(c.UserContext(), c.Params("secret"), slots))
}

// pagePayRequest takes what card forms have, too: expiry and security code are neither needed by test cards nor kept.
type pagePayRequest struct {
	pageRequest
	Expiry *string `json:"expiry"`
	CVC    *string `json:"cvc"`
	// ConfirmationToken is the processor's token of a card or a wallet, if its form was used.
	ConfirmationToken *string `json:"confirmationToken"`
	// Agreement names the texts that the page showed beside its button, and ImmediateSupply is the box that goes with
	// them.
	Agreement       *string `json:"agreement"`
	ImmediateSupply *bool   `json:"immediateSupply"`
}

func (h handlers) postPagePay(c *fiber.Ctx) error {
	body, reading := httpapi.Decode[pagePayRequest](c)
	p := checkout.Payment{
		Card: ports.CardInput{
			Number: httpapi.ValueOf(body.CardNumber), Token: httpapi.ValueOf(body.ConfirmationToken),
		},
		Email: httpapi.ValueOf(body.Email), Buyer: body.reader(c), ClientCountry: h.ClientCountry(c),
		Intake: body.given(),
		Accepted: core.Acceptance{
			Shown: httpapi.ValueOf(body.Agreement), ImmediateSupply: httpapi.ValueOf(body.ImmediateSupply),
			From: h.origin(c),
		},
	}
	var f fault.Violations
	body.check(&f)
	if err := httpapi.MergeFieldErrors(reading, f.Err()); err != nil {
		return httpapi.MergeFieldErrors(err, h.Checkout.CheckPayment(p))
	}
	page, err := h.Checkout.PayOnPage(c.UserContext(), c.Params("secret"), p, h.ClientAddress(c))
	if fault.Is(err, fault.AuthenticationRequired) {
		err = nil // the page goes on to the challenge: for a person that is a step, not a refusal
	}
	return httpapi.Respond(c, newPageStateView)(page, err)
}

// origin returns the network and browser from which a buyer consents.
func (h handlers) origin(c *fiber.Ctx) core.ConsentOrigin {
	client := identity.NewClient(h.ClientAddress(c), c.Get(fiber.HeaderUserAgent))
	return core.ConsentOrigin{Network: client.Address, UserAgent: client.UserAgent}
}

// challengeView tells the buyer's browser how to open the bank's challenge.
type challengeView struct {
	ClientSecret *string `json:"clientSecret"`
	RedirectURL  *string `json:"redirectUrl"`
}

func (h handlers) getPageChallenge(c *fiber.Ctx) error {
	action, err := h.Checkout.Challenge(c.UserContext(), c.Params("secret"), h.ClientAddress(c))
	if err != nil {
		return err
	}
	return c.JSON(challengeView{apiformat.Text(action.ClientSecret), apiformat.Text(action.RedirectURL)})
}

type authenticateRequest struct {
	Approve *bool `json:"approve"`
}

func (h handlers) postPageAuthenticate(c *fiber.Ctx) error {
	body, err := httpapi.Decode[authenticateRequest](c)
	if err != nil {
		return err
	}
	if body.Approve == nil {
		return fault.Invalid(fault.Detail{
			Field: "approve", Code: fault.DetailRequired, Message: "Specify true or false.",
		})
	}
	return h.respondPage(c)(h.Checkout.Authenticate(
		c.UserContext(), c.Params("secret"), *body.Approve, h.ClientAddress(c),
	))
}

// respondPage renders the page of a session after a use case.
func (h handlers) respondPage(c *fiber.Ctx) func(core.State, error) error {
	return func(session core.State, err error) error {
		if err != nil {
			return err
		}
		return httpapi.Respond(c, newPageStateView)(h.Checkout.PageOf(c.UserContext(), session))
	}
}
