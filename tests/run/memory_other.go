//go:build !linux

package main

// inMemory names no folder: this system has none whose files are kept in memory.
func inMemory() string { return "" }
