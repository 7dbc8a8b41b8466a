package checkout

import (
	"bytes"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/httpapi"
	"sundry/core/apiformat"
	"sundry/core/appointment"
	core "sundry/core/checkout"
	"sundry/core/civil"
	"sundry/core/customer"
	"sundry/core/fault"
	"sundry/core/id"
	"sundry/core/intake"
	"sundry/modules/checkout"
	"sundry/ports"
)

func (h handlers) sessionRoutes() []httpapi.Route {
	return []httpapi.Route{
		{
			Method: fiber.MethodPost, Path: "/v1/checkout-sessions", Auth: httpapi.SecretKey,
			Idempotency: httpapi.Transactional, Before: h.beforeSession, Handle: h.postSession,
		},
		{
			Method: fiber.MethodGet, Path: "/v1/checkout-sessions", Auth: httpapi.SecretKey, Handle: h.listSessions, MayBeStale: true,
		},
		{Method: fiber.MethodGet, Path: "/v1/checkout-sessions/:id", Auth: httpapi.SecretKey, Handle: h.getSession},
		{
			Method: fiber.MethodPost, Path: "/v1/checkout-sessions/:id/expire", Auth: httpapi.SecretKey,
			Idempotency: httpapi.Leased, WhileSuspended: true, Handle: httpapi.WithoutBody(h.postSessionExpire),
		},
		{
			Method: fiber.MethodGet, Path: "/v1/checkout-sessions/:id/receipt", Auth: httpapi.SecretKeyOrReturnToken,
			Handle: h.getReceipt,
		},
		{
			Method: fiber.MethodPost, Path: "/v1/sandbox/checkout-sessions/:id/pay", Auth: httpapi.SecretKey,
			Idempotency: httpapi.Leased, Handle: h.postSandboxPay, SandboxOnly: true,
		},
	}
}

// sessionRequest is the body of POST /v1/checkout-sessions.
type sessionRequest struct {
	Catalog            *catalogRequest        `json:"catalog"`
	ListingID          *string                `json:"listingId"`
	VariantID          *string                `json:"variantId"`
	Quantity           *int                   `json:"quantity"`
	BuyerMayChange     *[]string              `json:"buyerMayChange"`
	ExternalCustomerID *string                `json:"externalCustomerId"`
	Email              *string                `json:"email"`
	Customer           *buyerRequest          `json:"customer"`
	SuccessURL         *string                `json:"successUrl"`
	CancelURL          *string                `json:"cancelUrl"`
	UIMode             *string                `json:"uiMode"`
	DiscountCode       *string                `json:"discountCode"`
	ReferenceID        *string                `json:"referenceId"`
	Metadata           *metadataRequest       `json:"metadata"`
	AppointmentSlot    *httpapi.SlotRequest   `json:"appointmentSlot"`
	AppointmentSlots   *[]httpapi.SlotRequest `json:"appointmentSlots"`
	intakeRequest
}

// intakeRequest holds the answers, notes and guests of a buyer of appointments.
type intakeRequest struct {
	Answers *map[string]string `json:"answers"`
	Notes   *string            `json:"notes"`
	Guests  *[]string          `json:"guests"`
}

func (r intakeRequest) given() intake.Given {
	return intake.Given{Answers: httpapi.ValueOf(r.Answers), Notes: r.Notes, Guests: r.Guests}
}

type metadataRequest = map[string]string

type catalogRequest struct {
	Listing       *string `json:"listing"`
	Plan          *string `json:"plan"`
	Interval      *string `json:"interval"`
	IntervalCount *int    `json:"intervalCount"`
	Variant       *string `json:"variant"`
	Currency      *string `json:"currency"`
}

type buyerRequest struct {
	Name       *string `json:"name"`
	Country    *string `json:"country"`
	PostalCode *string `json:"postalCode"`
	TaxID      *string `json:"taxId"`
}

