package identity

import (
	"net/url"
	"strings"

	"sundry/core/fault"
	"sundry/core/text"
)

const (
	// MaxSavedFilters bounds the filters that a user keeps of one list.
	MaxSavedFilters = 20
	maxFilterName   = 40
	maxFilterList   = 120
	maxFilterQuery  = 4_000
)

// SavedFilter is a filter of one of the dashboard's lists that a user keeps for themselves under a name.
type SavedFilter struct {
	// List is the list's path, such as /dashboard/orders, and Query the rest of its address: sort=-amount&status=paid.
	List, Name, Query string
}

// Clean returns the filter as it is stored. VALIDATION_FAILED.
func (s SavedFilter) Clean() (SavedFilter, error) {
	var f fault.Violations
	s.Name = strings.TrimSpace(s.Name)
	text.CheckName(&f, "name", s.Name, maxFilterName)
	text.CheckLine(&f, "list", s.List, maxFilterList)
	values, err := url.ParseQuery(s.Query)
	f.Check(err == nil && len(s.Query) <= maxFilterQuery, "query", fault.DetailInvalid,
		"This filter can't be saved.")
	s.Query = values.Encode()
	return s, f.Err()
}
