package gormstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"sundry/ports"
)

// unsent is an error of the driver after which nothing was sent, as on a connection that was closed since its last use.
type unsent struct{ error }

// Unwrap makes errors.Is look at the cause.
func (u unsent) Unwrap() error { return u.error }

func (unsent) SafeToRetry() bool { return true }

func TestADatabaseThatIsAwayIsNamed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ err, want error }{
		"a connection that was closed":   {fmt.Errorf("deallocate: %w", unsent{errors.New("conn closed")}), ports.ErrDatabaseBusy},
		"a caller who does not wait":     {unsent{context.Canceled}, nil},
		"a connection that broke":        {io.ErrUnexpectedEOF, ports.ErrDatabaseLost},
		"a database that takes no write": {&pgconn.PgError{Code: "25006"}, ports.ErrDatabaseBusy},
		"a refused row":                  {&pgconn.PgError{Code: "23505"}, nil},
	} {
		if got := (postgresDialect{}).Unavailable(c.err); !errors.Is(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
