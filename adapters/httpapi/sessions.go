package httpapi

import (
	"bytes"

	"github.com/gofiber/fiber/v2"

	"sundry/core/checkout"
	"sundry/core/civil"
	"sundry/core/customer"
	"sundry/core/fault"
	"sundry/core/payment"
	"sundry/core/wire"
	"sundry/modules/selling"
)

func (s *Server) sessionRoutes() []Route {
	return []Route{
		{Method: fiber.MethodPost, Path: "/v1/checkout-sessions", Gate: SecretKey, Once: OnceInTransaction, Before: s.beforeSession, Handle: s.postSession},
		{Method: fiber.MethodGet, Path: "/v1/checkout-sessions/:id", Gate: SecretKey, Handle: s.getSession},
		{Method: fiber.MethodPost, Path: "/v1/checkout-sessions/:id/expire", Gate: SecretKey, Once: OnceLeased, Handle: bodiless(s.postSessionExpire)},
		{Method: fiber.MethodGet, Path: "/v1/checkout-sessions/:id/receipt", Gate: KeyOrReturnToken, Handle: s.getReceipt},
		{Method: fiber.MethodPost, Path: "/v1/sandbox/checkout-sessions/:id/pay", Gate: SecretKey, Once: OnceLeased, Handle: s.postSandboxPay, SandboxOnly: true},
	}
}

// sessionRequest is the body of POST /v1/checkout-sessions.
type sessionRequest struct {
	Catalog            *catalogRequest  `json:"catalog"`
	ListingID          *string          `json:"listingId"`
	VariantID          *string          `json:"variantId"`
	ExternalCustomerID *string          `json:"externalCustomerId"`
	Email              *string          `json:"email"`
	Customer           *buyerRequest    `json:"customer"`
	SuccessURL         *string          `json:"successUrl"`
	CancelURL          *string          `json:"cancelUrl"`
	UIMode             *string          `json:"uiMode"`
	DiscountCode       *string          `json:"discountCode"`
	ReferenceID        *string          `json:"referenceId"`
	Metadata           *metadataRequest `json:"metadata"`
	AppointmentSlot    *slotRequest     `json:"appointmentSlot"`
	AppointmentSlots   *[]slotRequest   `json:"appointmentSlots"`
}

type metadataRequest = map[string]string

type catalogRequest struct {
	Listing  *string `json:"listing"`
	Plan     *string `json:"plan"`
	Interval *string `json:"interval"`
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
	return customer.Details{Name: or(b.Name), Country: or(b.Country), PostalCode: or(b.PostalCode), TaxID: or(b.TaxID)}
}

func (r sessionRequest) newSession() (selling.NewSession, error) {
	slots, err := picks(r.AppointmentSlot, r.AppointmentSlots)
	n := selling.NewSession{
		ListingID: or(r.ListingID), VariantID: or(r.VariantID), ExternalCustomerID: or(r.ExternalCustomerID), Email: or(r.Email),
		Buyer: r.Customer.details(), SuccessURL: or(r.SuccessURL), CancelURL: or(r.CancelURL), UIMode: or(r.UIMode),
		DiscountCode: or(r.DiscountCode), ReferenceID: or(r.ReferenceID), Metadata: or(r.Metadata),
		Slots: slots,
	}
	if r.Catalog != nil {
		n.Catalog = &checkout.CatalogReference{Listing: or(r.Catalog.Listing), Plan: or(r.Catalog.Plan), Interval: or(r.Catalog.Interval)}
	}
	return n, err
}

// blanks refuses the empty text where it would count as nothing said: a caller who sends it meant something else.
func (r sessionRequest) blanks() error {
	var f fault.Faults
	check := func(field string, value *string) {
		f.Check(value == nil || *value != "", field, fault.DetailInvalid, "Expected some text. Leave the member out to say nothing.")
	}
	check("listingId", r.ListingID)
	check("variantId", r.VariantID)
	check("externalCustomerId", r.ExternalCustomerID)
	check("email", r.Email)
	check("successUrl", r.SuccessURL)
	check("cancelUrl", r.CancelURL)
	check("uiMode", r.UIMode)
	check("discountCode", r.DiscountCode)
	if r.Catalog != nil {
		check("catalog.interval", r.Catalog.Interval)
	}
	return f.Err()
}

