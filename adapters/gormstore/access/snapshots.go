// Package access keeps grants, the snapshots that they make and the uses of credits.
package access

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"sundry/adapters/gormstore/repo"
	"sundry/core/access"
	"sundry/ports"
)

// Repositories are the area's repositories over one connection.
func Repositories(b *repo.Base) ports.AccessRepos {
	return ports.AccessRepos{Grants: grants{grantMapping.On(b)}, Snapshots: snapshots{b}, CreditUses: creditUses{b},
		Audit: audit{grants{grantMapping.On(b)}}}
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

type snapshots struct{ *repo.Base }

const ofCustomer = "creator_id = ? AND external_customer_id = ?"

// Lock implements ports.Snapshots. SQLite has one writer at a time, which is lock enough. An INSERT that does nothing
// is cheaper than another round trip, and of two first grants the second waits for the first to commit.
func (t snapshots) Lock(_ context.Context, empty access.Document) (access.Document, error) {
	row, err := lockedSnapshots.Get(t.Base, empty.CreatorID+"/"+empty.ExternalCustomerID, func() (snapshotRow, error) {
		if err := t.InsertRowDeferred("insert empty snapshot", newSnapshotRow(empty), repo.OrNothing); err != nil {
			return snapshotRow{}, err
		}
		t.PreloadWith("access_snapshots", empty.CreatorID, empty.ExternalCustomerID)
		return repo.TakeOne[snapshotRow](t.ForUpdate(), "lock snapshot", ofCustomer, empty.CreatorID,
			empty.ExternalCustomerID)
	})
	return row.toDocument(), err
}

// LockSoon implements ports.Snapshots. The lock goes before the next statement whose result is needed.
func (t snapshots) LockSoon(_ context.Context, empty access.Document) error {
	if t.Pipeline == nil {
		return nil
	}
	if err := t.InsertRowDeferred("insert empty snapshot", newSnapshotRow(empty), repo.OrNothing); err != nil {
		return err
	}
	t.PreloadWith("access_snapshots", empty.CreatorID, empty.ExternalCustomerID)
	return lockedSnapshots.Enqueue(t.Base, "lock snapshot",
		"SELECT * FROM access_snapshots WHERE "+ofCustomer+" FOR UPDATE",
		[]any{empty.CreatorID, empty.ExternalCustomerID}, func(rows pgx.Rows, keep func(string, snapshotRow)) error {
			found, err := repo.CollectRows[snapshotRow](t.Base, rows)
			for _, row := range found {
				keep(row.CreatorID+"/"+row.ExternalCustomerID, row)
			}
			return err
		})
}

// lockedSnapshots are those that the transaction has locked.
var lockedSnapshots = repo.NewSlot[snapshotRow]("access_snapshots")

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
		Changed: repo.JSON(change.Changed), Cause: change.Cause.Kind, CauseID: change.Cause.ID,
		At: repo.UnixMillis(change.At),
	})
}

// Get implements ports.Snapshots.
func (t snapshots) Get(_ context.Context, creatorID, externalCustomerID string) (access.Document, error) {
	row, err := repo.TakeOne[snapshotRow](t.Base, "find snapshot", ofCustomer, creatorID, externalCustomerID)
	return row.toDocument(), err
}

// ListHistory implements ports.Snapshots.
func (t snapshots) ListHistory(_ context.Context, creatorID, externalCustomerID string,
	limit int) ([]access.Changed, error) {
	query := t.DB.Where(ofCustomer, creatorID, externalCustomerID).Order("version DESC").Limit(limit)
	return repo.ListBy(t.Base, "list snapshot versions", query, versionRow.toChange)
}

// ListHistoryAfter implements ports.Snapshots.
func (t snapshots) ListHistoryAfter(_ context.Context, creatorID, externalCustomerID string,
	version int64) ([]access.Changed, error) {
	query := t.DB.Where(ofCustomer+" AND version > ?", creatorID, externalCustomerID, version).Order("version")
	return repo.ListBy(t.Base, "list new snapshot versions", query, versionRow.toChange)
}

// ReadSQL is one lookup by primary key; both engines prepare it once per connection.
const ReadSQL = "SELECT version, etag, body, next_end FROM access_snapshots WHERE creator_id = $1 AND " +
	"external_customer_id = $2"

// Read is ports.AccessReader's read of the row that ReadSQL found, without gorm, which would double what it costs.
func Read(b *repo.Base, row repo.Scanner, creatorID, externalCustomerID string) (access.Document, error) {
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
