package dashboard

import (
	"io"
	"slices"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/web/dashboard/ui"
	"sundry/core/fault"
	core "sundry/core/identity"
	"sundry/core/image"
	"sundry/core/listing"
)

func (r *Routes) mountImages(at fiber.Router) {
	r.post(at, "/settings/logo", r.uploadLogo)
	r.post(at, "/settings/logo/remove", r.removeLogo)
	r.post(at, "/listings/:id/images", r.uploadImage)
	r.post(at, "/listings/:id/images/:image/describe", r.describeImage)
	r.post(at, "/listings/:id/images/:image/move", r.moveImage)
	r.post(at, "/listings/:id/images/:image/remove", r.removeImage)
}

// picture is an image on a page, with what can be done with it.
type picture struct {
	Src, Alt, Name string
	// Describe is the address of the form for its alternative text; "" when it has none.
	Describe, Token, Stored string
	Actions                 []ui.Action
}

// pictures are the images of a part.
type pictures []picture

// Permit implements ui.Permitter.
func (p pictures) Permit(may ui.May) any {
	kept := slices.Clone(p)
	for i := range kept {
		kept[i].Actions = ui.Permitted(kept[i].Actions, may)
		if !may(fiber.MethodPost, kept[i].Describe) {
			kept[i].Describe = ""
		}
	}
	return kept
}

// fileField takes an image.
func fileField(label ui.Words) ui.Field {
	return ui.Field{
		Name: "file", Label: label, Type: "file", Required: true, Hint: "PNG, JPEG or WebP, at most 1 MB.",
		Accept: "image/png,image/jpeg,image/webp",
	}
}

// uploaded stores the image of a form, "" with a reason when it cannot be.
func (r *Routes) uploaded(c *fiber.Ctx, v *visit, maxSide int) (imageID string, err error) {
	var content []byte
	if header, missing := c.FormFile("file"); missing == nil {
		file, err := header.Open()
		if err != nil {
			return "", err
		}
		defer func() { _ = file.Close() }() // it was only read
		if content, err = io.ReadAll(io.LimitReader(file, image.MaxUpload+1)); err != nil {
			return "", err
		}
	}
	return r.Images.Upload(c.UserContext(), v.account(), content, maxSide)
}

// logoPart shows the logo and takes another one.
func logoPart(v *visit) []ui.Part {
	upload := logoForm(v)
	upload.Title, upload.Lead = "Logo", "Beside your name on the checkout, and on receipts."
	if logo := v.Creator.Profile.LogoURL; image.IDOf(logo) != "" {
		upload.Title, upload.Lead = "", ""
		return []ui.Part{
			{Kind: "images", Title: "Logo", Lead: "Beside your name on the checkout, and on receipts.", Data: pictures{
				{
					Src: logo, Name: "logo", Alt: v.text("Your logo"),
					Actions: []ui.Action{v.button("Remove", base+"/settings/logo/remove")},
				},
			}},
			ui.FormPart(upload),
		}
	}
	return []ui.Part{ui.FormPart(upload)}
}

func logoForm(v *visit) ui.Form {
	f := v.form("logo", base+"/settings/logo", "Upload", fileField("Image"))
	f.Multipart = true
	return f
}

func (r *Routes) uploadLogo(c *fiber.Ctx, v *visit) error {
	imageID, err := r.uploaded(c, v, image.MaxLogoSide)
	if err == nil {
		_, err = r.Identity.EditProfile(c.UserContext(), v.account(), core.ProfileEdit{
			LogoURL: new(image.Path(imageID)),
		})
	}
	if err != nil {
		return r.again(c, v, settingsPage(), logoForm(v), err)
	}
	return r.done(c, base+"/settings", "Your logo is on the checkout from now on.")
}

func (r *Routes) removeLogo(c *fiber.Ctx, v *visit) error {
	_, err := r.Identity.EditProfile(c.UserContext(), v.account(), core.ProfileEdit{LogoURL: new("")})
	return r.result(c, base+"/settings", err, "The logo is removed.")
}

