package catalog

import (
	"encoding/json"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/httpapi"
	"sundry/adapters/httpapi/strictjson"
	"sundry/core/apiformat"
	"sundry/core/fault"
	"sundry/core/id"
	"sundry/core/image"
	"sundry/core/listing"
	"sundry/core/tax"
)

func (h handlers) listingRoutes() []httpapi.Route {
	return []httpapi.Route{
		{Method: fiber.MethodPost, Path: "/v1/listings", Auth: httpapi.AccessToken, Handle: h.createListing},
		{Method: fiber.MethodGet, Path: "/v1/listings/mine", Auth: httpapi.AccessToken, Handle: h.listMyListings},
		{Method: fiber.MethodGet, Path: "/v1/listings/mine/:id", Auth: httpapi.AccessToken, Handle: h.getMyListing},
		{Method: fiber.MethodGet, Path: "/v1/listings", Handle: h.searchListings},
		{Method: fiber.MethodGet, Path: "/v1/listings/:ref", Handle: h.getListing},
		{Method: fiber.MethodPatch, Path: "/v1/listings/:ref", Auth: httpapi.AccessToken, Handle: h.updateListing},
		{Method: fiber.MethodDelete, Path: "/v1/listings/:ref", Auth: httpapi.AccessToken, Handle: h.archiveListing},
		{
			Method: fiber.MethodPost, Path: "/v1/listings/:id/publish", Auth: httpapi.AccessToken,
			Handle: httpapi.WithoutBody(h.publishListing),
		},
		{
			Method: fiber.MethodPost, Path: "/v1/listings/:id/variants", Auth: httpapi.AccessToken,
			Handle: h.createVariant,
		},
		{
			Method: fiber.MethodPatch, Path: "/v1/listings/:id/variants/:variantId", Auth: httpapi.AccessToken,
			Handle: h.updateVariant,
		},
		{
			Method: fiber.MethodDelete, Path: "/v1/listings/:id/variants/:variantId", Auth: httpapi.AccessToken,
			Handle: h.removeVariant,
		},
	}
}

// listingView is a listing as responses show it.
type listingView struct {
	ID                         string           `json:"id"`
	CreatorID                  string           `json:"creatorId"`
	Type                       listing.Type     `json:"type"`
	Title                      string           `json:"title"`
	Description                string           `json:"description"`
	Slug                       string           `json:"slug"`
	CatalogKey                 string           `json:"catalogKey"`
	PriceInCents               int64            `json:"priceInCents"`
	Currency                   string           `json:"currency"`
	TaxBehavior                tax.Behavior     `json:"taxBehavior"`
	Status                     listing.Status   `json:"status"`
	Livemode                   bool             `json:"livemode"`
	TrialOncePerCustomer       bool             `json:"trialOncePerCustomer"`
	OneSubscriptionPerCustomer bool             `json:"oneSubscriptionPerCustomer"`
	Metadata                   listing.Metadata `json:"metadata"`
	Variants                   []variantView    `json:"variants"`
	Images                     []imageView      `json:"images"`
	CreatedAt                  *string          `json:"createdAt"`
	UpdatedAt                  *string          `json:"updatedAt"`
}

// imageView is a picture of a listing.
type imageView struct {
	ID  string `json:"id"`
	URL string `json:"url"`
	Alt string `json:"alt"`
}

// ownListing is a listing as its owner sees it.
func (h handlers) newOwnListingView(l listing.State) listingView {
	view := listingView{
		ID: l.ID, CreatorID: l.CreatorID, Type: l.Type, Title: l.Title, Description: l.Description, Slug: l.Slug,
		CatalogKey:   l.CatalogKey,
		PriceInCents: l.Price.Minor, Currency: string(l.Price.Currency), TaxBehavior: l.TaxBehavior, Status: l.Status,
		Livemode: h.Live, TrialOncePerCustomer: l.TrialOncePerCustomer,
		OneSubscriptionPerCustomer: l.OneSubscriptionPerCustomer, Metadata: l.Metadata,
		Variants: make([]variantView, len(l.Variants)), Images: make([]imageView, len(l.Images)),
		CreatedAt: apiformat.Time(l.CreatedAt), UpdatedAt: apiformat.Time(l.UpdatedAt),
	}
	for i, v := range l.Variants {
		view.Variants[i] = newVariantView(v)
	}
	for i, img := range l.Images {
		view.Images[i] = imageView{ID: img.ID, URL: h.BaseURL + image.Path(img.ID), Alt: img.Alt}
	}
	return view
}

// newPublicListingView returns a listing as everybody sees it, without the content that the buyer pays for.
func (h handlers) newPublicListingView(l listing.State) listingView {
	view := h.newOwnListingView(l)
	view.Metadata = l.Metadata.Without(listing.DownloadURL)
	return view
}

// serviceSet are the members of a listing that no request sets. They are named here so that the refusal shows why.
type serviceSet struct {
	ID        json.RawMessage `json:"id"`
	CreatorID json.RawMessage `json:"creatorId"`
	Status    json.RawMessage `json:"status"`
	Livemode  json.RawMessage `json:"livemode"`
	Variants  json.RawMessage `json:"variants"`
	Images    json.RawMessage `json:"images"`
	CreatedAt json.RawMessage `json:"createdAt"`
	UpdatedAt json.RawMessage `json:"updatedAt"`
}

