package access

import (
	"context"
	"slices"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/httpapi"
	core "sundry/core/access"
	"sundry/core/apiformat"
	"sundry/core/fault"
	"sundry/core/plan"
	"sundry/modules/access"
	"sundry/ports"
)

// grantRequest is the body of POST …/grants.
type grantRequest struct {
	Listing      *string                 `json:"listing"`
	Plan         *string                 `json:"plan"`
	Entitlements []plan.EntitlementDraft `json:"entitlements"`
	Credits      []manualCredit          `json:"credits"`
	ExpiresAt    *string                 `json:"expiresAt"`
	Note         *string                 `json:"note"`
}

// manualCredit has no renews, because a manual grant is granted once.
type manualCredit struct {
	Key    string `json:"key"`
	Unit   string `json:"unit"`
	Amount int64  `json:"amount"`
}

func (r grantRequest) grant(f *fault.Violations) access.GrantRequest {
	g := access.GrantRequest{
		Listing: httpapi.ValueOf(r.Listing), Plan: httpapi.ValueOf(r.Plan), Entitlements: r.Entitlements,
		ExpiresAt: httpapi.ReadTime(f, "expiresAt", r.ExpiresAt), Note: httpapi.ValueOf(r.Note),
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
	Source             core.Source        `json:"source"`
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

func newGrantView(g *core.Grant) grantView {
	s := g.State()
	view := grantView{
		ID: s.ID, ExternalCustomerID: s.ExternalCustomerID, Source: s.Source, SourceID: s.SourceID,
		CheckoutID: apiformat.Text(s.CheckoutID),
		Status:     "active", Entitlements: append([]plan.Entitlement{}, s.Entitlements...),
		Credits: make([]grantCreditView, 0, len(s.Credits)),
		Note:    apiformat.Text(s.Note), StartedAt: apiformat.Time(s.StartedAt), ExpiresAt: apiformat.Time(s.ExpiresAt),
		EndedAt: apiformat.Time(s.EndedAt),
	}
	for _, l := range s.Credits {
		if !l.Hidden() {
			view.Credits = append(view.Credits, grantCreditView{
				l.Key, l.Unit, l.Granted, l.Used, l.Left(), l.Renews, apiformat.Time(g.CreditExpiry(l)),
			})
		}
	}
	if s.Plan != nil {
		view.Listing, view.ListingID, view.Plan = apiformat.Text(s.Plan.ListingKey), apiformat.Text(s.Plan.ListingID),
			apiformat.Text(s.Plan.Key)
		view.Interval = apiformat.Text(string(s.Plan.Interval))
	}
	if s.EndReason != core.NotEnded {
		view.Status = string(s.EndReason)
	}
	if s.EndReason == core.Revoked {
		view.RevokedAt = view.EndedAt
	}
	return view
}

// ExportGrants lists an account's grants for its export.
func ExportGrants(s *access.Service) httpapi.ExportLister {
	return func(ctx context.Context, creatorID string, page ports.Page) (ports.List[any], error) {
		found, err := s.Grants(ctx, creatorID, page)
		views := ports.List[any]{Next: found.Next}
		for _, g := range found.Items {
			views.Items = append(views.Items, newGrantView(g))
		}
		return views, err
	}
}

// explanationView lists the grants and changes behind a customer's access.
type explanationView struct {
	ExternalCustomerID string        `json:"externalCustomerId"`
	Livemode           bool          `json:"livemode"`
	Version            int64         `json:"version"`
	Grants             []grantView   `json:"grants"`
	History            []versionView `json:"history"`
}

// versionView is one change of a snapshot: its cause, its subject and the members that it changed.
type versionView struct {
	Version int64          `json:"version"`
	At      *string        `json:"at"`
	Changed []string       `json:"changed"`
	Cause   core.CauseKind `json:"cause"`
	CauseID string         `json:"causeId"`
}

func (h handlers) getAccessExplained(c *fiber.Ctx) error {
	customer, err := knownCustomer(c)
	if err != nil {
		return err
	}
	e, err := h.Access.Explain(c.UserContext(), httpapi.Account(c), customer)
	if err != nil {
		return err
	}
	view := explanationView{
		ExternalCustomerID: customer, Livemode: h.Live, Version: e.Document.Version,
		Grants: []grantView{}, History: make([]versionView, len(e.History)),
	}
	for _, g := range slices.Concat(e.Running, e.Ended) {
		view.Grants = append(view.Grants, newGrantView(g))
	}
	for i, h := range e.History {
		view.History[i] = versionView{h.Version, apiformat.Time(h.At), h.Changed, h.Cause.Kind, h.Cause.ID}
	}
	return c.JSON(view)
}

func (h handlers) postGrant(c *fiber.Ctx) error {
	customer, err := decodedCustomer(c)
	if err != nil {
		return err
	}
	request, reading := httpapi.Decode[grantRequest](c)
	var f, invalid fault.Violations
	grant := request.grant(&f)
	grant.Check(customer, &invalid)
	if err := httpapi.MergeFieldErrors(reading, f.Err(), invalid.Err()); err != nil {
		return err
	}
	return httpapi.RespondStatus(c, fiber.StatusCreated, newGrantView)(
		h.Access.GrantManually(c.UserContext(), httpapi.Account(c), customer, grant),
	)
}

func (h handlers) deleteGrant(c *fiber.Ctx) error {
	customer, err := knownCustomer(c)
	if err != nil {
		return err
	}
	return httpapi.Respond(c, newGrantView)(
		h.Access.RevokeManually(c.UserContext(), httpapi.Account(c), customer, c.Params("id")),
	)
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

func (h handlers) postCreditUse(c *fiber.Ctx) error {
	customer, err := decodedCustomer(c)
	if err != nil {
		return err
	}
	request, reading := httpapi.Decode[creditUseRequest](c)
	use := access.Consumption{
		ConsumeRequest: core.ConsumeRequest{
			Key: httpapi.ValueOf(request.Key), Unit: httpapi.ValueOf(request.Unit),
			Amount: httpapi.ValueOf(request.Amount),
		},
		IdempotencyKey: httpapi.ValueOf(request.IdempotencyKey),
	}
	if err := httpapi.MergeFieldErrors(reading, use.Check(customer)); err != nil {
		return err
	}
	b, err := h.Access.ConsumeCredits(c.UserContext(), httpapi.Account(c), customer, use)
	if err != nil {
		return err
	}
	return c.JSON(creditUseView(b))
}
