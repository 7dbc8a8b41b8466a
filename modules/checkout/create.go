package checkout

import (
	"context"
	"errors"
	"strings"

	"sundry/core/appointment"
	"sundry/core/checkout"
	"sundry/core/customer"
	"sundry/core/discount"
	"sundry/core/fault"
	"sundry/core/id"
	"sundry/core/intake"
	"sundry/core/metadata"
	"sundry/core/money"
	"sundry/core/period"
	"sundry/core/plan"
	"sundry/core/quota"
	"sundry/core/tax"
	"sundry/ports"
)

// NewSession is the integrator's request. Exactly one of Catalog and ListingID names the listing.
type NewSession struct {
	Catalog            *checkout.CatalogReference
	ListingID          string
	VariantID          string
	ExternalCustomerID string
	// Quantity is nil for one.
	Quantity *int
	// BuyerMayChange names what the buyer may change on the page, as plan.ParseChanges reads it.
	BuyerMayChange []string
	Email          string
	Buyer          customer.Details
	SuccessURL     string
	CancelURL      string
	UIMode         string
	DiscountCode   string
	ReferenceID    string
	Metadata       map[string]string
	// Slots are the times that the buyer has chosen at the integrator's (Flow A); nil when they choose on the page
	// (Flow B).
	Slots []appointment.SlotChoice
	// Intake holds the answers given at the integrator's; the page asks for the rest.
	Intake intake.Given
}

// maxReferenceID is the most characters of a reference id.
const maxReferenceID = 500

// validate reports every fault of the request that needs no database.
func (n NewSession) validate(sandbox bool) error {
	var f fault.Violations
	switch {
	case n.Catalog == nil && n.ListingID == "":
		f.Add("catalog", fault.DetailRequired, "Specify what is sold: either catalog or listingId.")
	case n.Catalog != nil && n.ListingID != "":
		f.Add("listingId", fault.DetailNotAllowed, "Send either catalog or listingId, not both.")
	case n.Catalog != nil:
		c := f.Nest("catalog")
		c.Check(n.Catalog.Listing != "", "listing", fault.DetailRequired, "Give the listing's catalog key.")
		if n.Catalog.Interval != "" {
			_, err := period.ParseCadence(n.Catalog.Interval)
			_ = c.Nest("interval").Merge(err) // its only error is a fault of the request
		}
		if n.Catalog.Currency != "" {
			_, err := money.ParseCurrency(n.Catalog.Currency)
			_ = c.Nest("currency").Merge(err) // its only error is a fault of the request
		}
		customer.ValidateExternalID("externalCustomerId", n.ExternalCustomerID, &f)
	}
	if n.Catalog == nil && n.ExternalCustomerID != "" {
		customer.ValidateExternalID("externalCustomerId", n.ExternalCustomerID, &f)
	}
	f.Check(
		n.VariantID == "" || n.ListingID != "", "variantId", fault.DetailNotAllowed, "A variant goes with listingId.",
	)
	if n.Email != "" {
		customer.ValidateEmail("email", n.Email, &f)
	}
	n.Buyer.Validate(f.Nest("customer"))
	if n.SuccessURL == "" {
		f.Add("successUrl", fault.DetailRequired, "Specify where the buyer goes after paying.")
	} else {
		checkout.ValidateRedirectURL("successUrl", n.SuccessURL, sandbox, &f)
	}
	if n.CancelURL != "" {
		checkout.ValidateRedirectURL("cancelUrl", n.CancelURL, sandbox, &f)
	}
	if n.UIMode != "" {
		f.OneOf("uiMode", n.UIMode, string(checkout.Hosted), string(checkout.Embedded))
	}
	f.Check(
		n.DiscountCode == "" || discount.ValidCode(strings.TrimSpace(n.DiscountCode)), "discountCode",
		fault.DetailInvalid, "There is no such discount code.",
	)
	plan.CheckSeats(&f, "quantity", n.Quantity)
	plan.ParseChanges(&f, "buyerMayChange", n.BuyerMayChange)
	metadata.CheckText("referenceId", n.ReferenceID, maxReferenceID, &f)
	metadata.Check(n.Metadata, f.Nest("metadata"))
	for _, pick := range n.Slots {
		pick.Check(f.Nest(pick.Field))
	}
	return f.Err()
}

// Check lists everything that is wrong with the request itself, as one VALIDATION_FAILED error.
func (s *Service) Check(n NewSession) error { return n.validate(!s.cfg.Live) }

