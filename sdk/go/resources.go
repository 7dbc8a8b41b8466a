package sundry

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// CatalogReference names what a session sells, by stable keys.
type CatalogReference struct {
	Listing  string `json:"listing"`
	Plan     string `json:"plan,omitempty"`
	Interval string `json:"interval,omitempty"`
	// IntervalCount tells prices of one interval apart, such as each month and each third; 0 for one.
	IntervalCount int    `json:"intervalCount,omitempty"`
	Variant       string `json:"variant,omitempty"`
	Currency      string `json:"currency,omitempty"`
}

// Slot is a time of an appointment, as the lists of open times have it.
type Slot struct {
	StartsAt time.Time `json:"startsAt"`
	// Timezone is the buyer's, such as Europe/Paris.
	Timezone string `json:"timezone"`
	// DeliveryMode is virtual or in_person; it may be left out where the listing has one of them only.
	DeliveryMode string `json:"deliveryMode,omitempty"`
}

// Buyer fills in the page with what your site knows already; the page asks for the rest.
type Buyer struct {
	Name       string `json:"name,omitempty"`
	Country    string `json:"country,omitempty"` // ISO 3166-1 alpha-2, such as IE
	PostalCode string `json:"postalCode,omitempty"`
	TaxID      string `json:"taxId,omitempty"`
}

// NewSession is a checkout session to open. Either Catalog, with ExternalCustomerID, or ListingID names what it sells.
type NewSession struct {
	Catalog            *CatalogReference `json:"catalog,omitempty"`
	ListingID          string            `json:"listingId,omitempty"`
	VariantID          string            `json:"variantId,omitempty"`
	Quantity           int               `json:"quantity,omitempty"`       // of a plan that renews, such as seats
	BuyerMayChange     []string          `json:"buyerMayChange,omitempty"` // "interval", "quantity"
	ExternalCustomerID string            `json:"externalCustomerId,omitempty"`
	Email              string            `json:"email,omitempty"`
	Customer           *Buyer            `json:"customer,omitempty"`
	SuccessURL         string            `json:"successUrl"`
	CancelURL          string            `json:"cancelUrl,omitempty"`
	UIMode             string            `json:"uiMode,omitempty"` // hosted or embedded
	AppointmentSlots   []Slot            `json:"appointmentSlots,omitempty"`
	Answers            map[string]string `json:"answers,omitempty"` // of appointments, by the key of the question
	Notes              string            `json:"notes,omitempty"`
	Guests             []string          `json:"guests,omitempty"` // addresses of those whom the buyer invites
	DiscountCode       string            `json:"discountCode,omitempty"`
	ReferenceID        string            `json:"referenceId,omitempty"`
	Metadata           map[string]string `json:"metadata,omitempty"`
}

// Session is a checkout session: send the buyer to CheckoutURL. Amounts are in the currency's minor unit.
type Session struct {
	ID           string            `json:"id"`
	CheckoutURL  string            `json:"checkoutUrl"`
	EmbedURL     string            `json:"embedUrl"`
	Status       string            `json:"status"` // processing, paid, failed or expired
	ExpiresAt    time.Time         `json:"expiresAt"`
	Quantity     int               `json:"quantity"`
	Currency     string            `json:"currency"`
	TotalInCents int64             `json:"totalInCents"`
	ReferenceID  string            `json:"referenceId"`
	Metadata     map[string]string `json:"metadata"`
}

// Receipt is the outcome of a session.
type Receipt struct {
	CheckoutID         string     `json:"checkoutId"`
	Status             string     `json:"status"` // processing, paid, failed or expired
	Currency           string     `json:"currency"`
	TotalInCents       int64      `json:"totalInCents"`
	RefundedInCents    int64      `json:"refundedInCents"`
	PaidAt             *time.Time `json:"paidAt"`
	ReceiptNumber      string     `json:"receiptNumber"`
	ReceiptURL         string     `json:"receiptUrl"`
	PaymentID          string     `json:"paymentId"`
	SubscriptionID     string     `json:"subscriptionId"`
	CustomerID         string     `json:"customerId"`
	ExternalCustomerID string     `json:"externalCustomerId"`
	ReferenceID        string     `json:"referenceId"`
	AccessVersion      int64      `json:"accessVersion"`
	PollAfterMs        int64      `json:"pollAfterMs"`
}

// CreateSession opens a checkout session.
func (c *Client) CreateSession(ctx context.Context, session NewSession) (*Session, error) {
	return call[Session](ctx, c, http.MethodPost, "/v1/checkout-sessions", session)
}

