package gormstore

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"sundry/adapters/gormstore/repo"
	"sundry/ports"
)

// Deployment identifies the owner of a database.
type Deployment struct {
	// Environment is sandbox or live.
	Environment string
	// Cell is the number of the cell.
	Cell int
	// SecretCheck is derived from the app secret: it distinguishes two of them and reveals nothing else.
	SecretCheck string
	// PreviousCheck is the check of the previous secret, "" for none. A database with this check is ours, too.
	PreviousCheck string
}

// errOtherSecret reports that the keys of this start would not open what the database holds.
var errOtherSecret = errors.New("APP_SECRET is not the one that this database belongs to: start with that one (as " +
	"APP_SECRET_PREVIOUS beside a new one), or on another database")

// HasDeployment reports whether a deployment has been recorded.
func (s *Store) HasDeployment(ctx context.Context) (found bool, err error) {
	err = s.reader(ctx).Raw("SELECT EXISTS (SELECT 1 FROM deployment WHERE name = 'secret_check')").Scan(&found).Error
	if err != nil {
		err = fmt.Errorf("read the deployment: %w", err)
	}
	return found, err
}

// BelongTo records the deployment at the first start on a database, and refuses any other from then on.
func (s *Store) BelongTo(ctx context.Context, d Deployment) error {
	return s.Atomically(ctx, func(ctx context.Context, _ ports.Repos) error {
		recorded := map[string]string{"environment": d.Environment, "secret_check": d.SecretCheck,
			"cell": strconv.Itoa(d.Cell)}
		for name, value := range recorded {
			db := s.reader(ctx)
			if err := db.Exec("INSERT INTO deployment (name, value) VALUES (?, ?) ON CONFLICT (name) DO NOTHING", name,
				value).Error; err != nil {
				return fmt.Errorf("record the deployment: %w", err)
			}
			var found string
			if err := repo.ScanRow(db.Raw("SELECT value FROM deployment WHERE name = ?", name), &found); err != nil {
				return fmt.Errorf("read the deployment: %w", err)
			}
			recorded[name] = found
		}
		if environment := recorded["environment"]; environment != d.Environment {
			return fmt.Errorf("this database belongs to ENVIRONMENT=%s, and this start is %s: start with that environment, or "+
				"on another database",
				environment, d.Environment)
		}
		if cell := recorded["cell"]; cell != strconv.Itoa(d.Cell) {
			return fmt.Errorf("this database belongs to CELL=%s, and this start is %d: start with that cell, or on another "+
				"database", cell, d.Cell)
		}
		if check := recorded["secret_check"]; check != d.SecretCheck && (d.PreviousCheck == "" || check != d.PreviousCheck) {
			return errOtherSecret
		}
		return nil
	})
}

// probeEvery bounds how often the database is written to learn whether it can be: anybody may ask.
const probeEvery = time.Second

// probe is the last attempt to write.
type probe struct {
	mu  sync.Mutex
	at  time.Time
	err error
}

// Writable reports whether the database can be written now, by writing.
func (s *Store) Writable(ctx context.Context) error {
	s.probe.mu.Lock()
	defer s.probe.mu.Unlock()
	if time.Since(s.probe.at) < probeEvery {
		return s.probe.err
	}
	s.probe.err = s.Atomically(ctx, func(ctx context.Context, _ ports.Repos) error {
		return s.reader(ctx).Exec(`INSERT INTO deployment (name, value) VALUES ('written_at', ?)
			ON CONFLICT (name) DO UPDATE SET value = excluded.value`, time.Now().UTC().Format(time.RFC3339)).Error
	})
	s.probe.at = time.Now()
	return s.probe.err
}
