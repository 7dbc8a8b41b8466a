package checkout

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"sundry/core/checkout"
	"sundry/core/customer"
	"sundry/core/fault"
	"sundry/core/metadata"
	"sundry/core/text"
	"sundry/ports"
)

// Limits of what a link's parameters may attach: their number, and their characters.
const (
	maxUTM           = 20
	maxLinkParameter = 500
)

// RefusedCode is the parameter of a page's address that names the discount code of a payment link, or of a session
// before, that takes nothing off.
const RefusedCode = "refused_code"

// OpenLink opens a fresh session for a visitor of a payment link. The parameters prefill and attribute only: they
// never change the price nor where the buyer goes. The visitor is counted by their network, and their country selects
// the currency where the link has none. The faults of ports.Offers, RATE_LIMITED, FORBIDDEN.
func (s *Service) OpenLink(
	ctx context.Context, code string, parameters map[string]string, from Visitor,
) (checkoutURL string, err error) {
	var f fault.Violations
	utm, buyer := map[string]string{}, strings.TrimSpace(parameters["customer_name"])
	for _, name := range slices.Sorted(maps.Keys(parameters)) {
		value := parameters[name]
		switch {
		case strings.HasPrefix(name, "utm_") && len(utm) < maxUTM:
			utm[name] = value
		case name == "customer_email", name == "customer_name", name == "discount_code", name == "reference_id":
		default:
			continue
		}
		if name == "customer_name" {
			text.CheckLine(&f, name, buyer, customer.MaxName) // as in every other place that takes one
			continue
		}
		metadata.CheckText(name, value, maxLinkParameter, &f)
	}
	if err := f.Err(); err != nil {
		return "", err
	}
	state := checkout.State{
		UIMode: checkout.Hosted, UTM: utm, OpenedBy: s.openedBy(from.Network),
		ReferenceID: strings.ToValidUTF8(parameters["reference_id"], "\ufffd"), // as in utm: the link may be Latin-1
		Email:       prefill(parameters["customer_email"]), Buyer: customer.Details{Name: buyer},
	}
	err = s.withRateLimit(ctx, "open", from.Network, maxOpened, func() error {
		return s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
			link, err := s.deps.Offers.ByLink(ctx, r, code, from.country)
			if err != nil {
				return err
			}
			fresh := state
			fresh.Offer, fresh.PaymentLinkID, fresh.SuccessURL = link.Offer, link.LinkID, link.SuccessURL
			checkoutURL, err = s.openCounted(ctx, r, fresh, parameters["discount_code"])
			return err
		})
	})
	if err != nil {
		return "", fmt.Errorf("open payment link: %w", err)
	}
	return checkoutURL, nil
}

// CheckLink reports why a payment link cannot be opened now, and opens nothing. The faults of ports.Offers.
func (s *Service) CheckLink(ctx context.Context, code string, from Visitor) error {
	_, err := s.deps.Offers.ByLink(ctx, s.deps.Store.Read(ctx), code, from.country)
	return err
}

// openCounted opens a session for a visitor within the limit of held times. code is a discount to prefill; the address
// of the page names one that is refused.
func (s *Service) openCounted(
	ctx context.Context, r ports.Repos, fresh checkout.State, code string,
) (checkoutURL string, err error) {
	fresh.CreatorID = fresh.Offer.CreatorID
	if err := s.checkHoldLimit(ctx, r, fresh, 1); err != nil {
		return "", err
	}
	var refused error
	opened, err := s.open(ctx, r, fresh, nil, func(session *checkout.Session) error {
		if code == "" {
			return nil
		}
		if refused = s.applyCode(ctx, r, session, code); fault.Is(refused, fault.ValidationFailed) {
			return nil
		}
		return refused
	})
	if checkoutURL = s.CheckoutURL(opened.ID); refused != nil {
		checkoutURL += "?" + url.Values{RefusedCode: {code}}.Encode()
	}
	return checkoutURL, err
}

// prefill keeps an address that could be one; the buyer types it again otherwise.
func prefill(email string) string {
	var f fault.Violations
	customer.ValidateEmail("", email, &f)
	if f.Err() != nil {
		return ""
	}
	return email
}