// Create opens a session for the account. Faults: VALIDATION_FAILED, NOT_FOUND, LISTING_NOT_PURCHASABLE, NOT_BOOKABLE,
// ALREADY_SUBSCRIBED, RATE_LIMITED, FORBIDDEN for an account that may not sell, and of times given those of
// ports.Bookings.
func (s *Service) Create(ctx context.Context, creatorID string, n NewSession) (checkout.State, error) {
	if err := n.validate(!s.cfg.Live); err != nil {
		return checkout.State{}, err
	}
	if err := s.deps.Rates.Count(ctx, creatorID, quota.Sessions, 1); err != nil {
		return checkout.State{}, err
	}
	check, err := s.checkVAT(ctx, n.Buyer, customer.Details{}, tax.VATCheck{}, "customer.taxId")
	if err != nil {
		return checkout.State{}, err
	}
	var created checkout.State
	err = s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		err := ports.CheckExternalID(ctx, r.Customers.Customers, creatorID, "", n.ExternalCustomerID)
		if err != nil {
			return err
		}
		offer, err := s.offer(ctx, r, creatorID, n)
		if err == nil && n.Quantity != nil {
			offer, err = offer.WithSeats(*n.Quantity)
		}
		if err != nil {
			return err
		}
		mode := checkout.Hosted
		if n.UIMode != "" {
			mode = checkout.UIMode(n.UIMode)
		}
		created, err = s.open(ctx, r, checkout.State{
			Offer: offer, Catalog: n.Catalog, ExternalCustomerID: n.ExternalCustomerID, Email: n.Email, Buyer: n.Buyer,
			UIMode: mode, SuccessURL: n.SuccessURL, CancelURL: n.CancelURL, ReferenceID: n.ReferenceID,
			Metadata: n.Metadata,
		}, n.Slots, func(session *checkout.Session) error {
			session.NoteVATCheck(check)
			if err := session.TakeIntake(n.Intake, false); err != nil {
				return err
			}
			if n.DiscountCode == "" {
				return nil
			}
			return refusedAt("discountCode", s.applyCode(ctx, r, session, n.DiscountCode))
		})
		return err
	})
	return created, err
}

func (s *Service) offer(ctx context.Context, r ports.Repos, creatorID string, n NewSession) (plan.Offer, error) {
	mayChange := plan.ParseChanges(&fault.Violations{}, "", n.BuyerMayChange) // checked before
	if n.Catalog == nil {
		return s.deps.Offers.ByListing(ctx, r, creatorID, ports.ListingChoice{
			ListingID: n.ListingID, VariantID: n.VariantID, Buyer: s.buyerCountry(r, creatorID, n), MayChange: mayChange,
		})
	}
	every := period.Every(period.Month, 1)
	if n.Catalog.Interval != "" {
		every = period.Cadence(n.Catalog.Interval)
	}
	return s.deps.Offers.ByCatalog(ctx, r, creatorID, ports.CatalogChoice{
		Listing: n.Catalog.Listing, Plan: n.Catalog.Plan, Every: every, Variant: n.Catalog.Variant,
		Currency: money.Currency(n.Catalog.Currency), Buyer: s.buyerCountry(r, creatorID, n), MayChange: mayChange,
	})
}

// buyerCountry is the country that a request names, or else that of the billing address that the customer has.
func (s *Service) buyerCountry(r ports.Repos, creatorID string, n NewSession) ports.BuyerCountry {
	return func(ctx context.Context) (string, error) {
		if n.Buyer.Country != "" || n.ExternalCustomerID == "" {
			return n.Buyer.Country, nil
		}
		known, err := r.Customers.Customers.GetByExternalID(ctx, creatorID, n.ExternalCustomerID)
		if errors.Is(err, ports.ErrNotFound) {
			return "", nil
		}
		return known.Details.Country, err
	}
}

// open stores a new session, with the times that the buyer has chosen already (nil for none), the discount that apply
// takes off, and the task that will expire it.
func (s *Service) open(ctx context.Context, r ports.Repos, state checkout.State, picks []appointment.SlotChoice,
	apply func(*checkout.Session) error) (checkout.State, error) {
	state.ID, state.CreatorID = s.deps.IDs.New(id.CheckoutSession), state.Offer.CreatorID
	if err := s.deps.Standing.CheckSales(ctx, state.CreatorID); err != nil {
		return checkout.State{}, err
	}
	now, err := r.Clock.Now(ctx, state.CreatorID)
	if err != nil {
		return checkout.State{}, err
	}
	if err := s.refuseSubscriber(ctx, r, state, state.OpenedBy == ""); err != nil {
		return checkout.State{}, err
	}
	had, err := s.hadTrial(ctx, r, state, "")
	if err != nil {
		return checkout.State{}, err
	}
	if had {
		state.Offer.TrialDays = 0
	}
	session := checkout.New(state, now)
	if err := apply(session); err != nil {
		return checkout.State{}, err
	}
	if err := s.applyTax(ctx, session, now); err != nil {
		return checkout.State{}, err
	}
	state = session.State()
	if state.Slots, err = s.firstSlots(ctx, r, state, picks); err != nil {
		return checkout.State{}, err
	}
	if err := r.Checkout.Sessions.Insert(ctx, state); err != nil {
		return checkout.State{}, err
	}
	if err := r.Tasks.Schedule(ctx, TaskExpire, state.ID, state.CreatorID, state.ExpiresAt); err != nil {
		return checkout.State{}, err
	}
	opened := checkout.Opened{CheckoutID: state.ID, CreatorID: state.CreatorID}
	return state, s.deps.Bus.Publish(ctx, r, opened)
}

// Get returns a session of the account. NOT_FOUND for any other.
func (s *Service) Get(ctx context.Context, creatorID, sessionID string) (checkout.State, error) {
	return owned(ctx, s.deps.Store.Read(ctx), creatorID, sessionID)
}

// List returns the account's sessions that match the search, newest first.
func (s *Service) List(
	ctx context.Context, creatorID string, search ports.SessionSearch, page ports.Page,
) (ports.List[checkout.State], error) {
	return s.deps.Store.Read(ctx).Checkout.Sessions.List(ctx, creatorID, search, page)
}
