package httpapi

import (
	"slices"

	"github.com/gofiber/fiber/v2"

	"sundry/core/access"
	"sundry/core/fault"
	"sundry/core/plan"
	"sundry/core/wire"
	"sundry/modules/entitlement"
)

// grantRequest is the body of POST …/grants.
type grantRequest struct {
	Listing      *string                 `json:"listing"`
	Plan         *string                 `json:"plan"`
	Entitlements []plan.EntitlementDraft `json:"entitlements"`
	Credits      []giftedCredit          `json:"credits"`
	ExpiresAt    *string                 `json:"expiresAt"`
	Note         *string                 `json:"note"`
}

// giftedCredit has no renews: what is given by hand is given once.
type giftedCredit struct {
	Key    string `json:"key"`
	Unit   string `json:"unit"`
	Amount int64  `json:"amount"`
}

func (r grantRequest) gift(f *fault.Faults) entitlement.Gift {
	g := entitlement.Gift{
		Listing: or(r.Listing), Plan: or(r.Plan), Entitlements: r.Entitlements, ExpiresAt: instant(f, "expiresAt", r.ExpiresAt), Note: or(r.Note),
	}
	for _, c := range r.Credits {
		g.Credits = append(g.Credits, plan.Credit{Key: c.Key, Unit: c.Unit, Amount: c.Amount})
	}
	return g
}

// grantView is one reason for access.
type grantView struct {
	ID                 string             `json:"id"`
	ExternalCustomerID string             `json:"externalCustomerId"`
	Source             access.Source      `json:"source"`
	SourceID           string             `json:"sourceId"`
	CheckoutID         *string            `json:"checkoutId"`
	Status             string             `json:"status"`
	Listing            *string            `json:"listing"`
	ListingID          *string            `json:"listingId"`
	Plan               *string            `json:"plan"`
	Interval           *string            `json:"interval"`
	Entitlements       []plan.Entitlement `json:"entitlements"`
	Credits            []grantCreditView  `json:"credits"`
	Note               *string            `json:"note"`
	StartedAt          *string            `json:"startedAt"`
	ExpiresAt          *string            `json:"expiresAt"`
	EndedAt            *string            `json:"endedAt"`
	RevokedAt          *string            `json:"revokedAt"`
}

type grantCreditView struct {
	Key       string  `json:"key"`
	Unit      string  `json:"unit"`
	Granted   int64   `json:"granted"`
	Used      int64   `json:"used"`
	Balance   int64   `json:"balance"`
	Renews    bool    `json:"renews"`
	ExpiresAt *string `json:"expiresAt"`
}

func viewGrant(g *access.Grant) grantView {
	s := g.State()
	view := grantView{
		ID: s.ID, ExternalCustomerID: s.ExternalCustomerID, Source: s.Source, SourceID: s.SourceID, CheckoutID: wire.Text(s.CheckoutID),
		Status: "active", Entitlements: append([]plan.Entitlement{}, s.Entitlements...), Credits: make([]grantCreditView, len(s.Credits)),
		Note: wire.Text(s.Note), StartedAt: wire.Time(s.StartedAt), ExpiresAt: wire.Time(s.ExpiresAt), EndedAt: wire.Time(s.EndedAt),
	}
	for i, l := range s.Credits {
		view.Credits[i] = grantCreditView{l.Key, l.Unit, l.Granted, l.Used, l.Granted - l.Used, l.Renews, wire.Time(g.LotExpiry(l))}
	}
	if s.Plan != nil {
		view.Listing, view.ListingID, view.Plan = wire.Text(s.Plan.ListingKey), wire.Text(s.Plan.ListingID), wire.Text(s.Plan.Key)
		view.Interval = wire.Text(string(s.Plan.Interval))
	}
	if s.End != access.Running {
		view.Status = string(s.End)
	}
	if s.End == access.Revoked {
		view.RevokedAt = view.EndedAt
	}
	return view
}

// explanationView tells why a customer may use what they may.
type explanationView struct {
	ExternalCustomerID string        `json:"externalCustomerId"`
	Livemode           bool          `json:"livemode"`
	Version            int64         `json:"version"`
	Grants             []grantView   `json:"grants"`
	History            []versionView `json:"history"`
}

// versionView is one change of a snapshot: what happened, to what, and which members it changed.
type versionView struct {
	Version int64            `json:"version"`
	At      *string          `json:"at"`
	Changed []string         `json:"changed"`
	Cause   access.CauseKind `json:"cause"`
	CauseID string           `json:"causeId"`
}

func (s *Server) getAccessExplained(c *fiber.Ctx) error {
	customer, err := knownCustomer(c)
	if err != nil {
		return err
	}
	e, err := s.Entitlement.Explain(c.UserContext(), account(c), customer)
	if err != nil {
		return err
	}
	view := explanationView{
		ExternalCustomerID: customer, Livemode: !s.cfg.Sandbox, Version: e.Document.Version,
		Grants: []grantView{}, History: make([]versionView, len(e.History)),
	}
	for _, g := range slices.Concat(e.Running, e.Ended) {
		view.Grants = append(view.Grants, viewGrant(g))
	}
	for i, h := range e.History {
		view.History[i] = versionView{h.Version, wire.Time(h.At), h.Changed, h.Cause.Kind, h.Cause.ID}
	}
	return c.JSON(view)
}

func (s *Server) postGrant(c *fiber.Ctx) error {
	customer, err := decodedCustomer(c)
	if err != nil {
		return err
	}
	request, reading := decode[grantRequest](c)
	var f, judged fault.Faults
	gift := request.gift(&f)
	gift.Check(customer, &judged)
	if err := together(reading, f.Err(), judged.Err()); err != nil {
		return err
	}
	g, err := s.Entitlement.GrantManually(c.UserContext(), account(c), customer, gift)
	if err != nil {
		return err
	}
	return c.Status(fiber.StatusCreated).JSON(viewGrant(g))
}

func (s *Server) deleteGrant(c *fiber.Ctx) error {
	customer, err := knownCustomer(c)
	if err != nil {
		return err
	}
	g, err := s.Entitlement.RevokeManually(c.UserContext(), account(c), customer, c.Params("id"))
	if err != nil {
		return err
	}
	return c.JSON(viewGrant(g))
}

// creditUseRequest is the body of POST …/credits/consume.
type creditUseRequest struct {
	Key            *string `json:"key"`
	Unit           *string `json:"unit"`
	Amount         *int64  `json:"amount"`
	IdempotencyKey *string `json:"idempotencyKey"`
}

// creditUseView is a credit right after a use.
type creditUseView struct {
	Key     string `json:"key"`
	Unit    string `json:"unit"`
	Amount  int64  `json:"amount"`
	Granted int64  `json:"granted"`
	Used    int64  `json:"used"`
	Balance int64  `json:"balance"`
	Version int64  `json:"version"`
}

func (s *Server) postCreditUse(c *fiber.Ctx) error {
	customer, err := decodedCustomer(c)
	if err != nil {
		return err
	}
	request, reading := decode[creditUseRequest](c)
	use := entitlement.Consumption{
		Draw:           access.Draw{Key: or(request.Key), Unit: or(request.Unit), Amount: or(request.Amount)},
		IdempotencyKey: or(request.IdempotencyKey),
	}
	if err := together(reading, use.Check(customer)); err != nil {
		return err
	}
	b, err := s.Entitlement.ConsumeCredits(c.UserContext(), account(c), customer, use)
	if err != nil {
		return err
	}
	return c.JSON(creditUseView(b))
}
