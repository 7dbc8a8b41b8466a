package booking

import (
	"context"
	"time"

	"gorm.io/gorm/clause"

	"sundry/adapters/gormstore/repo"
	"sundry/core/slot"
	"sundry/ports"
)

type busyCalendarRow struct {
	CreatorID string `gorm:"primaryKey"`
	URL       string `gorm:"primaryKey"`
	Position  int
	ReadAt    repo.UnixMillis
	FailedAt  repo.UnixMillis
	Failure   string
}

// TableName implements gorm's tabler.
func (busyCalendarRow) TableName() string { return "busy_calendars" }

func (r busyCalendarRow) toCalendar() ports.BusyCalendar {
	return ports.BusyCalendar{URL: r.URL, ReadAt: time.Time(r.ReadAt), FailedAt: time.Time(r.FailedAt), Failure: r.Failure}
}

type busyTimeRow struct {
	CreatorID string          `gorm:"primaryKey"`
	URL       string          `gorm:"primaryKey"`
	StartsAt  repo.UnixMillis `gorm:"primaryKey"`
	EndsAt    repo.UnixMillis
}

// TableName implements gorm's tabler.
func (busyTimeRow) TableName() string { return "busy_times" }

type busyCalendars struct{ *repo.Base }

// List implements ports.BusyCalendars.
func (t busyCalendars) List(_ context.Context, creatorID string) ([]ports.BusyCalendar, error) {
	return repo.ListBy(t.Base, "list busy calendars of "+creatorID,
		t.DB.Where("creator_id = ?", creatorID).Order("position"), busyCalendarRow.toCalendar)
}

// Update implements ports.BusyCalendars.
func (t busyCalendars) Update(_ context.Context, creatorID string, urls []string) error {
	// The calendars first: a caller that records the times of one has its row locked, so that what they write is seen
	// below.
	for _, row := range []any{&busyCalendarRow{}, &busyTimeRow{}} {
		gone := t.DB.Where("creator_id = ?", creatorID)
		if len(urls) > 0 {
			gone = gone.Where("url NOT IN ?", urls)
		}
		if err := gone.Delete(row).Error; err != nil {
			return t.Failure("delete busy calendars of "+creatorID, err)
		}
	}
	if len(urls) == 0 {
		return nil
	}
	rows := make([]busyCalendarRow, len(urls))
	for i, url := range urls {
		rows[i] = busyCalendarRow{CreatorID: creatorID, URL: url, Position: i}
	}
	keep := clause.OnConflict{Columns: []clause.Column{{Name: "creator_id"}, {Name: "url"}},
		DoUpdates: clause.AssignmentColumns([]string{"position"})}
	return t.Failure("update busy calendars of "+creatorID, t.DB.Clauses(keep).Create(&rows).Error)
}

// busyBatch keeps a statement below the engines' limits of parameters.
const busyBatch = 500

// UpdateTimes implements ports.BusyCalendars.
func (t busyCalendars) UpdateTimes(_ context.Context, creatorID, url string, times []slot.Interval,
	at time.Time) error {
	found, err := t.updateReading(creatorID, url, map[string]any{"read_at": repo.UnixMillis(at), "failed_at": nil,
		"failure": ""})
	if err != nil || !found {
		return err
	}
	if err := t.DB.Where("creator_id = ? AND url = ?", creatorID, url).Delete(&busyTimeRow{}).Error; err != nil {
		return t.Failure("replace busy times of "+creatorID, err)
	}
	if len(times) == 0 {
		return nil
	}
	rows := make([]busyTimeRow, len(times))
	for i, one := range times {
		rows[i] = busyTimeRow{creatorID, url, repo.UnixMillis(one.From), repo.UnixMillis(one.Until)}
	}
	return t.Failure("insert busy times of "+creatorID, t.DB.CreateInBatches(&rows, busyBatch).Error)
}

// UpdateFailure implements ports.BusyCalendars.
func (t busyCalendars) UpdateFailure(_ context.Context, creatorID, url, reason string, at time.Time) error {
	_, err := t.updateReading(creatorID, url, map[string]any{"failed_at": repo.UnixMillis(at), "failure": reason})
	return err
}

// updateReading writes the result of reading a calendar; found is false when it is not in the list.
func (t busyCalendars) updateReading(creatorID, url string, columns map[string]any) (found bool, err error) {
	res := t.DB.Model(&busyCalendarRow{}).Where("creator_id = ? AND url = ?", creatorID, url).Updates(columns)
	return res.RowsAffected > 0, t.Failure("update busy calendar of "+creatorID, res.Error)
}

// ListTimes implements ports.BusyCalendars.
func (t busyCalendars) ListTimes(_ context.Context, creatorID string, during slot.Interval) ([]slot.Interval, error) {
	query := "SELECT starts_at, ends_at FROM busy_times WHERE creator_id = ? AND ends_at > ? AND starts_at < ?"
	args := []any{creatorID, during.From.UnixMilli(), during.Until.UnixMilli()}
	return repo.QueryRows(t.Base, "busy times of "+creatorID, query, args, func(row repo.Scanner) (slot.Interval, error) {
		var from, until int64
		err := row.Scan(&from, &until)
		return interval(from, until), err
	})
}
