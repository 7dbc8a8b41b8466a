package ports

import (
	"context"
	"time"

	"sundry/core/file"
)

// Files keeps what is known of the files that creators upload; FileStorage keeps their bytes.
type Files interface {
	// Lock keeps others from adding files to the account until the transaction ends: how many it has and how large
	// they are stays as it is.
	Lock(ctx context.Context, creatorID string) error
	// Insert stores a new file.
	Insert(ctx context.Context, s file.State) error
	// Update stores a file whose revision was raised by one. ErrStale when it changed since.
	Update(ctx context.Context, s file.State) error
	// Get loads one of the account's files. ErrNotFound.
	Get(ctx context.Context, creatorID, fileID string) (file.State, error)
	// Find loads a file of any account: whether the caller may see it is for the use case to decide. ErrNotFound.
	Find(ctx context.Context, fileID string) (file.State, error)
	// ListByListing lists the files of a listing that are not deleted, newest first.
	ListByListing(ctx context.Context, creatorID, listingID string) ([]file.State, error)
	// ListUploadsBefore lists uploads of all accounts that began before a time and are not complete, at most limit.
	ListUploadsBefore(ctx context.Context, before time.Time, limit int) ([]file.State, error)
	// ListByDisputesOf lists the files of a customer's disputes that are not deleted.
	ListByDisputesOf(ctx context.Context, creatorID, customerID string) ([]file.State, error)
	// ListDownloads lists what a purchase has downloaded, the latest first, at most limit files.
	ListDownloads(ctx context.Context, creatorID, checkoutID string, limit int) ([]CountedDownloads, error)
	// TotalSize is the sum of the sizes of the account's files, deleted ones included until their bytes are gone.
	TotalSize(ctx context.Context, creatorID string) (bytes int64, err error)
	// UpsertPart notes that a part is stored.
	UpsertPart(ctx context.Context, fileID string, number int) error
	// ListParts lists the numbers of the parts that are stored, rising.
	ListParts(ctx context.Context, fileID string) ([]int, error)
	// Delete removes a file whose bytes are gone, with its parts and counts.
	Delete(ctx context.Context, creatorID, fileID string) error
	// CountDownload counts a download of a file by a purchase and returns how many there are now.
	CountDownload(ctx context.Context, d FileDownload) (count int, err error)
	// Downloads returns how often each file of a listing was downloaded, by file.
	Downloads(ctx context.Context, creatorID, listingID string) (map[string]int64, error)
}

// FileDownload is a download of a file by a purchase.
type FileDownload struct {
	CreatorID, FileID, CheckoutID string
	At                            time.Time
}

// CountedDownloads is the number of times that a purchase has downloaded a file.
type CountedDownloads struct {
	Name   string
	Count  int64
	LastAt time.Time
}

// FileStorage keeps the bytes of files, in parts of at most file.PartSize. A part may be written again with the same
// content; it never changes otherwise.
type FileStorage interface {
	Network
	// Put stores a part. It is durable when Put returns.
	Put(ctx context.Context, key string, part []byte) error
	// Get returns a part. ErrNotFound.
	Get(ctx context.Context, key string) ([]byte, error)
	// Delete removes a part; one that is not there is no error.
	Delete(ctx context.Context, key string) error
}
