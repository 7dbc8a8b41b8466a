package checkout

import (
	"context"
	"encoding/hex"
	"time"

	"sundry/core/checkout"
	"sundry/core/fault"
	"sundry/core/secret"
	"sundry/ports"
)

// What visitors may do without a key, so that nobody reserves a creator's calendar or sends mail by the thousand. They
// are counted by the network that they come from.
const (
	visitorWindow = 10 * time.Minute
	maxOpened     = 60 // sessions opened by a link or again
	maxFreeOrders = 20
	// maxDescribed bounds how often details are sent, for a well-formed VAT ID may become a question to a register.
	maxDescribed = 120
	// maxCodes bounds how often a discount code is typed: sellers make codes that can be remembered, and so guessed.
	maxCodes = 30
	// maxHolding bounds the sessions opened by one network that may hold times of one creator at once.
	maxHolding = 5
	// holdingRetry is the suggested delay before a network that holds too many times tries again.
	holdingRetry = 5 * time.Minute
)

// Visitor identifies the origin of a request without a key.
type Visitor struct {
	Network string
	Country string // as a trusted proxy reports it, ISO 3166-1 alpha-2; "" when none does
}

// country implements ports.BuyerCountry.
func (v Visitor) country(context.Context) (string, error) { return v.Country, nil }

// openedBy returns the pseudonym of a network that a session stores: enough to count by, without the address.
func (s *Service) openedBy(network string) string {
	mac := secret.MAC(s.cfg.Secrets.Lasting, "visitor", network)
	return hex.EncodeToString(mac[:])
}

// countDescribed counts details that are sent, those that are refused included. RATE_LIMITED.
func (s *Service) countDescribed(ctx context.Context, network string) error {
	return s.countVisitor(ctx, "describe", network, maxDescribed,
		"Your details were sent too often. Wait a few minutes, then try again.")
}

// countCode counts discount codes that are typed, those that are not valid included. RATE_LIMITED.
func (s *Service) countCode(ctx context.Context, network string) error {
	return s.countVisitor(ctx, "code", network, maxCodes,
		"Too many discount codes were tried. Wait a few minutes, then try again.")
}

// countVisitor counts what is done from a network. RATE_LIMITED, with the message.
func (s *Service) countVisitor(ctx context.Context, what, network string, limit int, message string) error {
	return ports.Admit(ctx, s.deps.Limiter, ports.Attempt{
		Key: s.visitorKey(what, network), Limit: limit, Window: visitorWindow, Message: message,
	})
}

func (s *Service) visitorKey(what, network string) string {
	return "checkout." + what + ":" + s.openedBy(network)
}

// withRateLimit runs work within a limit per network. Work that fails is not counted. RATE_LIMITED.
func (s *Service) withRateLimit(ctx context.Context, what, network string, limit int, work func() error) error {
	if err := s.countVisitor(ctx, what, network, limit,
		"Too many checkouts were opened from your network. Wait a few minutes, then try again."); err != nil {
		return err
	}
	err := work()
	if err != nil { // a count too many, for ten minutes, should this fail
		_ = s.deps.Limiter.Refund(context.WithoutCancel(ctx), s.visitorKey(what, network), limit, visitorWindow)
	}
	return err
}

// checkHoldLimit refuses when sessions of one network hold too many times of the creator; beside is how many the
// caller is about to add. RATE_LIMITED.
func (s *Service) checkHoldLimit(ctx context.Context, r ports.Repos, session checkout.State, beside int) error {
	if session.OpenedBy == "" || !session.Offer.ForAppointments() {
		return nil
	}
	holding, err := r.Checkout.Sessions.CountHolding(ctx, session.CreatorID, session.OpenedBy)
	if err != nil || holding+beside <= maxHolding {
		return err
	}
	return fault.TooMany(
		"Too many times are on hold from your network. Finish or leave one of the open checkouts, then try again.",
		holdingRetry,
	)
}
