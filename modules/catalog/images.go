package catalog

import (
	"context"
	"time"

	"sundry/core/listing"
	"sundry/ports"
)

// AddImage gives a listing a picture that the account has uploaded. VALIDATION_FAILED, LIMIT_REACHED, STATE_CONFLICT
// once archived, and the refusals of change.
func (s *Service) AddImage(ctx context.Context, creatorID, listingID string, img listing.Image) (listing.State, error) {
	return s.change(ctx, creatorID, listingID, func(
		ctx context.Context, r ports.Repos, l *listing.Listing, now time.Time,
	) error {
		if err := l.AddImage(img, now); err != nil {
			return err
		}
		return ports.Missing(r.Images.Claim(ctx, creatorID, img.ID), "image")
	})
}

// DescribeImage changes the alternative text of a picture. NOT_FOUND, VALIDATION_FAILED, and the refusals of change.
func (s *Service) DescribeImage(ctx context.Context, creatorID, listingID, imageID, alt string) (listing.State, error) {
	return s.change(ctx, creatorID, listingID, func(
		_ context.Context, _ ports.Repos, l *listing.Listing, now time.Time,
	) error {
		return l.DescribeImage(imageID, alt, now)
	})
}

// MoveImage puts a picture before the one that it follows. NOT_FOUND, and the refusals of change.
func (s *Service) MoveImage(ctx context.Context, creatorID, listingID, imageID string) (listing.State, error) {
	return s.change(ctx, creatorID, listingID, func(
		_ context.Context, _ ports.Repos, l *listing.Listing, now time.Time,
	) error {
		return l.MoveImage(imageID, now)
	})
}

// RemoveImage takes a picture away. NOT_FOUND, and the refusals of change.
func (s *Service) RemoveImage(ctx context.Context, creatorID, listingID, imageID string) (listing.State, error) {
	return s.change(ctx, creatorID, listingID, func(
		ctx context.Context, r ports.Repos, l *listing.Listing, now time.Time,
	) error {
		if err := l.RemoveImage(imageID, now); err != nil {
			return err
		}
		return r.Images.Release(ctx, creatorID, imageID, s.deps.Clock.Real())
	})
}
