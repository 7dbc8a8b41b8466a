// Package access keeps grants, the snapshots that they make and the uses of credits.
package access

import (
	"context"
	"time"

	"sundry/adapters/gormstore/repo"

	"gorm.io/gorm/clause"

	"sundry/core/access"
	"sundry/ports"
)

// Repositories are the area's repositories over one connection.
func Repositories(b repo.Base) ports.AccessRepos {
	return ports.AccessRepos{Grants: grants{grantMapping.On(b)}, Snapshots: snapshots{b}, CreditUses: creditUses{b}, Audit: audit{grants{grantMapping.On(b)}}}
}

type snapshotRow struct {
	CreatorID          string `gorm:"primaryKey"`
	ExternalCustomerID string `gorm:"primaryKey"`
	Version            int64
	ETag               string `gorm:"column:etag"`
	Body               []byte
	NextEnd            repo.UnixMillis
}

// TableName implements gorm's tabler.
func (snapshotRow) TableName() string { return "access_snapshots" }

func newSnapshotRow(d access.Document) *snapshotRow {
	return &snapshotRow{d.CreatorID, d.ExternalCustomerID, d.Version, d.ETag, d.Body, repo.UnixMillis(d.NextEnd)}
}

func (r snapshotRow) toDocument() access.Document {
	return access.Document{
		CreatorID: r.CreatorID, ExternalCustomerID: r.ExternalCustomerID, Version: r.Version, ETag: r.ETag, Body: r.Body,
		NextEnd: time.Time(r.NextEnd),
	}
}

type versionRow struct {
	CreatorID          string `gorm:"primaryKey"`
	ExternalCustomerID string `gorm:"primaryKey"`
	Version            int64  `gorm:"primaryKey;autoIncrement:false"`
	Changed            repo.JSONColumn[[]string]
	Cause              access.CauseKind
	CauseID            string
	At                 repo.UnixMillis
}

// TableName implements gorm's tabler.
func (versionRow) TableName() string { return "access_versions" }

func (r versionRow) toChange() access.Changed {
	return access.Changed{
		CreatorID: r.CreatorID, ExternalCustomerID: r.ExternalCustomerID, Version: r.Version, PreviousVersion: r.Version - 1,
		Changed: r.Changed.V, Cause: access.Cause{Kind: r.Cause, ID: r.CauseID}, At: time.Time(r.At),
	}
}

type snapshots struct{ repo.Base }

const ofCustomer = "creator_id = ? AND external_customer_id = ?"

// Lock implements ports.Snapshots. SQLite has one writer at a time, which is lock enough.
func (t snapshots) Lock(_ context.Context, empty access.Document) (access.Document, error) {
	if t.Pipeline != nil { // an insertion in vain costs less than a round trip
		row := newSnapshotRow(empty)
		if err := t.InsertRowDeferred("insert empty snapshot", row, "ON CONFLICT DO NOTHING"); err != nil {
			return access.Document{}, err
		}
		return t.lock(empty)
	}
	d, err := t.lock(empty)
	if !repo.IsNotFound(err) {
		return d, err
	}
	// Two first grants may meet here: the second waits for the first to commit, inserts nothing and locks its row.
	insert := t.DB.Clauses(clause.OnConflict{DoNothing: true}).Create(newSnapshotRow(empty))
	if insert.Error != nil {
		return access.Document{}, t.Failure("insert empty snapshot", insert.Error)
	}
	return t.lock(empty)
}

func (t snapshots) lock(of access.Document) (access.Document, error) {
	row, err := repo.TakeOne[snapshotRow](t.ForUpdate(), "lock snapshot", ofCustomer, of.CreatorID, of.ExternalCustomerID)
	return row.toDocument(), err
}

// Update implements ports.Snapshots.
func (t snapshots) Update(_ context.Context, d access.Document, change *access.Changed) error {
	before := d.Version
	if change != nil {
		before = change.PreviousVersion
	}
	row := newSnapshotRow(d)
	err := t.ExecChanged("update snapshot", ports.ErrStale,
		"UPDATE access_snapshots SET version = ?, etag = ?, body = ?, next_end = ? WHERE "+ofCustomer+" AND version = ?",
		row.Version, row.ETag, row.Body, row.NextEnd, row.CreatorID, row.ExternalCustomerID, before)
	if err != nil || change == nil {
		return err
	}
	return t.InsertRow("record snapshot version", &versionRow{
		CreatorID: d.CreatorID, ExternalCustomerID: d.ExternalCustomerID, Version: d.Version,
		Changed: repo.JSON(change.Changed), Cause: change.Cause.Kind, CauseID: change.Cause.ID, At: repo.UnixMillis(change.At),
	})
}

// Get implements ports.Snapshots.
func (t snapshots) Get(_ context.Context, creatorID, externalCustomerID string) (access.Document, error) {
	row, err := repo.TakeOne[snapshotRow](t.Base, "find snapshot", ofCustomer, creatorID, externalCustomerID)
	return row.toDocument(), err
}

// ListHistory implements ports.Snapshots.
func (t snapshots) ListHistory(_ context.Context, creatorID, externalCustomerID string, limit int) ([]access.Changed, error) {
	query := t.DB.Where(ofCustomer, creatorID, externalCustomerID).Order("version DESC").Limit(limit)
	return repo.ListBy(t.Base, "list snapshot versions", query, versionRow.toChange)
}

// CountHistory implements ports.Snapshots.
func (t snapshots) CountHistory(_ context.Context, creatorID, externalCustomerID string) (count, highest int64, err error) {
	var row struct{ Count, Highest int64 }
	err = t.DB.Model(&versionRow{}).Select("COUNT(*) AS count, COALESCE(MAX(version), 0) AS highest").
		Where(ofCustomer, creatorID, externalCustomerID).Scan(&row).Error
	return row.Count, row.Highest, t.Failure("count snapshot versions", err)
}

// ReadSQL is one lookup by primary key; both engines prepare it once per connection.
const ReadSQL = "SELECT version, etag, body, next_end FROM access_snapshots WHERE creator_id = $1 AND external_customer_id = $2"

// Read is ports.AccessReader's read of the row that ReadSQL found, without gorm, which would double what it costs.
func Read(b repo.Base, row repo.Scanner, creatorID, externalCustomerID string) (access.Document, error) {
	d := access.Document{CreatorID: creatorID, ExternalCustomerID: externalCustomerID}
	var nextEnd *int64
	if err := row.Scan(&d.Version, &d.ETag, &d.Body, &nextEnd); err != nil {
		return access.Document{}, b.Failure("read access", err)
	}
	if nextEnd != nil {
		d.NextEnd = time.UnixMilli(*nextEnd).UTC()
	}
	return d, nil
}