// sessionView is a checkout session (contract §5).
type sessionView struct {
	ID                 string            `json:"id"`
	CheckoutID         string            `json:"checkoutId"`
	CheckoutURL        string            `json:"checkoutUrl"`
	EmbedURL           *string           `json:"embedUrl"`
	Status             checkout.Status   `json:"status"`
	UIMode             checkout.UIMode   `json:"uiMode"`
	Livemode           bool              `json:"livemode"`
	ExpiresAt          *string           `json:"expiresAt"`
	ListingID          string            `json:"listingId"`
	VariantID          *string           `json:"variantId"`
	Catalog            *catalogView      `json:"catalog"`
	ExternalCustomerID *string           `json:"externalCustomerId"`
	Email              *string           `json:"email"`
	AppointmentSlots   []chosenSlotView  `json:"appointmentSlots"`
	Currency           string            `json:"currency"`
	SubtotalInCents    int64             `json:"subtotalInCents"`
	DiscountInCents    int64             `json:"discountInCents"`
	TaxInCents         int64             `json:"taxInCents"`
	TotalInCents       int64             `json:"totalInCents"`
	SuccessURL         *string           `json:"successUrl"`
	CancelURL          *string           `json:"cancelUrl"`
	ReferenceID        *string           `json:"referenceId"`
	Metadata           map[string]string `json:"metadata"`
	CreatedAt          *string           `json:"createdAt"`
}

// catalogView is what was asked for by stable keys, with the interval that was settled on (null for a one-time price).
type catalogView struct {
	Listing  string  `json:"listing"`
	Plan     string  `json:"plan"`
	Interval *string `json:"interval"`
}

func (s *Server) sessionView(c checkout.State) sessionView {
	view := sessionView{
		ID: c.ID, CheckoutID: c.ID, CheckoutURL: s.Selling.CheckoutURL(c.ID), Status: c.Status, UIMode: c.UIMode,
		Livemode: !s.cfg.Sandbox, ExpiresAt: wire.Time(c.ExpiresAt), ListingID: c.Offer.ListingID, VariantID: wire.Text(c.Offer.VariantID),
		ExternalCustomerID: wire.Text(c.ExternalCustomerID), Email: wire.Text(c.Email), AppointmentSlots: chosenSlotViews(c.Slots),
		Currency: string(c.Total.Currency), SubtotalInCents: c.Subtotal.Minor, DiscountInCents: c.Discount.Minor,
		TaxInCents: c.Tax.Minor, TotalInCents: c.Total.Minor, SuccessURL: wire.Text(c.SuccessURL), CancelURL: wire.Text(c.CancelURL),
		ReferenceID: wire.Text(c.ReferenceID), Metadata: c.Metadata, CreatedAt: wire.Time(c.CreatedAt),
	}
	if c.Catalog != nil {
		view.Catalog = &catalogView{c.Catalog.Listing, c.Catalog.Plan, wire.Text(string(c.Offer.Interval))}
	}
	if view.Metadata == nil {
		view.Metadata = map[string]string{}
	}
	if c.UIMode == checkout.Embedded {
		url := s.Selling.EmbedURL(c.ID)
		view.EmbedURL = &url
	}
	return view
}

// beforeSession waits its turn where a crowd wants the same time. A request that cannot be read waits for nothing.
func (s *Server) beforeSession(c *fiber.Ctx) (after func()) {
	if !bytes.Contains(c.Body(), []byte(`"appointmentSlot`)) {
		return func() {}
	}
	body, _ := decode[sessionRequest](c)
	n, _ := body.newSession()
	return s.Selling.TakeTurn(c.UserContext(), account(c), n)
}

func (s *Server) postSession(c *fiber.Ctx) error {
	body, reading := decode[sessionRequest](c)
	n, slots := body.newSession()
	blanks := body.blanks()
	if together(reading, blanks, slots) != nil { // then all that is wrong is told, not only what Create would find
		return civil.Refusal(together(reading, blanks, slots, s.Selling.Check(n)))
	}
	session, err := s.Selling.Create(c.UserContext(), account(c), n)
	if err != nil {
		return civil.Refusal(err)
	}
	return c.Status(fiber.StatusCreated).JSON(s.sessionView(session))
}

func (s *Server) getSession(c *fiber.Ctx) error {
	session, err := s.Selling.Get(c.UserContext(), account(c), c.Params("id"))
	if err != nil {
		return err
	}
	return c.JSON(s.sessionView(session))
}

func (s *Server) postSessionExpire(c *fiber.Ctx) error {
	session, err := s.Selling.ExpireEarly(c.UserContext(), account(c), c.Params("id"))
	if err != nil {
		return err
	}
	return c.JSON(s.sessionView(session))
}

// receiptStatusView is what a browser with a return token sees.
type receiptStatusView struct {
	CheckoutID string          `json:"checkoutId"`
	Status     checkout.Status `json:"status"`
}

