package gormstore

import (
	"context"

	"gorm.io/gorm/clause"

	"sundry/core/appointment"
	"sundry/core/slot"
)

type schedulingRow struct {
	CreatorID string `gorm:"primaryKey"`
	Hours     jsonOf[slot.Settings]
	Meetings  jsonOf[appointment.MeetingSettings]
}

// TableName implements gorm's tabler.
func (schedulingRow) TableName() string { return "scheduling" }

func unsaid(creatorID string) schedulingRow {
	return schedulingRow{CreatorID: creatorID, Hours: jsonOf[slot.Settings]{slot.NoSettings()}}
}

type scheduling struct{ table }

// Get implements ports.Scheduling.
func (t scheduling) Get(_ context.Context, creatorID string) (appointment.Setup, error) {
	row, err := first[schedulingRow](t.table, "get scheduling of "+creatorID, "creator_id = ?", creatorID)
	if isNotFound(err) {
		row, err = unsaid(creatorID), nil
	}
	return appointment.Setup{Hours: row.Hours.V, Meetings: row.Meetings.V}, err
}

// SetHours implements ports.Scheduling.
func (t scheduling) SetHours(_ context.Context, creatorID string, hours slot.Settings) error {
	row := unsaid(creatorID)
	row.Hours.V = hours
	return t.set(row, "hours")
}

// SetMeetings implements ports.Scheduling.
func (t scheduling) SetMeetings(_ context.Context, creatorID string, meetings appointment.MeetingSettings) error {
	row := unsaid(creatorID)
	row.Meetings.V = meetings
	return t.set(row, "meetings")
}

// set writes one column, and the others only of a new row.
func (t scheduling) set(row schedulingRow, column string) error {
	upsert := clause.OnConflict{Columns: []clause.Column{{Name: "creator_id"}}, DoUpdates: clause.AssignmentColumns([]string{column})}
	return t.failure("set "+column+" of "+row.CreatorID, t.db.Clauses(upsert).Create(&row).Error)
}

// FeedVersion implements ports.Scheduling.
func (t scheduling) FeedVersion(_ context.Context, creatorID string) (version int64, err error) {
	err = t.db.Raw("SELECT version FROM calendar_feeds WHERE creator_id = ?", creatorID).Scan(&version).Error
	return version, t.failure("feed of "+creatorID, err)
}

// RaiseFeedVersion implements ports.Scheduling.
func (t scheduling) RaiseFeedVersion(_ context.Context, creatorID string) (version int64, err error) {
	err = t.db.Raw(`INSERT INTO calendar_feeds (creator_id, version) VALUES (?, 1)
		ON CONFLICT (creator_id) DO UPDATE SET version = calendar_feeds.version + 1 RETURNING version`, creatorID).Scan(&version).Error
	return version, t.failure("replace the feed of "+creatorID, err)
}
