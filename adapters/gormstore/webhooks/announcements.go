package webhooks

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

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

type announcements struct{ *repo.Base }

// Get implements ports.Announcements.
func (t announcements) Get(_ context.Context, creatorID, externalCustomerID string) (ports.Announcement, error) {
	row, err := cachedAnnouncements.Get(t.Base, creatorID+"/"+externalCustomerID, func() (announcementRow, error) {
		t.PreloadWith("access_announcements", creatorID)
		return repo.TakeOne[announcementRow](t.Base, "get announcement", "creator_id = ? AND external_customer_id = ?",
			creatorID, externalCustomerID)
	})
	if repo.IsNotFound(err) {
		return ports.Announcement{}, nil
	}
	return ports.Announcement{Version: row.Version, At: time.Time(row.At)}, err
}

var cachedAnnouncements = repo.NewSlot[announcementRow]("access_announcements")

// PreloadAnnouncement reads what was last announced of a customer's access; the zero row where nothing was.
func PreloadAnnouncement(b *repo.Base, creatorID, externalCustomerID string) {
	cachedAnnouncements.Preload(b, "get announcement", "SELECT * FROM access_announcements WHERE creator_id = ? AND "+
		"external_customer_id = ?",
		[]any{creatorID, externalCustomerID}, func(rows pgx.Rows, keep func(string, announcementRow)) error {
			found, err := repo.CollectRows[announcementRow](b, rows)
			keep(creatorID+"/"+externalCustomerID, append(found, announcementRow{})[0])
			return err
		})
}

// Upsert implements ports.Announcements.
func (t announcements) Upsert(_ context.Context, creatorID, externalCustomerID string, a ports.Announcement) error {
	row := announcementRow{CreatorID: creatorID, ExternalCustomerID: externalCustomerID, Version: a.Version,
		At: repo.UnixMillis(a.At)}
	return t.InsertRowDeferred("upsert announcement", &row,
		"ON CONFLICT (creator_id, external_customer_id) DO UPDATE SET version = excluded.version, at = excluded.at")
}
