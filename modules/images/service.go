// Package images takes and shows the pictures that creators upload.
package images

import (
	"context"
	"errors"
	"fmt"

	"sundry/core/fault"
	"sundry/core/id"
	"sundry/core/image"
	"sundry/core/quota"
	"sundry/ports"
)

// Service is the module.
type Service struct{ deps Deps }

// Deps holds the dependencies of the module.
type Deps struct {
	Store    ports.Store
	Clock    ports.Clock
	IDs      ports.IDs
	Decoder  ports.ImageDecoder
	Standing ports.AccountStanding
}

// New returns the module over its ports.
func New(d Deps) *Service { return &Service{deps: d} }

// Upload stores a picture for the account, no side longer than maxSide, and returns its id. Who shows it claims it.
// VALIDATION_FAILED at the member file, LIMIT_REACHED.
func (s *Service) Upload(ctx context.Context, creatorID string, file []byte, maxSide int) (imageID string, err error) {
	picture, err := s.decode(ctx, file, maxSide)
	if err != nil {
		return "", err
	}
	stored := image.Stored{
		ID: s.deps.IDs.New(id.Image), CreatorID: creatorID, Picture: picture, CreatedAt: s.deps.Clock.Real(),
	}
	err = s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		err := s.deps.Standing.CheckLimit(ctx, r, creatorID, quota.Images, func() (int64, error) {
			n, _, err := r.Images.Used(ctx, creatorID)
			return n + 1, err
		})
		if err != nil {
			return err
		}
		err = s.deps.Standing.CheckLimit(ctx, r, creatorID, quota.ImageStorage, func() (int64, error) {
			_, bytes, err := r.Images.Used(ctx, creatorID)
			return bytes + int64(len(picture.Body)), err
		})
		if err != nil {
			return err
		}
		return r.Images.Insert(ctx, stored)
	})
	return stored.ID, err
}

func (s *Service) decode(ctx context.Context, file []byte, maxSide int) (image.Picture, error) {
	var f fault.Violations
	f.Check(len(file) > 0, "file", fault.DetailRequired, "Choose an image.")
	f.Check(
		len(file) <= image.MaxUpload, "file", fault.DetailTooLong,
		"The image may have at most 1 MB. Choose a smaller one.",
	)
	if err := f.Err(); err != nil {
		return image.Picture{}, err
	}
	return s.deps.Decoder.Decode(ctx, file, maxSide)
}

// Get returns a picture of any account. NOT_FOUND.
func (s *Service) Get(ctx context.Context, imageID string) (image.Stored, error) {
	if !id.Valid(id.Image, imageID) {
		return image.Stored{}, fault.NotFound("image")
	}
	stored, err := s.deps.Store.Read(ctx).Images.Get(ctx, imageID)
	if errors.Is(err, ports.ErrNotFound) {
		return stored, fault.NotFound("image")
	}
	if err != nil {
		return stored, fmt.Errorf("image %s: %w", imageID, err)
	}
	return stored, nil
}
