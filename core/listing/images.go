package listing

import (
	"slices"
	"strings"
	"time"

	"sundry/core/fault"
	"sundry/core/image"
	"sundry/core/plan"
	"sundry/core/text"
)

const (
	// MaxImages bounds the number of pictures of a listing.
	MaxImages = 8
	maxAlt    = 200
)

// Image is a picture of what is sold. The first one represents the listing.
type Image struct {
	ID string `json:"id"` // img_…
	// Alt describes the picture to those who do not see it; "" when it only decorates.
	Alt string `json:"alt,omitempty"`
}

// AddImage puts a picture behind the others. VALIDATION_FAILED, LIMIT_REACHED, STATE_CONFLICT once archived.
func (l *Listing) AddImage(img Image, now time.Time) error {
	if err := l.requireEditable(); err != nil {
		return err
	}
	if len(l.s.Images) >= MaxImages {
		return ErrTooManyImages()
	}
	alt, err := cleanAlt(img.Alt)
	if err != nil {
		return err
	}
	next := l.s
	next.Images = append(slices.Clip(next.Images), Image{img.ID, alt})
	l.replace(next, now)
	return nil
}

// ErrTooManyImages is LIMIT_REACHED for an image more than MaxImages.
func ErrTooManyImages() error {
	return fault.Newf(fault.LimitReached, "A listing has at most %d images. Remove one first.", MaxImages)
}

// DescribeImage changes the alternative text. NOT_FOUND, VALIDATION_FAILED, STATE_CONFLICT once archived.
func (l *Listing) DescribeImage(imageID, alt string, now time.Time) error {
	clean, err := cleanAlt(alt)
	if err != nil {
		return err
	}
	return l.changeImages(imageID, now, func(all []Image, at int) []Image {
		all[at].Alt = clean
		return all
	})
}

// MoveImage changes places with the picture before it; the first one stays. NOT_FOUND, STATE_CONFLICT once archived.
func (l *Listing) MoveImage(imageID string, now time.Time) error {
	return l.changeImages(imageID, now, func(all []Image, at int) []Image {
		if at > 0 {
			all[at-1], all[at] = all[at], all[at-1]
		}
		return all
	})
}

// RemoveImage takes a picture away. NOT_FOUND, STATE_CONFLICT once archived.
func (l *Listing) RemoveImage(imageID string, now time.Time) error {
	return l.changeImages(imageID, now, func(all []Image, at int) []Image { return slices.Delete(all, at, at+1) })
}

// changeImages changes a copy of the pictures, of which one is at the given place.
func (l *Listing) changeImages(imageID string, now time.Time, change func(all []Image, at int) []Image) error {
	if err := l.requireEditable(); err != nil {
		return err
	}
	at := slices.IndexFunc(l.s.Images, func(i Image) bool { return i.ID == imageID })
	if at < 0 {
		return fault.NotFound("image")
	}
	next := l.s
	next.Images = change(slices.Clone(next.Images), at)
	l.replace(next, now)
	return nil
}

func cleanAlt(alt string) (string, error) {
	alt = strings.TrimSpace(alt)
	var f fault.Violations
	text.CheckLine(&f, "alt", alt, maxAlt)
	return alt, f.Err()
}

// pictures returns the pictures of an offer: the listing's own, or the one that its metadata names.
func (s State) pictures() []plan.Picture {
	var all []plan.Picture
	for _, i := range s.Images {
		all = append(all, plan.Picture{URL: image.Path(i.ID), Alt: i.Alt})
	}
	if elsewhere := s.Text(ImageURL); len(all) == 0 && elsewhere != "" {
		all = append(all, plan.Picture{URL: elsewhere})
	}
	return all
}