func (b *buyerRequest) details() customer.Details {
	if b == nil {
		return customer.Details{}
	}
	return customer.Details{Name: httpapi.ValueOf(b.Name),
		Address: customer.Address{Country: httpapi.ValueOf(b.Country), PostalCode: httpapi.ValueOf(b.PostalCode)},
		TaxID:   httpapi.ValueOf(b.TaxID)}
}

func (r sessionRequest) newSession() (checkout.NewSession, error) {
	var f fault.Violations
	slots, err := httpapi.ReadSlots(r.AppointmentSlot, r.AppointmentSlots)
	n := checkout.NewSession{
		ListingID: httpapi.ValueOf(r.ListingID), VariantID: httpapi.ValueOf(r.VariantID),
		Quantity: r.Quantity, BuyerMayChange: httpapi.ValueOf(r.BuyerMayChange),
		ExternalCustomerID: httpapi.ValueOf(r.ExternalCustomerID), Email: httpapi.ValueOf(r.Email),
		Buyer: r.Customer.details(), SuccessURL: httpapi.ValueOf(r.SuccessURL), CancelURL: httpapi.ValueOf(r.CancelURL),
		UIMode:       httpapi.ValueOf(r.UIMode),
		DiscountCode: httpapi.ValueOf(r.DiscountCode), ReferenceID: httpapi.ValueOf(r.ReferenceID),
		Metadata: httpapi.ValueOf(r.Metadata),
		Slots:    slots, Intake: r.given(),
	}
	if r.Catalog != nil {
		n.Catalog = &core.CatalogReference{
			Listing: httpapi.ValueOf(r.Catalog.Listing), Plan: httpapi.ValueOf(r.Catalog.Plan),
			Interval: string(httpapi.ReadCadence(f.Nest("catalog"), r.Catalog.Interval, r.Catalog.IntervalCount)), Variant: httpapi.ValueOf(r.Catalog.Variant),
			Currency: httpapi.ValueOf(r.Catalog.Currency),
		}
	}
	return n, httpapi.MergeFieldErrors(err, f.Err())
}

// blanks refuses an empty text where it would count as absent, because its caller meant something else. An empty
// successUrl is refused as the missing one that it is.
func (r sessionRequest) blanks() error {
	var f fault.Violations
	check := func(field string, value *string) {
		f.Check(
			value == nil || *value != "", field, fault.DetailInvalid,
			"Expected some text. Leave the member out to send nothing.",
		)
	}
	check("listingId", r.ListingID)
	check("variantId", r.VariantID)
	check("externalCustomerId", r.ExternalCustomerID)
	check("email", r.Email)
	check("cancelUrl", r.CancelURL)
	check("uiMode", r.UIMode)
	check("discountCode", r.DiscountCode)
	if r.Catalog != nil {
		check("catalog.plan", r.Catalog.Plan)
		check("catalog.interval", r.Catalog.Interval)
		check("catalog.variant", r.Catalog.Variant)
		check("catalog.currency", r.Catalog.Currency)
	}
	return f.Err()
}

// sessionView is a checkout session.
type sessionView struct {
	ID                 string           `json:"id"`
	CheckoutID         string           `json:"checkoutId"`
	CheckoutURL        string           `json:"checkoutUrl"`
	EmbedURL           *string          `json:"embedUrl"`
	Status             core.Status      `json:"status"`
	UIMode             core.UIMode      `json:"uiMode"`
	Livemode           bool             `json:"livemode"`
	ExpiresAt          *string          `json:"expiresAt"`
	ListingID          string           `json:"listingId"`
	VariantID          *string          `json:"variantId"`
	Quantity           int              `json:"quantity"`
	BuyerMayChange     []string         `json:"buyerMayChange"`
	Catalog            *catalogView     `json:"catalog"`
	ExternalCustomerID *string          `json:"externalCustomerId"`
	Email              *string          `json:"email"`
	AppointmentSlots   []chosenSlotView `json:"appointmentSlots"`
	appointment.IntakeView
	Currency        string            `json:"currency"`
	SubtotalInCents int64             `json:"subtotalInCents"`
	DiscountInCents int64             `json:"discountInCents"`
	TaxInCents      int64             `json:"taxInCents"`
	TotalInCents    int64             `json:"totalInCents"`
	SuccessURL      *string           `json:"successUrl"`
	CancelURL       *string           `json:"cancelUrl"`
	ReferenceID     *string           `json:"referenceId"`
	Metadata        map[string]string `json:"metadata"`
	Consent         *consentView      `json:"consent"`
	CreatedAt       *string           `json:"createdAt"`
}

