package gormstore

import (
	"context"
	"time"

	"gorm.io/gorm/clause"

	"sundry/core/slot"
	"sundry/ports"
)

type busyCalendarRow struct {
	CreatorID string `gorm:"primaryKey"`
	URL       string `gorm:"primaryKey"`
	Position  int
	ReadAt    millis
	FailedAt  millis
	Failure   string
}

// TableName implements gorm's tabler.
func (busyCalendarRow) TableName() string { return "busy_calendars" }

type busyTimeRow struct {
	CreatorID string `gorm:"primaryKey"`
	URL       string `gorm:"primaryKey"`
	StartsAt  millis `gorm:"primaryKey"`
	EndsAt    millis
}

// TableName implements gorm's tabler.
func (busyTimeRow) TableName() string { return "busy_times" }

type busyCalendars struct{ table }

// Of implements ports.BusyCalendars.
func (t busyCalendars) Of(_ context.Context, creatorID string) ([]ports.BusyCalendar, error) {
	var rows []busyCalendarRow
	err := t.db.Where("creator_id = ?", creatorID).Order("position").Find(&rows).Error
	all := make([]ports.BusyCalendar, len(rows))
	for i, r := range rows {
		all[i] = ports.BusyCalendar{URL: r.URL, ReadAt: time.Time(r.ReadAt), FailedAt: time.Time(r.FailedAt), Failure: r.Failure}
	}
	return all, t.failure("busy calendars of "+creatorID, err)
}

// Set implements ports.BusyCalendars.
func (t busyCalendars) Set(_ context.Context, creatorID string, urls []string) error {
	// The calendars first: whoever records the times of one has its row locked, so that what they write is seen below.
	for _, row := range []any{&busyCalendarRow{}, &busyTimeRow{}} {
		gone := t.db.Where("creator_id = ?", creatorID)
		if len(urls) > 0 {
			gone = gone.Where("url NOT IN ?", urls)
		}
		if err := gone.Delete(row).Error; err != nil {
			return t.failure("forget busy calendars of "+creatorID, err)
		}
	}
	if len(urls) == 0 {
		return nil
	}
	rows := make([]busyCalendarRow, len(urls))
	for i, url := range urls {
		rows[i] = busyCalendarRow{CreatorID: creatorID, URL: url, Position: i}
	}
	keep := clause.OnConflict{Columns: []clause.Column{{Name: "creator_id"}, {Name: "url"}}, DoUpdates: clause.AssignmentColumns([]string{"position"})}
	return t.failure("set busy calendars of "+creatorID, t.db.Clauses(keep).Create(&rows).Error)
}

// busyBatch keeps a statement below the engines' limits of parameters.
const busyBatch = 500

// Record implements ports.BusyCalendars.
func (t busyCalendars) Record(_ context.Context, creatorID, url string, times []slot.Interval, at time.Time) error {
	found, err := t.settle(creatorID, url, map[string]any{"read_at": millis(at), "failed_at": nil, "failure": ""})
	if err != nil || !found {
		return err
	}
	if err := t.db.Where("creator_id = ? AND url = ?", creatorID, url).Delete(&busyTimeRow{}).Error; err != nil {
		return t.failure("replace busy times of "+creatorID, err)
	}
	if len(times) == 0 {
		return nil
	}
	rows := make([]busyTimeRow, len(times))
	for i, one := range times {
		rows[i] = busyTimeRow{creatorID, url, millis(one.From), millis(one.Until)}
	}
	return t.failure("record busy times of "+creatorID, t.db.CreateInBatches(&rows, busyBatch).Error)
}

// Fail implements ports.BusyCalendars.
func (t busyCalendars) Fail(_ context.Context, creatorID, url, reason string, at time.Time) error {
	_, err := t.settle(creatorID, url, map[string]any{"failed_at": millis(at), "failure": reason})
	return err
}

// settle writes what reading a calendar came to; found is false when it is not in the list.
func (t busyCalendars) settle(creatorID, url string, columns map[string]any) (found bool, err error) {
	res := t.db.Model(&busyCalendarRow{}).Where("creator_id = ? AND url = ?", creatorID, url).Updates(columns)
	return res.RowsAffected > 0, t.failure("settle a busy calendar of "+creatorID, res.Error)
}

// Times implements ports.BusyCalendars.
func (t busyCalendars) Times(_ context.Context, creatorID string, during slot.Interval) ([]slot.Interval, error) {
	var rows []struct{ StartsAt, EndsAt millis }
	err := t.db.Raw("SELECT starts_at, ends_at FROM busy_times WHERE creator_id = ? AND ends_at > ? AND starts_at < ?",
		creatorID, millis(during.From), millis(during.Until)).Scan(&rows).Error
	times := make([]slot.Interval, len(rows))
	for i, r := range rows {
		times[i] = slot.Interval{From: time.Time(r.StartsAt), Until: time.Time(r.EndsAt)}
	}
	return times, t.failure("busy times of "+creatorID, err)
}
