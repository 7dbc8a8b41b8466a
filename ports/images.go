package ports

import (
	"context"
	"time"

	"sundry/core/image"
)

// Images keeps the pictures that creators upload. What nobody shows is released, and deleted a while later: pages and
// mails of before may still show it.
type Images interface {
	// Insert stores a picture, released from the start.
	Insert(ctx context.Context, s image.Stored) error
	// Get loads a picture of any account: they are public. ErrNotFound.
	Get(ctx context.Context, imageID string) (image.Stored, error)
	// Claim marks a picture of the account as in use, so that retention keeps it. ErrNotFound.
	Claim(ctx context.Context, creatorID, imageID string) error
	// Release lets a picture of the account go.
	Release(ctx context.Context, creatorID, imageID string, at time.Time) error
	// Used returns the number of the account's pictures and their bytes, released ones included.
	Used(ctx context.Context, creatorID string) (n, bytes int64, err error)
}

// ImageDecoder reads pictures that untrusted parties made.
type ImageDecoder interface {
	// Decode reads a PNG, JPEG or WebP file and writes it again without anything but its pixels, upright, no side longer
	// than maxSide. VALIDATION_FAILED for anything else, and for one that has too many pixels.
	Decode(ctx context.Context, file []byte, maxSide int) (image.Picture, error)
}
