//go:build unix

package filestore

import "os"

func syncDirectory(dir *os.File) error { return dir.Sync() }