// Receipt reads the outcome of a session.
func (c *Client) Receipt(ctx context.Context, sessionID string) (*Receipt, error) {
	path := "/v1/checkout-sessions/" + url.PathEscape(sessionID) + "/receipt?headless=true"
	return call[Receipt](ctx, c, http.MethodGet, path, nil)
}

// WaitForReceipt reads the receipt until its outcome is known or the context ends: never grant access because a buyer
// came back.
func (c *Client) WaitForReceipt(ctx context.Context, sessionID string) (*Receipt, error) {
	for {
		receipt, err := c.Receipt(ctx, sessionID)
		if err != nil || receipt.Status != "processing" {
			return receipt, err
		}
		timer := time.NewTimer(max(time.Duration(receipt.PollAfterMs)*time.Millisecond, 100*time.Millisecond))
		select {
		case <-ctx.Done():
			timer.Stop()
			return receipt, ctx.Err()
		case <-timer.C:
		}
	}
}

// Address is a postal address. Country is ISO 3166-1 alpha-2, such as IE.
type Address struct {
	Line1      string `json:"line1,omitempty"`
	Line2      string `json:"line2,omitempty"`
	City       string `json:"city,omitempty"`
	State      string `json:"state,omitempty"`
	PostalCode string `json:"postalCode,omitempty"`
	Country    string `json:"country"`
}

// NewCustomer is a customer to create, or what to change of one: members that are empty stay as they are.
type NewCustomer struct {
	Email              string   `json:"email,omitempty"`
	DisplayName        string   `json:"displayName,omitempty"`
	ExternalCustomerID string   `json:"externalCustomerId,omitempty"`
	BillingAddress     *Address `json:"billingAddress,omitempty"`
	TaxID              string   `json:"taxId,omitempty"`
	// Metadata is merged into what there is: an empty value removes its key.
	Metadata map[string]string `json:"metadata,omitempty"`
}

// Customer is somebody who buys.
type Customer struct {
	ID                 string            `json:"id"`
	Email              string            `json:"email"`
	DisplayName        string            `json:"displayName"`
	ExternalCustomerID string            `json:"externalCustomerId"`
	BillingAddress     *Address          `json:"billingAddress"`
	TaxID              string            `json:"taxId"`
	Metadata           map[string]string `json:"metadata"`
	CreatedAt          time.Time         `json:"createdAt"`
	ErasedAt           *time.Time        `json:"erasedAt"`
	// Expanded holds what was asked for besides, by name.
	Expanded map[string]json.RawMessage `json:"expanded"`
}

// CreateCustomer creates a customer.
func (c *Client) CreateCustomer(ctx context.Context, customer NewCustomer) (*Customer, error) {
	return call[Customer](ctx, c, http.MethodPost, "/v1/customers", customer)
}

// Customer reads a customer and, by name, what belongs to them: "subscriptions", "paymentMethods".
func (c *Client) Customer(ctx context.Context, id string, expand ...string) (*Customer, error) {
	return call[Customer](ctx, c, http.MethodGet, expanded("/v1/customers/", id, expand), nil)
}

// UpdateCustomer changes a customer.
func (c *Client) UpdateCustomer(ctx context.Context, id string, change NewCustomer) (*Customer, error) {
	return call[Customer](ctx, c, http.MethodPatch, "/v1/customers/"+url.PathEscape(id), change)
}

// EraseCustomer forgets who a customer is (GDPR, article 17) and ends their access.
func (c *Client) EraseCustomer(ctx context.Context, id string) (*Customer, error) {
	return call[Customer](ctx, c, http.MethodPost, "/v1/customers/"+url.PathEscape(id)+"/erase", nil)
}

// NewSubscription goes on with a subscription that another service has begun, on a saved card. Either of PaidUntil and
// TrialEndsAt says when the first charge falls due.
type NewSubscription struct {
	// Either of these says whose it is.
	CustomerID         string           `json:"customerId,omitempty"`
	ExternalCustomerID string           `json:"externalCustomerId,omitempty"`
	Catalog            CatalogReference `json:"catalog"`
	Quantity           int              `json:"quantity,omitempty"`        // 0: one
	PaymentMethodID    string           `json:"paymentMethodId,omitempty"` // "": the latest card
	PaidUntil          *time.Time       `json:"paidUntil,omitempty"`
	TrialEndsAt        *time.Time       `json:"trialEndsAt,omitempty"`
	// Anchor is the instant from which periods are counted; nil: PaidUntil.
	Anchor            *time.Time        `json:"anchor,omitempty"`
	StartedAt         *time.Time        `json:"startedAt,omitempty"` // nil: now
	CreditInCents     int64             `json:"creditInCents,omitempty"`
	CancelAtPeriodEnd bool              `json:"cancelAtPeriodEnd,omitempty"`
	Metadata          map[string]string `json:"metadata,omitempty"`
}

