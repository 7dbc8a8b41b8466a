package gormstore

import (
	"context"
	"time"

	"sundry/adapters/gormstore/repo"
	"sundry/core/file"
	"sundry/ports"
)

type fileRow struct {
	repo.Revised
	CreatorID     string
	ListingID     string
	DisputeID     string
	Name          string
	ContentType   string
	Size          int64
	Version       int64
	DownloadLimit int64
	Status        string
	CreatedAt     repo.UnixMillis `gorm:"autoCreateTime:false"`
}

// TableName implements gorm's tabler.
func (fileRow) TableName() string { return "files" }

func newFileRow(s file.State) fileRow {
	return fileRow{
		Revised:   repo.Revised{ID: s.ID, Revision: s.Revision},
		CreatorID: s.CreatorID, ListingID: s.ListingID, DisputeID: s.DisputeID, Name: s.Name,
		ContentType: s.ContentType, Size: s.Size, Version: int64(s.Version), DownloadLimit: int64(s.DownloadLimit),
		Status: string(s.Status), CreatedAt: repo.UnixMillis(s.CreatedAt),
	}
}

func (r fileRow) toState() file.State {
	return file.State{
		ID: r.ID, CreatorID: r.CreatorID, ListingID: r.ListingID, DisputeID: r.DisputeID, Name: r.Name,
		ContentType: r.ContentType, Size: r.Size, Version: int(r.Version), DownloadLimit: int(r.DownloadLimit),
		Status: file.Status(r.Status), CreatedAt: time.Time(r.CreatedAt), Revision: r.Revision,
	}
}

var fileMapping = repo.Mapping[fileRow, file.State]{
	Name: "file", NewRow: newFileRow, ToState: fileRow.toState,
}

type files struct {
	repo.Table[fileRow, file.State]
}

// Lock implements ports.Files.
func (t files) Lock(_ context.Context, creatorID string) error {
	return t.AdvisoryLock("lock the files of "+creatorID, "files\x00"+creatorID)
}

// Find implements ports.Files.
func (t files) Find(_ context.Context, fileID string) (file.State, error) {
	return t.GetBy("find file "+fileID, "id = ?", fileID)
}

// ListByListing implements ports.Files.
func (t files) ListByListing(_ context.Context, creatorID, listingID string) ([]file.State, error) {
	return t.FindBy("list files of "+listingID, "creator_id = ? AND listing_id = ? AND status <> 'deleted'", creatorID,
		listingID)
}

// ListUploadsBefore implements ports.Files.
func (t files) ListUploadsBefore(_ context.Context, before time.Time, limit int) ([]file.State, error) {
	return t.ListBy("list old uploads", t.DB.Where("status = 'uploading' AND created_at < ?", repo.UnixMillis(before)).
		Order("created_at, id").Limit(limit))
}

// ListByDisputesOf implements ports.Files.
func (t files) ListByDisputesOf(_ context.Context, creatorID, customerID string) ([]file.State, error) {
	return t.FindBy("list files of disputes of "+customerID, `dispute_id <> '' AND status <> 'deleted' AND creator_id = ?
		AND dispute_id IN (SELECT id FROM disputes WHERE creator_id = ? AND customer_id = ?)`, creatorID, creatorID,
		customerID)
}

// ListDownloads implements ports.Files.
func (t files) ListDownloads(
	_ context.Context, creatorID, checkoutID string, limit int,
) ([]ports.CountedDownloads, error) {
	const query = `SELECT f.name, d.downloads, d.downloaded_at FROM file_downloads d JOIN files f ON f.id = d.file_id
		WHERE d.creator_id = ? AND d.checkout_id = ? ORDER BY d.downloaded_at DESC, f.id LIMIT ?`
	return repo.QueryRows(t.Base, "list downloads of "+checkoutID, query, []any{creatorID, checkoutID, limit},
		func(row repo.Scanner) (one ports.CountedDownloads, err error) {
			var at repo.UnixMillis
			err = row.Scan(&one.Name, &one.Count, &at)
			one.LastAt = time.Time(at)
			return one, err
		})
}

// TotalSize implements ports.Files.
func (t files) TotalSize(_ context.Context, creatorID string) (bytes int64, err error) {
	const query = "SELECT CAST(COALESCE(SUM(size), 0) AS BIGINT) FROM files WHERE creator_id = ?"
	err = t.QueryRow("sum files of "+creatorID, query, []any{creatorID}, &bytes)
	return bytes, err
}

// UpsertPart implements ports.Files.
func (t files) UpsertPart(_ context.Context, fileID string, number int) error {
	return t.Exec("note part of "+fileID, "INSERT INTO file_parts (file_id, number) VALUES (?, ?) "+repo.OrNothing, fileID,
		number)
}

// ListParts implements ports.Files.
func (t files) ListParts(_ context.Context, fileID string) ([]int, error) {
	const query = "SELECT number FROM file_parts WHERE file_id = ? ORDER BY number"
	return repo.QueryRows(t.Base, "list parts of "+fileID, query, []any{fileID},
		func(row repo.Scanner) (number int, err error) {
			err = row.Scan(&number)
			return number, err
		})
}

// Delete implements ports.Files.
func (t files) Delete(_ context.Context, creatorID, fileID string) error {
	for _, query := range []string{
		"DELETE FROM file_parts WHERE file_id = ?", "DELETE FROM file_downloads WHERE file_id = ?",
	} {
		if err := t.Exec("delete file "+fileID, query, fileID); err != nil {
			return err
		}
	}
	return t.Exec("delete file "+fileID, "DELETE FROM files WHERE creator_id = ? AND id = ?", creatorID, fileID)
}

// CountDownload implements ports.Files.
func (t files) CountDownload(_ context.Context, d ports.FileDownload) (count int, err error) {
	const query = `INSERT INTO file_downloads (creator_id, file_id, checkout_id, downloads, downloaded_at)
		VALUES (?, ?, ?, 1, ?) ON CONFLICT (file_id, checkout_id) DO UPDATE
		SET downloads = file_downloads.downloads + 1, downloaded_at = excluded.downloaded_at RETURNING downloads`
	err = t.QueryRow("count download of "+d.FileID, query,
		[]any{d.CreatorID, d.FileID, d.CheckoutID, repo.UnixMillis(d.At)}, &count)
	return count, err
}

// Downloads implements ports.Files.
func (t files) Downloads(_ context.Context, creatorID, listingID string) (map[string]int64, error) {
	type total struct {
		FileID    string
		Downloads int64
	}
	const query = `SELECT f.id, CAST(SUM(d.downloads) AS BIGINT) FROM files f JOIN file_downloads d ON d.file_id = f.id
		WHERE f.creator_id = ? AND f.listing_id = ? GROUP BY f.id`
	all, err := repo.QueryRows(t.Base, "count downloads of "+listingID, query, []any{creatorID, listingID},
		func(row repo.Scanner) (one total, err error) {
			err = row.Scan(&one.FileID, &one.Downloads)
			return one, err
		})
	counts := make(map[string]int64, len(all))
	for _, one := range all {
		counts[one.FileID] = one.Downloads
	}
	return counts, err
}
