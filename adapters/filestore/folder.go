// Package filestore keeps the bytes of creators' files: in a folder, or in a bucket of an S3-compatible storage.
package filestore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"sundry/ports"
)

// Folder keeps each part as a file below a directory. Several processes may share it.
type Folder struct{ dir string }

var _ ports.FileStorage = (*Folder)(nil)

// NewFolder returns a storage below a directory, which is made when the first part comes.
func NewFolder(dir string) *Folder { return &Folder{dir} }

func (f *Folder) path(key string) string { return filepath.Join(f.dir, filepath.FromSlash(key)) }

// Put implements ports.FileStorage. A part appears whole or not at all, also after a crash.
func (f *Folder) Put(_ context.Context, key string, part []byte) error {
	if err := write(f.path(key), part); err != nil {
		return fmt.Errorf("put %s: %w", key, err)
	}
	return nil
}

func write(path string, part []byte) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	unfinished, err := os.CreateTemp(dir, ".part-*") // for its owner's eyes only: 0600
	if err != nil {
		return err
	}
	_, writeErr := unfinished.Write(part)
	err = errors.Join(writeErr, unfinished.Sync(), unfinished.Close())
	if err == nil {
		err = os.Rename(unfinished.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(unfinished.Name()))
	}
	// The names of the part and of its directory are durable, too.
	return errors.Join(sync(dir), sync(filepath.Dir(dir)))
}

// sync makes the names in a directory durable.
func sync(dir string) error {
	opened, err := os.Open(dir) //nolint:gosec // below the configured directory
	if err != nil {
		return err
	}
	return errors.Join(syncDirectory(opened), opened.Close())
}

// Get implements ports.FileStorage.
func (f *Folder) Get(_ context.Context, key string) ([]byte, error) {
	part, err := os.ReadFile(f.path(key))
	if errors.Is(err, fs.ErrNotExist) {
		err = ports.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("get %s: %w", key, err)
	}
	return part, nil
}

// Delete implements ports.FileStorage. A directory goes with its last part.
func (f *Folder) Delete(_ context.Context, key string) error {
	path := f.path(key)
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("delete %s: %w", key, err)
	}
	_ = os.Remove(filepath.Dir(path)) // it is not empty yet, or gone already
	return nil
}
