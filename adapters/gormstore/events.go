package gormstore

import (
	"context"
	"encoding/json"
	"time"

	"gorm.io/gorm/clause"

	"sundry/core/event"
	"sundry/ports"
)

type eventRow struct {
	ID        string `gorm:"primaryKey"`
	CreatorID string
	Type      string
	Livemode  bool
	Data      jsonOf[json.RawMessage]
	CreatedAt millis `gorm:"autoCreateTime:false"`
}

// TableName implements gorm's tabler.
func (eventRow) TableName() string { return "events" }

func (r eventRow) record() event.Record {
	return event.Record{
		ID: r.ID, CreatorID: r.CreatorID, Type: event.Type(r.Type), Livemode: r.Livemode, Data: r.Data.V, CreatedAt: time.Time(r.CreatedAt),
	}
}

type events struct{ table }

// Insert implements ports.Events.
func (t events) Insert(_ context.Context, e event.Record) error {
	return t.put("insert event "+e.ID, &eventRow{
		ID: e.ID, CreatorID: e.CreatorID, Type: string(e.Type), Livemode: e.Livemode, Data: jsonOf[json.RawMessage]{e.Data}, CreatedAt: millis(e.CreatedAt),
	}, "")
}

// Find implements ports.Events.
func (t events) Find(_ context.Context, creatorID, eventID string) (event.Record, error) {
	row, err := first[eventRow](t.table, "find event "+eventID, "creator_id = ? AND id = ?", creatorID, eventID)
	return row.record(), err
}

// List implements ports.Events.
func (t events) List(_ context.Context, creatorID string, page ports.Page) (ports.List[event.Record], error) {
	return newest(t.table, "list events of "+creatorID, t.db.Where("creator_id = ?", creatorID), page, eventRow.record,
		func(r eventRow) string { return r.ID })
}

// Between implements ports.Events.
func (t events) Between(_ context.Context, creatorID string, from, to time.Time, afterID string, limit int) ([]event.Record, error) {
	var rows []eventRow
	err := t.db.Where("creator_id = ? AND created_at >= ? AND created_at < ? AND id > ?", creatorID, millis(from), millis(to), afterID).
		Order("id").Limit(limit).Find(&rows).Error
	records := make([]event.Record, len(rows))
	for i, row := range rows {
		records[i] = row.record()
	}
	return records, t.failure("events of "+creatorID, err)
}

type announcementRow struct {
	CreatorID          string `gorm:"primaryKey"`
	ExternalCustomerID string `gorm:"primaryKey"`
	Version            int64
	At                 millis
}

// TableName implements gorm's tabler.
func (announcementRow) TableName() string { return "access_announcements" }

type announcements struct{ table }

// Last implements ports.Announcements.
func (t announcements) Last(_ context.Context, creatorID, externalCustomerID string) (ports.Announcement, error) {
	row, err := first[announcementRow](t.table, "last announcement", "creator_id = ? AND external_customer_id = ?", creatorID, externalCustomerID)
	if isNotFound(err) {
		return ports.Announcement{}, nil
	}
	return ports.Announcement{Version: row.Version, At: time.Time(row.At)}, err
}

// Set implements ports.Announcements.
func (t announcements) Set(_ context.Context, creatorID, externalCustomerID string, a ports.Announcement) error {
	row := announcementRow{CreatorID: creatorID, ExternalCustomerID: externalCustomerID, Version: a.Version, At: millis(a.At)}
	return t.failure("set announcement", t.db.Clauses(clause.OnConflict{UpdateAll: true}).Create(&row).Error)
}
