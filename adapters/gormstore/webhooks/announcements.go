package webhooks

import (
	"context"
	"time"

	"sundry/adapters/gormstore/repo"
	"sundry/ports"
)

type announcementRow struct {
	CreatorID          string `gorm:"primaryKey"`
	ExternalCustomerID string `gorm:"primaryKey"`
	Version            int64
	At                 repo.UnixMillis
}

// TableName implements gorm's tabler.
func (announcementRow) TableName() string { return "access_announcements" }

type announcements struct{ repo.Base }

// Get implements ports.Announcements.
func (t announcements) Get(_ context.Context, creatorID, externalCustomerID string) (ports.Announcement, error) {
	row, err := repo.TakeOne[announcementRow](t.Base, "get announcement", "creator_id = ? AND external_customer_id = ?", creatorID, externalCustomerID)
	if repo.IsNotFound(err) {
		return ports.Announcement{}, nil
	}
	return ports.Announcement{Version: row.Version, At: time.Time(row.At)}, err
}

// Upsert implements ports.Announcements.
func (t announcements) Upsert(_ context.Context, creatorID, externalCustomerID string, a ports.Announcement) error {
	row := announcementRow{CreatorID: creatorID, ExternalCustomerID: externalCustomerID, Version: a.Version, At: repo.UnixMillis(a.At)}
	return t.InsertRowDeferred("upsert announcement", &row,
		"ON CONFLICT (creator_id, external_customer_id) DO UPDATE SET version = excluded.version, at = excluded.at")
}
