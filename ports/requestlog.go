package ports

import (
	"context"

	"sundry/core/requestlog"
)

// RequestLog keeps the latest API requests of accounts. It is written beside the requests, never in their transactions.
type RequestLog interface {
	// InsertRequests writes requests of any accounts in one statement.
	InsertRequests(ctx context.Context, all []requestlog.Record) error
	// ListRequests returns the account's requests that a search is for, newest first.
	ListRequests(ctx context.Context, creatorID string, search RequestSearch, page Page) (List[requestlog.Record], error)
	// TrimRequests forgets all of the account's requests but the newest.
	TrimRequests(ctx context.Context, creatorID string, keep int) error
}

// RequestSearch narrows a list of requests; zero members narrow nothing.
type RequestSearch struct {
	ID string
	// Path is a part of the path.
	Path string
	// Status is a status, or 2, 4 and 5 for all that begin so.
	Status int
}