// Subscription is a recurring purchase.
type Subscription struct {
	ID                 string            `json:"id"`
	Status             string            `json:"status"`
	CheckoutID         string            `json:"checkoutId"` // "" where another service began it
	CustomerID         string            `json:"customerId"`
	ExternalCustomerID string            `json:"externalCustomerId"`
	ListingKey         string            `json:"listingKey"`
	Plan               string            `json:"plan"`
	Interval           string            `json:"interval"`
	IntervalCount      int               `json:"intervalCount"` // of how many intervals a period is
	AmountInCents      int64             `json:"amountInCents"`
	Quantity           int               `json:"quantity"`
	Currency           string            `json:"currency"`
	CurrentPeriodEnd   time.Time         `json:"currentPeriodEnd"`
	TrialEndsAt        *time.Time        `json:"trialEndsAt"`
	CancelAtPeriodEnd  bool              `json:"cancelAtPeriodEnd"`
	CreditInCents      int64             `json:"creditInCents"`
	Metadata           map[string]string `json:"metadata"`
	// Expanded holds what was asked for besides, by name.
	Expanded map[string]json.RawMessage `json:"expanded"`
}

// CreateSubscription takes a subscription of another service over. End it there at the same time.
func (c *Client) CreateSubscription(ctx context.Context, s NewSubscription) (*Subscription, error) {
	return call[Subscription](ctx, c, http.MethodPost, "/v1/subscriptions", s)
}

// Subscription reads a subscription and, by name, what belongs to it: "customer", "usage".
func (c *Client) Subscription(ctx context.Context, id string, expand ...string) (*Subscription, error) {
	return call[Subscription](ctx, c, http.MethodGet, expanded("/v1/subscriptions/", id, expand), nil)
}

// PortalURL makes a link to the pages on which a customer manages subscriptions, cards and invoices.
func (c *Client) PortalURL(ctx context.Context, customerID, returnURL string) (string, error) {
	made, err := call[struct {
		URL string `json:"url"`
	}](ctx, c, http.MethodPost, "/v1/customer-portal-sessions",
		map[string]string{"customerId": customerID, "returnUrl": returnURL})
	if err != nil {
		return "", err
	}
	return made.URL, nil
}

// Use is a report of usage. Quantity is a decimal, sent to the digit: "12.5".
type Use struct {
	// Either of these says whose use it is.
	SubscriptionID     string      `json:"subscriptionId,omitempty"`
	ExternalCustomerID string      `json:"externalCustomerId,omitempty"`
	Meter              string      `json:"meter"`
	Quantity           json.Number `json:"quantity,omitempty"`
	// Properties describe the use: the value that a UNIQUE meter counts, and those of a meter's dimensions.
	Properties map[string]string `json:"properties,omitempty"`
	// IdempotencyKey names the report and never expires; "" is a new one, which only this call's retries share.
	IdempotencyKey string     `json:"idempotencyKey"`
	Timestamp      *time.Time `json:"timestamp,omitempty"` // nil: now
}

// Reported is the outcome of a report. Error is the refusal of a report in a batch; nil for an accepted one.
type Reported struct {
	ID        string `json:"id"`
	Accepted  bool   `json:"accepted"`
	Duplicate bool   `json:"duplicate"`
	Error     *Error `json:"error"`
}

// ReportUse reports usage. It is durable when this returns.
func (c *Client) ReportUse(ctx context.Context, use Use) (*Reported, error) {
	if use.IdempotencyKey == "" {
		use.IdempotencyKey = idempotencyKey(ctx)
	}
	ctx = WithIdempotencyKey(ctx, use.IdempotencyKey)
	return call[Reported](ctx, c, http.MethodPost, "/v1/usage/events", use)
}

// ReportUses reports up to 1,000 uses. Each has an outcome of its own, in the same order.
func (c *Client) ReportUses(ctx context.Context, uses []Use) ([]Reported, error) {
	sent := make([]Use, len(uses))
	for i, use := range uses {
		if use.IdempotencyKey == "" {
			use.IdempotencyKey = rand.Text()
		}
		sent[i] = use
	}
	made, err := call[struct {
		Results []Reported `json:"results"`
	}](ctx, c, http.MethodPost, "/v1/usage/events/batch", map[string]any{"events": sent})
	if err != nil {
		return nil, err
	}
	return made.Results, nil
}