// consentView shows what the buyer agreed to on the page that they paid on. Members are null where there is nothing.
type consentView struct {
	AcceptedAt       *string `json:"acceptedAt"`
	Locale           string  `json:"locale"`
	Statement        *string `json:"statement"`
	TermsURL         *string `json:"termsUrl"`
	RefundPolicyHash *string `json:"refundPolicyHash"`
	ImmediateSupply  *string `json:"immediateSupply"`
	Network          *string `json:"network"`
	UserAgent        *string `json:"userAgent"`
}

func newConsentView(c *core.Consent) *consentView {
	if c == nil {
		return nil
	}
	return &consentView{
		AcceptedAt: apiformat.Time(c.AcceptedAt), Locale: c.Locale, Statement: apiformat.Text(c.Statement),
		TermsURL: apiformat.Text(c.TermsURL), RefundPolicyHash: apiformat.Text(c.RefundPolicy),
		ImmediateSupply: apiformat.Text(c.ImmediateSupply), Network: apiformat.Text(c.From.Network),
		UserAgent: apiformat.Text(c.From.UserAgent),
	}
}

// catalogView shows the stable keys of the request, with the plan, the interval (null for a one-time price) and the
// currency that they selected. Variant is null if the request named none.
type catalogView struct {
	Listing       string  `json:"listing"`
	Plan          string  `json:"plan"`
	Interval      *string `json:"interval"`
	IntervalCount *int    `json:"intervalCount"`
	Variant       *string `json:"variant"`
	Currency      string  `json:"currency"`
}

func (h handlers) newSessionView(c core.State) sessionView {
	view := sessionView{
		ID: c.ID, CheckoutID: c.ID, CheckoutURL: h.Checkout.CheckoutURL(c.ID), Status: c.Status, UIMode: c.UIMode,
		Livemode: h.Live, ExpiresAt: apiformat.Time(c.ExpiresAt), ListingID: c.Offer.ListingID,
		VariantID: apiformat.Text(c.Offer.VariantID), Quantity: c.Offer.Seats(),
		BuyerMayChange:     c.Offer.MayChange.Names(),
		ExternalCustomerID: apiformat.Text(c.ExternalCustomerID), Email: apiformat.Text(c.Email),
		AppointmentSlots: newChosenSlotViews(c.Slots), IntakeView: appointment.NewIntakeView(c.Intake),
		Currency: string(c.Total.Currency), SubtotalInCents: c.Subtotal.Minor,
		DiscountInCents: c.Discount.Minor,
		TaxInCents:      c.Tax.Minor, TotalInCents: c.Total.Minor, SuccessURL: apiformat.Text(c.SuccessURL),
		CancelURL:   apiformat.Text(c.CancelURL),
		ReferenceID: apiformat.Text(c.ReferenceID), Metadata: c.Metadata, CreatedAt: apiformat.Time(c.CreatedAt),
		Consent: newConsentView(c.Consent),
	}
	if c.Catalog != nil {
		view.Catalog = &catalogView{
			Listing: c.Catalog.Listing, Plan: c.Offer.PlanKey, Interval: apiformat.Text(string(c.Offer.Interval)),
			IntervalCount: apiformat.Count(c.Offer.IntervalCount), Variant: apiformat.Text(c.Catalog.Variant),
			Currency: string(c.Offer.Price.Currency),
		}
	}
	if view.Metadata == nil {
		view.Metadata = map[string]string{}
	}
	if c.UIMode == core.Embedded {
		url := h.Checkout.EmbedURL(c.ID)
		view.EmbedURL = &url
	}
	return view
}

