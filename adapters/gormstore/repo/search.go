package repo

import (
	"strconv"

	"sundry/ports"
)

// maxSearched bounds the bytes of a text that is searched for.
const maxSearched = 200

// Searched makes a text fit to be searched for: short, and without what PostgreSQL rejects.
func Searched(text string) string { return SanitizeText(text, maxSearched) }

// SearchNewest returns the ids of those of the creator's newest ports.SearchedRows rows of a table for which a
// condition holds: at most limit of them, newest first. What it reads does not grow with the table.
func (b *Base) SearchNewest(op, table, creatorID string, limit int, where string, args ...any) ([]string, error) {
	query := "SELECT id FROM (SELECT * FROM " + table + " WHERE creator_id = ? ORDER BY id DESC LIMIT " +
		strconv.Itoa(ports.SearchedRows) + ") newest WHERE " + where + " ORDER BY id DESC LIMIT ?"
	return b.QueryIDs(op, query, append(append([]any{creatorID}, args...), limit)...)
}
