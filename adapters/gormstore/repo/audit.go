package repo

import (
	"strconv"

	"sundry/core/id"
)

// QueryWhole is QueryIDs for an audit that has to read all rows to know of any: it finds nothing where those made since
// a time are checked.
func (b *Base) QueryWhole(op, query string, args ...any) ([]string, error) {
	if !b.Since.IsZero() {
		return nil, nil
	}
	return b.QueryIDs(op, query, args...)
}

// Made returns the condition that a row, of whose kind column is the id, is among those that are audited. It has no
// parameters: a plan that expects few rows reads few.
func (b *Base) Made(column string, kind id.Prefix) string {
	if b.Since.IsZero() {
		return "TRUE"
	}
	return column + " >= '" + id.First(kind, b.Since) + "'"
}

// MadeAt is Made for a column of account time, which is never behind real time.
func (b *Base) MadeAt(column string) string {
	if b.Since.IsZero() {
		return "TRUE"
	}
	return column + " >= " + strconv.FormatInt(b.Since.UnixMilli(), 10)
}

// AuditPages lists what is wrong with rows that a query cannot judge. read returns up to size of them that follow an
// id, in the order of their ids; check returns the id of one and what is wrong with it, "" for nothing.
func AuditPages[T any](limit, size int, read func(after string) ([]T, error),
	check func(one T) (id, wrong string, err error)) (found []string, err error) {
	for last := ""; len(found) < limit; {
		page, err := read(last)
		if err != nil {
			return nil, err
		}
		for _, one := range page {
			id, wrong, err := check(one)
			if err != nil {
				return nil, err
			}
			if last = id; wrong != "" {
				found = append(found, wrong)
			}
		}
		if len(page) < size {
			break
		}
	}
	return found[:min(len(found), limit)], nil
}
