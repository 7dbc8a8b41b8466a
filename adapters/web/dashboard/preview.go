package dashboard

import (
	"github.com/gofiber/fiber/v2"

	"sundry/adapters/web/dashboard/ui"
	"sundry/core/listing"
)

func (r *Routes) mountPreviews(at fiber.Router) {
	r.post(at, "/listings/new/preview", r.previewNew)
	r.post(at, "/listings/:id/preview", r.previewEdit)
}

// framePart shows the checkout of a listing in a frame where there is space; src is "" for one that is not saved yet.
func framePart(src string, actions ...ui.Action) ui.Part {
	return ui.Part{Kind: "preview", Title: "Checkout preview", Data: src, Actions: actions}
}

// previewNew shows the checkout of a listing as it is being made. What is not typed yet has a stand-in.
func (r *Routes) previewNew(c *fiber.Ctx, v *visit) error {
	p, _ := readProposal(c)
	if *p.Title == "" {
		p.Title = new(v.text("Title"))
	}
	if p.PriceInCents == nil {
		p.PriceInCents = new(int64)
	}
	now, err := r.Clock.Now(c.UserContext(), v.account())
	if err != nil {
		return err
	}
	kind := listing.Type(p.Type)
	draft, err := listing.Create(p, listing.Origin{CreatorID: v.account(), VariantID: "new"}, now)
	if err != nil {
		return r.again(c, v, newListingPage(kind), newListingForm(v, kind), err)
	}
	return r.preview(c, draft.State())
}

// previewEdit shows the checkout of a listing as it is being edited.
func (r *Routes) previewEdit(c *fiber.Ctx, v *visit) error {
	l, err := r.Catalog.OwnListing(c.UserContext(), v.account(), c.Params("id"))
	if err != nil {
		return err
	}
	in, draft := ui.ReadInput(c), listing.Restore(l)
	edit := readListing(in, l.Type)
	keep := func() string { return l.PriceID }
	err = in.Submit(func() error { return listing.Restore(l).Edit(edit, keep, l.UpdatedAt) },
		func() error { return draft.Edit(edit, keep, l.UpdatedAt) })
	if err != nil {
		f := editListingForm(v, l)
		f.KeepStored(c)
		return r.again(c, v, r.editListingPage(v, l), f, err)
	}
	return r.preview(c, draft.State())
}

func (r *Routes) preview(c *fiber.Ctx, draft listing.State) error {
	offer, err := r.Catalog.OfferOf(c.UserContext(), draft)
	if err != nil {
		return err
	}
	page, err := r.Checkout.PreviewOf(c.UserContext(), offer)
	if err != nil {
		return err
	}
	return r.SendPreview(c, page)
}
