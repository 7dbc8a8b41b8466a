//go:build unix

package gormstore

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// lockProcess takes the lock of a database file for this process; it ends with the process at the latest.
func lockProcess(path string) (release func() error, err error) {
	release, err = lockFile(path+".lock", syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, fmt.Errorf("another process is serving or working on %s: SQLite has one; use PostgreSQL for more", path)
	}
	return release, err
}

// lockSchema waits for the lock under which the schema of a database file is made.
func lockSchema(path string) (release func() error, err error) {
	return lockFile(path+".schema-lock", 0)
}

func lockFile(path string, how int) (release func() error, err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600) //nolint:gosec // the operator's own folder
	if err != nil {
		return nil, fmt.Errorf("open the lock of the database: %w", err)
	}
	descriptor := int(file.Fd()) //nolint:gosec // it fits
	if err := syscall.Flock(descriptor, syscall.LOCK_EX|how); err != nil {
		return nil, errors.Join(fmt.Errorf("lock the database for this process: %w", err), file.Close())
	}
	return file.Close, nil
}
