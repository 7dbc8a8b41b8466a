package bootstrap

import (
	"context"
	"io"
	"time"
)

// TaxReport writes, as CSV, what the documents of all accounts issued in [from, until) sum to.
func (a *App) TaxReport(ctx context.Context, from, until time.Time, out io.Writer) error {
	return a.modules.Documents.TaxReport(ctx, from, until, out)
}
