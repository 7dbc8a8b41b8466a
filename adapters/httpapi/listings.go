package httpapi

import (
	"encoding/json"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/httpapi/strictjson"
	"sundry/core/fault"
	"sundry/core/listing"
	"sundry/core/wire"
)

func (s *Server) listingRoutes() []Route {
	return []Route{
		{Method: fiber.MethodPost, Path: "/v1/listings", Gate: Creator, Handle: s.createListing},
		{Method: fiber.MethodGet, Path: "/v1/listings/mine", Gate: Creator, Handle: s.listMyListings},
		{Method: fiber.MethodGet, Path: "/v1/listings/mine/:id", Gate: Creator, Handle: s.getMyListing},
		{Method: fiber.MethodGet, Path: "/v1/listings", Handle: s.searchListings},
		{Method: fiber.MethodGet, Path: "/v1/listings/:ref", Handle: s.getListing},
		{Method: fiber.MethodPatch, Path: "/v1/listings/:ref", Gate: Creator, Handle: s.updateListing},
		{Method: fiber.MethodDelete, Path: "/v1/listings/:ref", Gate: Creator, Handle: s.archiveListing},
		{Method: fiber.MethodPost, Path: "/v1/listings/:id/publish", Gate: Creator, Handle: bodiless(s.publishListing)},
		{Method: fiber.MethodPost, Path: "/v1/listings/:id/variants", Gate: Creator, Handle: s.createVariant},
		{Method: fiber.MethodPatch, Path: "/v1/listings/:id/variants/:variantId", Gate: Creator, Handle: s.updateVariant},
		{Method: fiber.MethodDelete, Path: "/v1/listings/:id/variants/:variantId", Gate: Creator, Handle: s.removeVariant},
	}
}

// listingView is a listing as the specification has it, with the contract's additions.
type listingView struct {
	ID           string           `json:"id"`
	CreatorID    string           `json:"creatorId"`
	Type         listing.Type     `json:"type"`
	Title        string           `json:"title"`
	Description  string           `json:"description"`
	Slug         string           `json:"slug"`
	CatalogKey   string           `json:"catalogKey"`
	PriceInCents int64            `json:"priceInCents"`
	Currency     string           `json:"currency"`
	Status       listing.Status   `json:"status"`
	Livemode     bool             `json:"livemode"`
	Metadata     listing.Metadata `json:"metadata"`
	Variants     []variantView    `json:"variants"`
	CreatedAt    *string          `json:"createdAt"`
	UpdatedAt    *string          `json:"updatedAt"`
}

// ownListing is a listing as its owner sees it.
func (s *Server) ownListing(l listing.State) listingView {
	view := listingView{
		ID: l.ID, CreatorID: l.CreatorID, Type: l.Type, Title: l.Title, Description: l.Description, Slug: l.Slug, CatalogKey: l.CatalogKey,
		PriceInCents: l.Price.Minor, Currency: string(l.Price.Currency), Status: l.Status, Livemode: !s.cfg.Sandbox, Metadata: l.Metadata,
		Variants: make([]variantView, len(l.Variants)), CreatedAt: wire.Time(l.CreatedAt), UpdatedAt: wire.Time(l.UpdatedAt),
	}
	for i, v := range l.Variants {
		view.Variants[i] = variantViewOf(v)
	}
	return view
}

// publicListing is a listing as anybody sees it: without what the buyer pays for.
func (s *Server) publicListing(l listing.State) listingView {
	view := s.ownListing(l)
	view.Metadata = l.Metadata.Without(listing.DownloadURL)
	return view
}

// serviceSet are the members of a listing that no request sets. They are named here so that the refusal says why.
type serviceSet struct {
	ID        json.RawMessage `json:"id"`
	CreatorID json.RawMessage `json:"creatorId"`
	Status    json.RawMessage `json:"status"`
	Livemode  json.RawMessage `json:"livemode"`
	Variants  json.RawMessage `json:"variants"`
	CreatedAt json.RawMessage `json:"createdAt"`
	UpdatedAt json.RawMessage `json:"updatedAt"`
}

