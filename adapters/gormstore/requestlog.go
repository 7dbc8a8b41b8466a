package gormstore

import (
	"context"
	"fmt"
	"strings"
	"time"

	"sundry/adapters/gormstore/repo"
	"sundry/core/requestlog"
	"sundry/ports"
)

var _ ports.RequestLog = (*Store)(nil)

type apiRequestRow struct {
	repo.Unrevised
	CreatorID  string
	Method     string
	Path       string
	Status     int64
	Code       string
	DurationUS int64 `gorm:"column:duration_us"`
	APIKey     string
	At         repo.UnixMillis
}

// TableName implements gorm's tabler.
func (apiRequestRow) TableName() string { return "api_requests" }

func newAPIRequestRow(r requestlog.Record) apiRequestRow {
	return apiRequestRow{
		Unrevised: repo.Unrevised{ID: r.ID}, CreatorID: r.CreatorID, Method: r.Method,
		Path: repo.SanitizeText(r.Path, requestlog.MaxPath), Status: int64(r.Status), Code: r.Code,
		DurationUS: r.Duration.Microseconds(), APIKey: repo.SanitizeText(r.Key, len(r.Key)), At: repo.UnixMillis(r.At),
	}
}

func (r apiRequestRow) toRecord() requestlog.Record {
	return requestlog.Record{
		ID: r.ID, CreatorID: r.CreatorID, Method: r.Method, Path: r.Path, Status: int(r.Status), Code: r.Code,
		Duration: time.Duration(r.DurationUS) * time.Microsecond, Key: r.APIKey, At: time.Time(r.At),
	}
}

// insertRequestsSQL has one text whatever the number of rows, so that it is prepared once.
const insertRequestsSQL = `INSERT INTO api_requests (id, creator_id, method, path, status, code, duration_us, api_key,
	at)
SELECT * FROM unnest(@ids::text[], @creators::text[], @methods::text[], @paths::text[], @statuses::bigint[],
@codes::text[], @durations::bigint[],
    @keys::text[], @ats::bigint[])`

// InsertRequests implements ports.RequestLog.
func (s *Store) InsertRequests(ctx context.Context, all []requestlog.Record) error {
	rows := make([]apiRequestRow, len(all))
	columns := repo.NewColumns()
	for i, one := range all {
		r := newAPIRequestRow(one)
		rows[i] = r
		columns.Add(map[string]any{
			"ids": r.ID, "creators": r.CreatorID, "methods": r.Method, "paths": r.Path, "statuses": r.Status, "codes": r.Code,
			"durations": r.DurationUS, "keys": r.APIKey, "ats": one.At.UnixMilli(),
		})
	}
	err := s.gate.do(ctx, func() error {
		if s.engine.Pool == nil {
			return s.write.WithContext(ctx).Create(&rows).Error
		}
		_, err := s.engine.Pool.Exec(ctx, insertRequestsSQL, columns.Args())
		return err
	})
	if err != nil {
		return fmt.Errorf("insert %d API requests: %w", len(all), err)
	}
	return nil
}

// ListRequests implements ports.RequestLog.
func (s *Store) ListRequests(ctx context.Context, creatorID string, search ports.RequestSearch,
	page ports.Page) (ports.List[requestlog.Record], error) {
	b := s.base(ctx)
	query := repo.Equal(b.DB.Where("creator_id = ?", creatorID), map[string]string{"id": search.ID})
	if search.Path != "" {
		query = query.Where(`LOWER(path) LIKE ? ESCAPE '\'`, repo.Containing(strings.ToLower(search.Path)))
	}
	if least, beyond := statuses(search.Status); beyond > 0 {
		query = query.Where("status >= ? AND status < ?", least, beyond)
	}
	return repo.ListByID(b, "list API requests of "+creatorID, query, page, apiRequestRow.toRecord)
}

// statuses are those that a search names: one, or a class by its first digit.
func statuses(named int) (least, beyond int) {
	switch {
	case named <= 0:
		return 0, 0
	case named < 10:
		return named * 100, named*100 + 100
	default:
		return named, named + 1
	}
}

// TrimRequests implements ports.RequestLog.
func (s *Store) TrimRequests(ctx context.Context, creatorID string, keep int) error {
	_, err := s.rowsChanged(ctx, "trim API requests of "+creatorID,
		`DELETE FROM api_requests WHERE creator_id = ? AND id <=
		(SELECT id FROM api_requests WHERE creator_id = ? ORDER BY id DESC LIMIT 1 OFFSET ?)`, creatorID, creatorID, keep)
	return err
}
