package ports

import "sundry/core/id"

// IDs makes identifiers and other random values.
type IDs interface {
	// New makes a time-ordered id such as lst_01j9….
	New(prefix id.Prefix) string
	// Random returns n cryptographically random bytes.
	Random(n int) []byte
	// Cell returns the cell that its ids name.
	Cell() id.Cell
}
