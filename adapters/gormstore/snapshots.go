package gormstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"gorm.io/gorm/clause"

	"sundry/core/access"
	"sundry/ports"
)

type snapshotRow struct {
	CreatorID          string `gorm:"primaryKey"`
	ExternalCustomerID string `gorm:"primaryKey"`
	Version            int64
	ETag               string `gorm:"column:etag"`
	Body               []byte
	NextEnd            millis
}

// TableName implements gorm's tabler.
func (snapshotRow) TableName() string { return "access_snapshots" }

func rowOfDocument(d access.Document) *snapshotRow {
	return &snapshotRow{d.CreatorID, d.ExternalCustomerID, d.Version, d.ETag, d.Body, millis(d.NextEnd)}
}

func (r snapshotRow) document() access.Document {
	return access.Document{
		CreatorID: r.CreatorID, ExternalCustomerID: r.ExternalCustomerID, Version: r.Version, ETag: r.ETag, Body: r.Body,
		NextEnd: time.Time(r.NextEnd),
	}
}

type versionRow struct {
	CreatorID          string `gorm:"primaryKey"`
	ExternalCustomerID string `gorm:"primaryKey"`
	Version            int64  `gorm:"primaryKey;autoIncrement:false"`
	Changed            jsonOf[[]string]
	Cause              access.CauseKind
	CauseID            string
	At                 millis
}

// TableName implements gorm's tabler.
func (versionRow) TableName() string { return "access_versions" }

func (r versionRow) change() access.Changed {
	return access.Changed{
		CreatorID: r.CreatorID, ExternalCustomerID: r.ExternalCustomerID, Version: r.Version, PreviousVersion: r.Version - 1,
		Changed: r.Changed.V, Cause: access.Cause{Kind: r.Cause, ID: r.CauseID}, At: time.Time(r.At),
	}
}

type snapshots struct{ table }

const ofCustomer = "creator_id = ? AND external_customer_id = ?"

// Lock implements ports.Snapshots. SQLite has one writer at a time, which is lock enough.
func (t snapshots) Lock(_ context.Context, empty access.Document) (access.Document, error) {
	d, err := t.lock(empty)
	if !isNotFound(err) {
		return d, err
	}
	// Two first grants may meet here: the second waits for the first to commit, inserts nothing and locks its row.
	insert := t.db.Clauses(clause.OnConflict{DoNothing: true}).Create(rowOfDocument(empty))
	if insert.Error != nil {
		return access.Document{}, t.failure("insert empty snapshot", insert.Error)
	}
	return t.lock(empty)
}

func (t snapshots) lock(of access.Document) (access.Document, error) {
	forUpdate := table{db: t.db.Clauses(clause.Locking{Strength: clause.LockingStrengthUpdate}), dialect: t.dialect}
	row, err := first[snapshotRow](forUpdate, "lock snapshot", ofCustomer, of.CreatorID, of.ExternalCustomerID)
	return row.document(), err
}

// Save implements ports.Snapshots.
func (t snapshots) Save(_ context.Context, d access.Document, change *access.Changed) error {
	before := d.Version
	if change != nil {
		before = change.PreviousVersion
	}
	row := rowOfDocument(d)
	res := t.db.Model(row).Where("version = ?", before).Select("version", "etag", "body", "next_end").Updates(row)
	if res.Error == nil && res.RowsAffected == 0 {
		return fmt.Errorf("save snapshot version %d: %w", d.Version, ports.ErrStale)
	}
	if res.Error != nil || change == nil {
		return t.failure("save snapshot", res.Error)
	}
	return t.insert("record snapshot version", &versionRow{
		CreatorID: d.CreatorID, ExternalCustomerID: d.ExternalCustomerID, Version: d.Version,
		Changed: jsonOf[[]string]{change.Changed}, Cause: change.Cause.Kind, CauseID: change.Cause.ID, At: millis(change.At),
	})
}

// Find implements ports.Snapshots.
func (t snapshots) Find(_ context.Context, creatorID, externalCustomerID string) (access.Document, error) {
	row, err := first[snapshotRow](t.table, "find snapshot", ofCustomer, creatorID, externalCustomerID)
	return row.document(), err
}

// History implements ports.Snapshots.
func (t snapshots) History(_ context.Context, creatorID, externalCustomerID string, limit int) ([]access.Changed, error) {
	var rows []versionRow
	err := t.db.Where(ofCustomer, creatorID, externalCustomerID).Order("version DESC").Limit(limit).Find(&rows).Error
	changes := make([]access.Changed, len(rows))
	for i, row := range rows {
		changes[i] = row.change()
	}
	return changes, t.failure("list snapshot versions", err)
}

// HistoryLength implements ports.Snapshots.
func (t snapshots) HistoryLength(_ context.Context, creatorID, externalCustomerID string) (count, highest int64, err error) {
	var row struct{ Count, Highest int64 }
	err = t.db.Model(&versionRow{}).Select("COUNT(*) AS count, COALESCE(MAX(version), 0) AS highest").
		Where(ofCustomer, creatorID, externalCustomerID).Scan(&row).Error
	return row.Count, row.Highest, t.failure("count snapshot versions", err)
}

// Scan implements ports.Snapshots.
func (t snapshots) Scan(_ context.Context, after access.Document, limit int) ([]access.Document, error) {
	var rows []snapshotRow
	err := t.db.Where("(creator_id, external_customer_id) > (?, ?)", after.CreatorID, after.ExternalCustomerID).
		Order("creator_id, external_customer_id").Limit(limit).Find(&rows).Error
	documents := make([]access.Document, len(rows))
	for i, row := range rows {
		documents[i] = row.document()
	}
	return documents, t.failure("scan snapshots", err)
}

var _ ports.AccessReader = (*Store)(nil)

// readAccess is one lookup by primary key; both engines prepare it once per connection.
const readAccess = "SELECT version, etag, body, next_end FROM access_snapshots WHERE creator_id = $1 AND external_customer_id = $2"

// ReadAccess implements ports.AccessReader without gorm, which would double what the read costs.
func (s *Store) ReadAccess(ctx context.Context, creatorID, externalCustomerID string) (access.Document, error) {
	d := access.Document{CreatorID: creatorID, ExternalCustomerID: externalCustomerID}
	var nextEnd *int64
	err := s.point(ctx, readAccess, creatorID, externalCustomerID).Scan(&d.Version, &d.ETag, &d.Body, &nextEnd)
	switch {
	case errors.Is(err, pgx.ErrNoRows), errors.Is(err, sql.ErrNoRows):
		return access.Document{}, fmt.Errorf("read access: %w", ports.ErrNotFound)
	case err != nil:
		return access.Document{}, fmt.Errorf("read access: %w", err)
	}
	if nextEnd != nil {
		d.NextEnd = time.UnixMilli(*nextEnd).UTC()
	}
	return d, nil
}