// beforeSession waits for the lock where a burst of requests wants the same time. A request that cannot be read waits
// for nothing.
func (h handlers) beforeSession(c *fiber.Ctx) (after func()) {
	if !bytes.Contains(httpapi.Body(c), []byte(`"appointmentSlot`)) {
		return func() {}
	}
	body, _ := httpapi.Decode[sessionRequest](c)
	n, _ := body.newSession()
	return h.Checkout.LockSlots(c.UserContext(), httpapi.Account(c), n)
}

func (h handlers) postSession(c *fiber.Ctx) error {
	body, reading := httpapi.Decode[sessionRequest](c)
	n, slots := body.newSession()
	blanks := body.blanks()
	// then all that is wrong is reported, not only what Create would find
	if httpapi.MergeFieldErrors(reading, blanks, slots) != nil {
		return civil.AsInvalidTimezone(httpapi.MergeFieldErrors(reading, blanks, slots, h.Checkout.Check(n)))
	}
	session, err := h.Checkout.Create(c.UserContext(), httpapi.Account(c), n)
	if listingID := httpapi.ValueOf(body.ListingID); fault.Is(err, fault.NotFoundCode) && listingID != "" &&
		!id.Valid(id.Listing, listingID) {
		err = fault.New(fault.NotFoundCode, "There is no such listing. listingId takes an id, which begins with lst_; "+
			"name a listing by its key as catalog.listing.")
	}
	if err != nil {
		return civil.AsInvalidTimezone(err)
	}
	return c.Status(fiber.StatusCreated).JSON(h.newSessionView(session))
}

func (h handlers) listSessions(c *fiber.Ctx) error {
	var f fault.Violations
	p := httpapi.ReadPage(c, &f, id.CheckoutSession)
	search := ports.SessionSearch{
		Status: httpapi.QueryOneOf(
			c, &f, "status", core.StatusProcessing, core.StatusPaid, core.StatusFailed, core.StatusExpired,
		),
		ExternalCustomerID: httpapi.QueryText(c, &f, "externalCustomerId"),
		CustomerID:         httpapi.QueryID(c, &f, "customerId", id.Customer),
		ReferenceID:        httpapi.QueryText(c, &f, "referenceId"), Created: httpapi.QueryCreated(c, &f),
	}
	if err := f.Err(); err != nil {
		return err
	}
	return httpapi.RespondList(c, h.newSessionView)(h.Checkout.List(c.UserContext(), httpapi.Account(c), search, p))
}

func (h handlers) getSession(c *fiber.Ctx) error {
	return httpapi.Respond(c, h.newSessionView)(h.Checkout.Get(c.UserContext(), httpapi.Account(c), c.Params("id")))
}

func (h handlers) postSessionExpire(c *fiber.Ctx) error {
	return httpapi.Respond(c, h.newSessionView)(
		h.Checkout.ExpireEarly(c.UserContext(), httpapi.Account(c), c.Params("id")),
	)
}

type sandboxPayRequest struct {
	CardNumber       *string                `json:"cardNumber"`
	Email            *string                `json:"email"`
	Country          *string                `json:"country"`
	AppointmentSlots *[]httpapi.SlotRequest `json:"appointmentSlots"`
	intakeRequest
}

func (h handlers) postSandboxPay(c *fiber.Ctx) error {
	body, reading := httpapi.Decode[sandboxPayRequest](c)
	slots, err := httpapi.ReadSlots(nil, body.AppointmentSlots)
	p := checkout.Payment{
		Card: ports.CardInput{Number: httpapi.ValueOf(body.CardNumber)}, Email: httpapi.ValueOf(body.Email),
		Buyer: customer.Details{Address: customer.Address{Country: httpapi.ValueOf(body.Country)}}, Slots: slots,
		Intake: body.given(),
	}
	if reading != nil || err != nil {
		return civil.AsInvalidTimezone(httpapi.MergeFieldErrors(reading, err, h.Checkout.CheckPayment(p)))
	}
	return httpapi.Respond(c, h.newReceiptView)(
		h.Checkout.PayInSandbox(c.UserContext(), httpapi.Account(c), c.Params("id"), p))
}
