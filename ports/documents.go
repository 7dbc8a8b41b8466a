package ports

import "context"

// DocumentNumbers hands out numbers without gaps, one series at a time.
type DocumentNumbers interface {
	// Next takes the next number of the series (1 first). The row stays locked until the transaction ends, so a
	// rolled-back transaction gives its number back.
	Next(ctx context.Context, series string) (int64, error)
}
