package gormstore

import (
	"context"
	"time"

	"sundry/adapters/gormstore/repo"
	"sundry/core/image"
	"sundry/ports"
)

type imageRow struct {
	ID          string `gorm:"primaryKey"`
	CreatorID   string
	ContentType string
	Width       int64
	Height      int64
	Body        []byte
	CreatedAt   repo.UnixMillis `gorm:"autoCreateTime:false"`
	ReleasedAt  repo.UnixMillis
}

// TableName implements gorm's tabler.
func (imageRow) TableName() string { return "images" }

type images struct{ *repo.Base }

// Insert implements ports.Images.
func (t images) Insert(_ context.Context, s image.Stored) error {
	return t.InsertRow("insert image "+s.ID, &imageRow{
		ID: s.ID, CreatorID: s.CreatorID, ContentType: s.ContentType, Width: int64(s.Width), Height: int64(s.Height),
		Body:      s.Body,
		CreatedAt: repo.UnixMillis(s.CreatedAt), ReleasedAt: repo.UnixMillis(s.CreatedAt),
	})
}

// Get implements ports.Images.
func (t images) Get(_ context.Context, imageID string) (image.Stored, error) {
	row, err := repo.TakeOne[imageRow](t.Base, "get image "+imageID, "id = ?", imageID)
	return image.Stored{
		ID: row.ID, CreatorID: row.CreatorID, CreatedAt: time.Time(row.CreatedAt),
		Picture: image.Picture{ContentType: row.ContentType, Width: int(row.Width), Height: int(row.Height), Body: row.Body},
	}, err
}

// Claim implements ports.Images.
func (t images) Claim(_ context.Context, creatorID, imageID string) error {
	res := t.DB.Exec("UPDATE images SET released_at = NULL WHERE creator_id = ? AND id = ?", creatorID, imageID)
	return t.Changed("claim image "+imageID, res, ports.ErrNotFound)
}

// Release implements ports.Images.
func (t images) Release(_ context.Context, creatorID, imageID string, at time.Time) error {
	return t.Exec("release image "+imageID, "UPDATE images SET released_at = ? WHERE creator_id = ? AND id = ?",
		repo.UnixMillis(at), creatorID, imageID)
}

// Used implements ports.Images.
func (t images) Used(_ context.Context, creatorID string) (n, bytes int64, err error) {
	err = t.QueryRow("count images of "+creatorID,
		"SELECT COUNT(*), COALESCE(SUM(LENGTH(body)), 0) FROM images WHERE creator_id = ?", []any{creatorID}, &n, &bytes)
	return n, bytes, err
}