// InvoiceLine is a line of an invoice to push.
type InvoiceLine struct {
	Description   string `json:"description"`
	AmountInCents int64  `json:"amountInCents"`
}

// NewInvoice is an invoice that the customer's saved card is charged for at once.
type NewInvoice struct {
	CustomerID  string            `json:"customerId"`
	Currency    string            `json:"currency"`
	LineItems   []InvoiceLine     `json:"lineItems"`
	TaxBehavior string            `json:"taxBehavior,omitempty"` // inclusive, unless set, or exclusive
	PeriodStart string            `json:"periodStart,omitempty"`
	PeriodEnd   string            `json:"periodEnd,omitempty"`
	Metadata    map[string]string `json:"metadata,omitempty"`
}

// Invoice is an invoice.
type Invoice struct {
	ID            string            `json:"id"`
	Number        string            `json:"number"`
	CustomerID    string            `json:"customerId"`
	Status        string            `json:"status"` // open, failed or paid
	Currency      string            `json:"currency"`
	TaxInCents    int64             `json:"taxInCents"`
	TotalInCents  int64             `json:"totalInCents"`
	DeclineCode   string            `json:"declineCode"`
	NextAttemptAt *time.Time        `json:"nextAttemptAt"`
	HostedURL     string            `json:"hostedUrl"`
	PDFURL        string            `json:"pdfUrl"`
	PaidAt        *time.Time        `json:"paidAt"`
	Metadata      map[string]string `json:"metadata"`
}

// CreateInvoice pushes an invoice. The key names it and never expires: with the same key and invoice it returns the one
// that was made before. CARD_DECLINED (402) leaves an invoice whose charge is tried again; Error.Body carries it. An
// empty key is an error.
func (c *Client) CreateInvoice(ctx context.Context, key string, invoice NewInvoice) (*Invoice, error) {
	if key == "" {
		return nil, errors.New("sundry: an invoice takes an idempotency key")
	}
	made, err := call[Invoice](WithIdempotencyKey(ctx, key), c, http.MethodPost, "/v1/invoices", invoice)
	if refusal, ok := errors.AsType[*Error](err); ok && refusal.Code == "IDEMPOTENCY_KEY_REUSED" {
		made = &Invoice{}
		return made, json.Unmarshal(refusal.Body, made)
	}
	return made, err
}

// Invoice reads an invoice.
func (c *Client) Invoice(ctx context.Context, id string) (*Invoice, error) {
	return call[Invoice](ctx, c, http.MethodGet, "/v1/invoices/"+url.PathEscape(id), nil)
}

// NewRefund is a refund of the payment that either id names. Without an amount it is all that is left.
type NewRefund struct {
	PaymentID     string            `json:"paymentId,omitempty"`
	CheckoutID    string            `json:"checkoutId,omitempty"`
	AmountInCents int64             `json:"amountInCents,omitempty"` // 0: all that is left
	Reason        string            `json:"reason"`
	KeepAccess    bool              `json:"keepAccess,omitempty"`
	Subscription  string            `json:"subscription,omitempty"` // cancel_now, cancel_at_period_end or keep
	Metadata      map[string]string `json:"metadata,omitempty"`
}

// Refund is money on its way back.
type Refund struct {
	ID            string            `json:"id"`
	PaymentID     string            `json:"paymentId"`
	AmountInCents int64             `json:"amountInCents"`
	Currency      string            `json:"currency"`
	Reason        string            `json:"reason"`
	Status        string            `json:"status"`
	Metadata      map[string]string `json:"metadata"`
}

// CreateRefund returns money.
func (c *Client) CreateRefund(ctx context.Context, refund NewRefund) (*Refund, error) {
	return call[Refund](ctx, c, http.MethodPost, "/v1/refunds", refund)
}

// call is Do with the type of the response.
func call[T any](ctx context.Context, c *Client, method, path string, body any) (*T, error) {
	out := new(T)
	if err := c.Do(ctx, method, path, body, out); err != nil {
		return nil, err
	}
	return out, nil
}

// expanded is the path of an object with the names of what is to come along.
func expanded(path, id string, names []string) string {
	path += url.PathEscape(id)
	if len(names) > 0 {
		path += "?expand=" + url.QueryEscape(strings.Join(names, ","))
	}
	return path
}
