// Package booking keeps when creators meet buyers, what is reserved of their time, and appointments.
package booking

import (
	"context"
	"time"

	"gorm.io/gorm/clause"

	"sundry/adapters/gormstore/repo"
	"sundry/core/appointment"
	"sundry/core/slot"
	"sundry/ports"
)

// Repositories returns the area's repositories over the connection of b.
func Repositories(b *repo.Base) ports.BookingRepos {
	return ports.BookingRepos{
		Scheduling: scheduling{b}, BusyCalendars: busyCalendars{b},
		Reservations: reservations{reservationMapping.On(b), seatMapping.On(b)},
		Appointments: appointments{appointmentMapping.ByID(b)}, Meetings: hostedMeetings{hostedMeetingMapping.ByID(b)},
		Accounts: meetingAccounts{b}, Audit: audit{b},
	}
}

type schedulingRow struct {
	CreatorID string `gorm:"primaryKey"`
	Hours     repo.JSONColumn[slot.Settings]
	Meetings  repo.JSONColumn[appointment.MeetingSettings]
}

// TableName implements gorm's tabler.
func (schedulingRow) TableName() string { return "scheduling" }

func newSchedulingRow(creatorID string) schedulingRow {
	return schedulingRow{CreatorID: creatorID, Hours: repo.JSON(slot.NoSettings())}
}

type scheduling struct{ *repo.Base }

// Get implements ports.Scheduling.
func (t scheduling) Get(_ context.Context, creatorID string) (appointment.Setup, error) {
	row, err := repo.TakeOne[schedulingRow](t.Base, "get scheduling of "+creatorID, "creator_id = ?", creatorID)
	if repo.IsNotFound(err) {
		row, err = newSchedulingRow(creatorID), nil
	}
	return appointment.Setup{Hours: row.Hours.V, Meetings: row.Meetings.V}, err
}

// UpdateHours implements ports.Scheduling.
func (t scheduling) UpdateHours(_ context.Context, creatorID string, hours slot.Settings) error {
	row := newSchedulingRow(creatorID)
	row.Hours.V = hours
	return t.set(row, "hours")
}

// UpdateMeetings implements ports.Scheduling.
func (t scheduling) UpdateMeetings(_ context.Context, creatorID string, meetings appointment.MeetingSettings) error {
	row := newSchedulingRow(creatorID)
	row.Meetings.V = meetings
	return t.set(row, "meetings")
}

// set writes one column, and the others only of a new row.
func (t scheduling) set(row schedulingRow, column string) error {
	upsert := clause.OnConflict{Columns: []clause.Column{{Name: "creator_id"}},
		DoUpdates: clause.AssignmentColumns([]string{column})}
	return t.Failure("update "+column+" of "+row.CreatorID, t.DB.Clauses(upsert).Create(&row).Error)
}

// GetVersion implements ports.Scheduling. It is one lookup by three primary keys: each request for open times makes it.
func (t scheduling) GetVersion(ctx context.Context, listingID string) (v ports.CalendarVersion, err error) {
	const query = `SELECT l.revision, COALESCE(v.version, 0), COALESCE(c.offset_ms, 0) FROM listings l
		LEFT JOIN calendar_versions v ON v.creator_id = l.creator_id
		LEFT JOIN clock_offsets c ON c.creator_id = l.creator_id WHERE l.id = `
	var offset int64
	if t.Pool != nil {
		err = t.Pool.QueryRow(ctx, query+"$1", listingID).Scan(&v.Listing, &v.Creator, &offset)
	} else {
		err = repo.ScanRow(t.DB.Raw(query+"?", listingID), &v.Listing, &v.Creator, &offset)
	}
	v.Offset = time.Duration(offset) * time.Millisecond
	return v, t.Failure("get the calendar's version of "+listingID, err)
}

// GetFeedVersion implements ports.Scheduling.
func (t scheduling) GetFeedVersion(_ context.Context, creatorID string) (version int64, err error) {
	err = t.DB.Raw("SELECT version FROM calendar_feeds WHERE creator_id = ?", creatorID).Scan(&version).Error
	return version, t.Failure("get feed version of "+creatorID, err)
}

// IncrementFeedVersion implements ports.Scheduling.
func (t scheduling) IncrementFeedVersion(_ context.Context, creatorID string) (version int64, err error) {
	err = t.QueryRow("increment feed version of "+creatorID, `INSERT INTO calendar_feeds (creator_id, version) VALUES (?, 1)
		ON CONFLICT (creator_id) DO UPDATE SET version = calendar_feeds.version + 1
		RETURNING version`, []any{creatorID}, &version)
	return version, err
}
