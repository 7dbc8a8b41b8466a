//go:build !unix

package gormstore

// lockProcess is for systems with flock.
func lockProcess(string) (release func() error, err error) { return func() error { return nil }, nil }

// lockSchema is for systems with flock.
func lockSchema(string) (release func() error, err error) { return func() error { return nil }, nil }