func (in serviceSet) refuse(f *fault.Faults) {
	for _, member := range []struct {
		field, message string
		value          json.RawMessage
	}{
		{"id", "The service sets this member.", in.ID},
		{"creatorId", "The service sets this member.", in.CreatorID},
		{"status", "The status changes by publish and DELETE only.", in.Status},
		{"livemode", "The service sets this member.", in.Livemode},
		{"variants", "Variants have routes of their own.", in.Variants},
		{"createdAt", "The service sets this member.", in.CreatedAt},
		{"updatedAt", "The service sets this member.", in.UpdatedAt},
	} {
		f.Check(member.value == nil, member.field, fault.DetailNotAllowed, member.message)
	}
}

// listingMembers are those that a request may set, when a listing is made and later.
type listingMembers struct {
	serviceSet
	Title        strictjson.Optional[string]         `json:"title"`
	Description  strictjson.Optional[string]         `json:"description"`
	Slug         strictjson.Optional[string]         `json:"slug"`
	CatalogKey   strictjson.Optional[string]         `json:"catalogKey"`
	PriceInCents strictjson.Optional[int64]          `json:"priceInCents"`
	Currency     strictjson.Optional[string]         `json:"currency"`
	Metadata     strictjson.Optional[map[string]any] `json:"metadata"`
}

func (in listingMembers) edit(f *fault.Faults) listing.Edit {
	in.refuse(f)
	e := listing.Edit{
		Title: given(f, "title", in.Title), Slug: given(f, "slug", in.Slug), CatalogKey: clearable(f, "catalogKey", in.CatalogKey),
		PriceInCents: given(f, "priceInCents", in.PriceInCents), Currency: given(f, "currency", in.Currency),
		Metadata: in.Metadata.Value, ClearMetadata: in.Metadata.Null,
	}
	if in.Description.Set {
		e.Description = &in.Description.Value // null is no description
	}
	return e
}

type createListingRequest struct {
	listingMembers
	Type string `json:"type"`
}

func (s *Server) createListing(c *fiber.Ctx) error {
	in, reading := decode[createListingRequest](c)
	var f fault.Faults
	p := listing.Proposal{Type: in.Type, Edit: in.edit(&f)}
	if err := together(reading, f.Err(), p.Check()); err != nil {
		return err
	}
	l, err := s.Catalog.Create(c.UserContext(), account(c), p)
	if err != nil {
		return err
	}
	return c.Status(fiber.StatusCreated).JSON(s.ownListing(l))
}

func (s *Server) listMyListings(c *fiber.Ctx) error {
	var f fault.Faults
	p := page(c, &f)
	if err := f.Err(); err != nil {
		return err
	}
	l, err := s.Catalog.Mine(c.UserContext(), account(c), p)
	if err != nil {
		return err
	}
	return c.JSON(list(l, s.ownListing))
}

func (s *Server) getMyListing(c *fiber.Ctx) error {
	return s.answerListing(c)(s.Catalog.MineOne(c.UserContext(), account(c), c.Params("id")))
}

func (s *Server) getListing(c *fiber.Ctx) error {
	l, err := s.Catalog.BySlug(c.UserContext(), c.Params("ref"))
	if err != nil {
		return err
	}
	return c.JSON(s.publicListing(l))
}

type updateListingRequest struct {
	listingMembers
	Type json.RawMessage `json:"type"`
}

func (s *Server) updateListing(c *fiber.Ctx) error {
	in, reading := decode[updateListingRequest](c)
	var f fault.Faults
	f.Check(in.Type == nil, "type", fault.DetailNotAllowed, "The type of a listing never changes.")
	e := in.edit(&f)
	if err := together(reading, f.Err()); err != nil {
		return together(err, e.Check())
	}
	return s.answerListing(c)(s.Catalog.Edit(c.UserContext(), account(c), c.Params("ref"), e))
}

func (s *Server) archiveListing(c *fiber.Ctx) error {
	return s.answerListing(c)(s.Catalog.Archive(c.UserContext(), account(c), c.Params("ref")))
}

func (s *Server) publishListing(c *fiber.Ctx) error {
	return s.answerListing(c)(s.Catalog.Publish(c.UserContext(), account(c), c.Params("id")))
}

// answerListing renders what a use case of the owner's returned.
func (s *Server) answerListing(c *fiber.Ctx) func(listing.State, error) error {
	return func(l listing.State, err error) error {
		if err != nil {
			return err
		}
		return c.JSON(s.ownListing(l))
	}
}
