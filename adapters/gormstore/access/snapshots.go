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

// Repositories returns the area's repositories over the connection of b.
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
	AnnouncedVersion   int64
	AnnouncedAt        repo.UnixMillis
}

// TableName implements gorm's tabler.
func (snapshotRow) TableName() string { return "access_snapshots" }

func newSnapshotRow(d access.Document) *snapshotRow {
	return &snapshotRow{
		d.CreatorID, d.ExternalCustomerID, d.Version, d.ETag, d.Body, repo.UnixMillis(d.NextEnd), d.Announced.Version,
		repo.UnixMillis(d.Announced.At),
	}
}

func (r snapshotRow) toDocument() access.Document {
	return access.Document{
		CreatorID: r.CreatorID, ExternalCustomerID: r.ExternalCustomerID, Version: r.Version, ETag: r.ETag, Body: r.Body,
		NextEnd:   time.Time(r.NextEnd),
		Announced: access.Announcement{Version: r.AnnouncedVersion, At: time.Time(r.AnnouncedAt)},
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

// lock locks a customer's access, which may have no row yet, with the next statement that is waited for. SQLite has one
// writer at a time, which is lock enough.
func (t snapshots) lock(empty access.Document) error {
	return t.EnqueueLock("lock access", "access "+empty.CreatorID+"/"+empty.ExternalCustomerID)
}

// Lock implements ports.Snapshots.
func (t snapshots) Lock(_ context.Context, empty access.Document) (access.Document, error) {
	row, err := lockedSnapshots.Get(t.Base, empty.CreatorID+"/"+empty.ExternalCustomerID, func() (snapshotRow, error) {
		if err := t.lock(empty); err != nil {
			return snapshotRow{}, err
		}
		t.PreloadWith("access_snapshots", empty.CreatorID, empty.ExternalCustomerID)
		row, err := repo.TakeOne[snapshotRow](t.Base, "get locked snapshot", ofCustomer, empty.CreatorID,
			empty.ExternalCustomerID)
		if repo.IsNotFound(err) {
			return *newSnapshotRow(empty), nil
		}
		return row, err
	})
	return row.toDocument(), err
}

// LockSoon implements ports.Snapshots. The lock goes before the next statement whose result is needed.
func (t snapshots) LockSoon(_ context.Context, empty access.Document) error {
	if t.Pipeline == nil || lockedSnapshots.Has(t.Base, empty.CreatorID+"/"+empty.ExternalCustomerID) {
		return nil
	}
	if err := t.lock(empty); err != nil {
		return err
	}
	t.PreloadWith("access_snapshots", empty.CreatorID, empty.ExternalCustomerID)
	query := repo.WithColumns[snapshotRow](t.Base, "SELECT * FROM access_snapshots WHERE "+ofCustomer)
	return lockedSnapshots.Enqueue(t.Base, "get locked snapshot", query,
		[]any{empty.CreatorID, empty.ExternalCustomerID}, func(rows pgx.Rows, keep func(string, snapshotRow)) error {
			found, err := repo.CollectRows[snapshotRow](t.Base, rows)
			keep(empty.CreatorID+"/"+empty.ExternalCustomerID, append(found, *newSnapshotRow(empty))[0])
			return err
		})
}

// lockedSnapshots are those that the transaction has locked.
var lockedSnapshots = repo.NewSlot[snapshotRow]("access_snapshots")

// writtenSnapshots are those that the transaction has written.
var writtenSnapshots = repo.NewSlot[snapshotRow]("access_snapshots")

const (
	updateSnapshot = "UPDATE access_snapshots SET version = ?, etag = ?, body = ?, next_end = ?, announced_version = ?, " +
		"announced_at = ? WHERE " + ofCustomer + " AND version = ?"
	// unlessChanged is the conflict of a customer's first document.
	unlessChanged = "ON CONFLICT (creator_id, external_customer_id) DO UPDATE SET version = excluded.version, " +
		"etag = excluded.etag, body = excluded.body, next_end = excluded.next_end, " +
		"announced_version = excluded.announced_version, announced_at = excluded.announced_at " +
		"WHERE access_snapshots.version = 0"
)

// Update implements ports.Snapshots.
func (t snapshots) Update(_ context.Context, d access.Document, change *access.Changed) (err error) {
	before := d.Version
	if change != nil {
		before = change.PreviousVersion
	}
	row := newSnapshotRow(d)
	if before == 0 {
		err = t.InsertRowChecked("insert snapshot", row, ports.ErrStale, unlessChanged)
	} else {
		err = t.ExecChanged("update snapshot", ports.ErrStale, updateSnapshot, row.Version, row.ETag, row.Body, row.NextEnd,
			row.AnnouncedVersion, row.AnnouncedAt, row.CreatorID, row.ExternalCustomerID, before)
	}
	writtenSnapshots.Put(t.Base, d.CreatorID+"/"+d.ExternalCustomerID, *row)
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
	row, err := writtenSnapshots.GetPut(t.Base, creatorID+"/"+externalCustomerID, func() (snapshotRow, error) {
		return repo.TakeOne[snapshotRow](t.Base, "find snapshot", ofCustomer, creatorID, externalCustomerID)
	})
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
