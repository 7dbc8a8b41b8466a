// Package image has the rules of the pictures that creators upload: a logo, and pictures of their listings.
package image

import (
	"strings"
	"time"

	"sundry/core/id"
)

const (
	// MaxUpload is the largest file that is taken, in bytes: a request has some more around it.
	MaxUpload = 1_000_000
	// MaxPixels bounds a picture before it is decoded: a small file can describe a huge one.
	MaxPixels = 24_000_000
	// MaxSide bounds the width and the height of a stored picture, in pixels.
	MaxSide = 1600
	// MaxLogoSide is MaxSide of a logo.
	MaxLogoSide = 512
	// MaxPerAccount bounds what an account keeps, with what it has removed lately.
	MaxPerAccount = 300
	// folder is the path below which pictures are served.
	folder = "/media/"
)

// Content types that pictures are kept in.
const (
	PNG  = "image/png"
	JPEG = "image/jpeg"
)

// Picture is a picture that has been decoded and written again, so that nothing else is in it.
type Picture struct {
	ContentType   string
	Width, Height int
	Body          []byte
}

// Stored is a picture of an account. It never changes: another picture is another id.
type Stored struct {
	ID        string // img_…
	CreatorID string
	Picture
	CreatedAt time.Time
}

// Path returns the path of a picture.
func Path(imageID string) string { return folder + imageID }

// IDOf returns the id of the picture that a path or an address of ours leads to; "" for anything else.
func IDOf(path string) string {
	if found, ok := strings.CutPrefix(path, folder); ok && id.Valid(id.Image, found) {
		return found
	}
	return ""
}

// WithBase makes the path of a picture of ours an address; anything else stays.
func WithBase(base, address string) string {
	if IDOf(address) != "" {
		return base + address
	}
	return address
}

// WithoutBase removes the base that WithBase added.
func WithoutBase(base, address string) string {
	if path := strings.TrimPrefix(address, base); IDOf(path) != "" {
		return path
	}
	return address
}