func (in serviceSet) refuse(f *fault.Violations) {
	for _, member := range []struct {
		field, message string
		value          json.RawMessage
	}{
		{"id", "The service sets this member.", in.ID},
		{"creatorId", "The service sets this member.", in.CreatorID},
		{"status", "The status changes by publish and DELETE only.", in.Status},
		{"livemode", "The service sets this member.", in.Livemode},
		{"variants", "Variants have routes of their own.", in.Variants},
		{"images", "Images are uploaded in the dashboard.", in.Images},
		{"createdAt", "The service sets this member.", in.CreatedAt},
		{"updatedAt", "The service sets this member.", in.UpdatedAt},
	} {
		f.Check(member.value == nil, member.field, fault.DetailNotAllowed, member.message)
	}
}

// listingMembers are the members that a request may set, when it creates a listing and later.
type listingMembers struct {
	serviceSet
	Title                      strictjson.Optional[string]         `json:"title"`
	Description                strictjson.Optional[string]         `json:"description"`
	Slug                       strictjson.Optional[string]         `json:"slug"`
	CatalogKey                 strictjson.Optional[string]         `json:"catalogKey"`
	PriceInCents               strictjson.Optional[int64]          `json:"priceInCents"`
	Currency                   strictjson.Optional[string]         `json:"currency"`
	TaxBehavior                strictjson.Optional[string]         `json:"taxBehavior"`
	TrialOncePerCustomer       strictjson.Optional[bool]           `json:"trialOncePerCustomer"`
	OneSubscriptionPerCustomer strictjson.Optional[bool]           `json:"oneSubscriptionPerCustomer"`
	Metadata                   strictjson.Optional[map[string]any] `json:"metadata"`
}

func (in listingMembers) edit(f *fault.Violations) listing.Edit {
	in.refuse(f)
	e := listing.Edit{
		Title: httpapi.PatchValue(f, "title", in.Title), Slug: httpapi.PatchValue(f, "slug", in.Slug),
		CatalogKey:                 httpapi.PatchNullable(f, "catalogKey", in.CatalogKey),
		PriceInCents:               httpapi.PatchValue(f, "priceInCents", in.PriceInCents),
		Currency:                   httpapi.PatchValue(f, "currency", in.Currency),
		TaxBehavior:                httpapi.PatchValue(f, "taxBehavior", in.TaxBehavior),
		TrialOncePerCustomer:       httpapi.PatchValue(f, "trialOncePerCustomer", in.TrialOncePerCustomer),
		OneSubscriptionPerCustomer: httpapi.PatchValue(f, "oneSubscriptionPerCustomer", in.OneSubscriptionPerCustomer),
		Metadata:                   in.Metadata.Value, ClearMetadata: in.Metadata.Null,
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

func (h handlers) createListing(c *fiber.Ctx) error {
	in, reading := httpapi.Decode[createListingRequest](c)
	var f fault.Violations
	p := listing.Proposal{Type: in.Type, Edit: in.edit(&f)}
	if err := httpapi.MergeFieldErrors(reading, f.Err(), p.Check()); err != nil {
		return err
	}
	return httpapi.RespondStatus(c, fiber.StatusCreated, h.newOwnListingView)(
		h.Catalog.CreateListing(c.UserContext(), httpapi.Account(c), p),
	)
}

func (h handlers) listMyListings(c *fiber.Ctx) error {
	p, err := httpapi.QueryPage(c, id.Listing)
	if err != nil {
		return err
	}
	return httpapi.RespondList(c, h.newOwnListingView)(h.Catalog.OwnListings(c.UserContext(), httpapi.Account(c), p))
}

func (h handlers) getMyListing(c *fiber.Ctx) error {
	return httpapi.Respond(c, h.newOwnListingView)(
		h.Catalog.OwnListing(c.UserContext(), httpapi.Account(c), c.Params("id")),
	)
}

func (h handlers) getListing(c *fiber.Ctx) error {
	return httpapi.Respond(c, h.newPublicListingView)(h.Catalog.BySlug(c.UserContext(), c.Params("ref")))
}

type updateListingRequest struct {
	listingMembers
	Type json.RawMessage `json:"type"`
}

func (h handlers) updateListing(c *fiber.Ctx) error {
	in, reading := httpapi.Decode[updateListingRequest](c)
	var f fault.Violations
	f.Check(in.Type == nil, "type", fault.DetailNotAllowed, "The type of a listing never changes.")
	e := in.edit(&f)
	if err := httpapi.MergeFieldErrors(reading, f.Err()); err != nil {
		return httpapi.MergeFieldErrors(err, e.Check())
	}
	return httpapi.Respond(c, h.newOwnListingView)(
		h.Catalog.EditListing(c.UserContext(), httpapi.Account(c), c.Params("ref"), e),
	)
}

func (h handlers) archiveListing(c *fiber.Ctx) error {
	return httpapi.Respond(c, h.newOwnListingView)(h.Catalog.Archive(c.UserContext(), httpapi.Account(c), c.Params("ref")))
}

func (h handlers) publishListing(c *fiber.Ctx) error {
	return httpapi.Respond(c, h.newOwnListingView)(h.Catalog.Publish(c.UserContext(), httpapi.Account(c), c.Params("id")))
}