// imagesPart shows what a listing looks like, and takes more.
func imagesPart(v *visit, l listing.State) []ui.Part {
	at := base + "/listings/" + l.ID + "/images"
	shown := ui.Part{
		Kind: "images", Title: "Images", Lead: "Buyers see them at checkout, the first one largest.", Anchor: "images",
	}
	var all pictures
	for n, i := range l.Images {
		p := picture{Src: image.Path(i.ID), Alt: i.Alt, Name: i.ID}
		if l.Status != listing.Archived {
			f := describeForm(v, l.ID, i)
			p.Describe, p.Token, p.Stored = f.Action, f.Token, f.Stored
			if n > 0 {
				p.Actions = append(p.Actions, v.button("Move up", at+"/"+i.ID+"/move"))
			}
			p.Actions = append(p.Actions, v.button("Remove", at+"/"+i.ID+"/remove"))
		}
		all = append(all, p)
	}
	shown.Data = all
	upload := ui.FormPart(imageForm(v, l.ID))
	switch {
	case l.Status == listing.Archived && len(all) == 0:
		return nil
	case l.Status == listing.Archived || len(all) >= listing.MaxImages:
		return []ui.Part{shown}
	case len(all) == 0:
		upload.Title, upload.Lead, upload.Anchor = shown.Title, shown.Lead, shown.Anchor
		return []ui.Part{upload}
	}
	return []ui.Part{shown, upload}
}

func imageForm(v *visit, listingID string) ui.Form {
	f := v.form("image", base+"/listings/"+listingID+"/images", "Upload", fileField("Image"),
		ui.Field{
			Name: "alt", Label: "What it shows", Placeholder: "The cover, a red fox on white",
			Hint: "Read aloud to buyers who don’t see it.",
		})
	f.Multipart = true
	return f
}

// describeForm asks for the alternative text of an image.
func describeForm(v *visit, listingID string, i listing.Image) ui.Form {
	return v.form("describe", base+"/listings/"+listingID+"/images/"+i.ID+"/describe", "Save", ui.Field{
		Name: "alt", Label: "What it shows", Value: i.Alt, Hint: "Read aloud to buyers who don’t see it.",
	}).OfStored()
}

func (r *Routes) uploadImage(c *fiber.Ctx, v *visit) error {
	l, err := r.Catalog.OwnListing(c.UserContext(), v.account(), c.Params("id"))
	if err != nil {
		return err
	}
	if len(l.Images) >= listing.MaxImages {
		err = listing.ErrTooManyImages()
	}
	var imageID string
	if err == nil {
		imageID, err = r.uploaded(c, v, image.MaxSide)
	}
	if err == nil {
		_, err = r.Catalog.AddImage(c.UserContext(), v.account(), l.ID, listing.Image{
			ID: imageID, Alt: c.FormValue("alt"),
		})
	}
	if err != nil {
		p := r.editListingPage(v, l)
		p.Title = "Add an image"
		return r.again(c, v, p, imageForm(v, l.ID), err)
	}
	return r.done(c, base+"/listings/"+l.ID+"#images", "The image is added.")
}

func (r *Routes) describeImage(c *fiber.Ctx, v *visit) error {
	l, err := r.Catalog.OwnListing(c.UserContext(), v.account(), c.Params("id"))
	if err != nil {
		return err
	}
	at := slices.IndexFunc(l.Images, func(i listing.Image) bool { return i.ID == c.Params("image") })
	if at < 0 {
		return fault.NotFound("image")
	}
	f := describeForm(v, l.ID, l.Images[at])
	if err = f.CheckStored(c); err == nil {
		_, err = r.Catalog.DescribeImage(c.UserContext(), v.account(), l.ID, c.Params("image"), c.FormValue("alt"))
	}
	if err != nil {
		p := r.editListingPage(v, l)
		p.Title = "What it shows"
		return r.again(c, v, p, f, err)
	}
	return r.imageChanged(c, "Saved.", nil)
}

func (r *Routes) moveImage(c *fiber.Ctx, v *visit) error {
	_, err := r.Catalog.MoveImage(c.UserContext(), v.account(), c.Params("id"), c.Params("image"))
	return r.imageChanged(c, "Moved up.", err)
}

func (r *Routes) removeImage(c *fiber.Ctx, v *visit) error {
	_, err := r.Catalog.RemoveImage(c.UserContext(), v.account(), c.Params("id"), c.Params("image"))
	return r.imageChanged(c, "The image is removed.", err)
}

// imageChanged leads back to a listing after its images were changed, or shows why they were not.
func (r *Routes) imageChanged(c *fiber.Ctx, words ui.Words, err error) error {
	at := base + "/listings/" + c.Params("id")
	if err != nil {
		return r.refused(c, at, err)
	}
	return r.done(c, at+"#images", words)
}
