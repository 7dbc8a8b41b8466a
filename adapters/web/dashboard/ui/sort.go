package ui

import (
	"strings"

	"sundry/ports"
)

// sortField is the parameter of a list's address that says how it is sorted: "amount", or "-amount" for descending.
const sortField = "sort"

// newestFirst is the sort of a list whose address says none.
const newestFirst = "-" + ports.SortCreated

// sort returns the order that a query asks for.
func (q Query) sort() ports.Sort {
	by, descending := strings.CutPrefix(q[sortField], "-")
	return ports.Sort{By: by, Ascending: by != "" && !descending}
}

// filtered reports whether some filter is set.
func (q Query) filtered() bool {
	if q[sortField] != "" {
		return len(q) > 1
	}
	return len(q) > 0
}

// sorts reports whether the list has a column that it can be sorted by as an address says.
func (l *List[T]) sorts(as string) bool {
	for _, col := range l.Columns {
		if col.Sort != "" && strings.TrimPrefix(as, "-") == strings.TrimPrefix(col.Sort, "-") {
			return true
		}
	}
	return false
}

// sortHeads makes links of the heads of those columns by which the list can be sorted. That of the column by which it
// is sorted turns the order.
func (l *List[T]) sortHeads(q Query, heads []Head) {
	now := q[sortField]
	if now == "" {
		now = newestFirst
	}
	at := 0
	for _, col := range l.Columns {
		if col.Cell == nil {
			continue
		}
		if col.Sort != "" {
			next := col.Sort
			if by, descending := strings.CutPrefix(now, "-"); by == strings.TrimPrefix(col.Sort, "-") {
				heads[at].Sorted = map[bool]string{true: "descending", false: "ascending"}[descending]
				next = map[bool]string{true: by, false: "-" + by}[descending]
			}
			heads[at].Href = l.address(q, sortField, next)
		}
		at++
	}
}