// receiptView is the whole receipt (contract §5).
type receiptView struct {
	CheckoutID         string                   `json:"checkoutId"`
	Status             checkout.Status          `json:"status"`
	Livemode           bool                     `json:"livemode"`
	SubtotalInCents    int64                    `json:"subtotalInCents"`
	DiscountInCents    int64                    `json:"discountInCents"`
	TaxInCents         int64                    `json:"taxInCents"`
	TotalInCents       int64                    `json:"totalInCents"`
	RefundedInCents    int64                    `json:"refundedInCents"`
	Currency           string                   `json:"currency"`
	PaidAt             *string                  `json:"paidAt"`
	ReceiptNumber      *string                  `json:"receiptNumber"`
	ReceiptURL         *string                  `json:"receiptUrl"`
	PaymentID          *string                  `json:"paymentId"`
	SubscriptionID     *string                  `json:"subscriptionId"`
	CustomerID         *string                  `json:"customerId"`
	ExternalCustomerID *string                  `json:"externalCustomerId"`
	ReferenceID        *string                  `json:"referenceId"`
	Appointments       []receiptAppointmentView `json:"appointments"`
	LastPaymentError   *payment.Refusal         `json:"lastPaymentError"`
	AccessVersion      *int64                   `json:"accessVersion"`
	PollAfterMs        *int64                   `json:"pollAfterMs"`
}

func (s *Server) receiptView(r selling.Receipt) receiptView {
	c := r.Session
	view := receiptView{
		CheckoutID: c.ID, Status: c.Status, Livemode: !s.cfg.Sandbox, SubtotalInCents: c.Subtotal.Minor,
		DiscountInCents: c.Discount.Minor, TaxInCents: c.Tax.Minor, TotalInCents: c.Total.Minor, Currency: string(c.Total.Currency),
		PaidAt: wire.Time(c.PaidAt), ReceiptNumber: wire.Text(c.ReceiptNumber), ReceiptURL: wire.Text(r.ReceiptURL),
		PaymentID: wire.Text(c.PaymentID), SubscriptionID: wire.Text(c.SubscriptionID), CustomerID: wire.Text(c.CustomerID),
		ExternalCustomerID: wire.Text(c.ExternalCustomerID), ReferenceID: wire.Text(c.ReferenceID),
		Appointments:     receiptAppointmentViews(r.Appointments),
		LastPaymentError: lastError(c),
	}
	if c.ExternalCustomerID != "" {
		view.AccessVersion = &r.AccessVersion
	}
	if ms := r.PollAfter.Milliseconds(); ms > 0 {
		view.PollAfterMs = &ms
	}
	return view
}

// lastError is why the last card was refused; null when none was, or when one is being tried.
func lastError(c checkout.State) *payment.Refusal {
	if c.LastError.Code == "" {
		return nil
	}
	return &c.LastError
}

// getReceipt serves both callers: the browser with its return token, and the integrator with a key.
func (s *Server) getReceipt(c *fiber.Ctx) error {
	id, token := c.Params("id"), c.Query("returnToken")
	if account(c) == "" {
		status, err := s.Selling.ReceiptStatus(c.UserContext(), id, token)
		if err != nil {
			return refused(err)
		}
		return c.JSON(receiptStatusView{CheckoutID: id, Status: status})
	}
	var f fault.Faults
	headless := c.Query("headless")
	f.Check(headless == "" || headless == "true" || headless == "false", "headless", fault.DetailInvalid, "The value must be true or false.")
	f.Check(headless == "true" || token != "", "returnToken", fault.DetailRequired, "Send the buyer's returnToken, or headless=true to ask without one.")
	if err := f.Err(); err != nil {
		return err
	}
	receipt, err := s.Selling.Receipt(c.UserContext(), account(c), id, token)
	if err != nil {
		return refused(err)
	}
	return c.JSON(s.receiptView(receipt))
}

type sandboxPayRequest struct {
	CardNumber       *string        `json:"cardNumber"`
	Email            *string        `json:"email"`
	Country          *string        `json:"country"`
	AppointmentSlots *[]slotRequest `json:"appointmentSlots"`
}

func (s *Server) postSandboxPay(c *fiber.Ctx) error {
	body, reading := decode[sandboxPayRequest](c)
	slots, err := picks(nil, body.AppointmentSlots)
	p := selling.Payment{CardNumber: or(body.CardNumber), Email: or(body.Email), Buyer: customer.Details{Country: or(body.Country)}, Slots: slots}
	if reading != nil || err != nil {
		return civil.Refusal(together(reading, err, s.Selling.CheckPayment(p)))
	}
	session, err := s.Selling.PayInSandbox(c.UserContext(), account(c), c.Params("id"), p)
	if err != nil {
		return err
	}
	receipt, err := s.Selling.ReceiptOf(c.UserContext(), session)
	if err != nil {
		return err
	}
	return c.JSON(s.receiptView(receipt))
}
