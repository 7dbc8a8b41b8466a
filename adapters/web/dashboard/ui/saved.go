package ui

import (
	"net/url"
	"strings"
)

// Saved are the filters of a list that its reader keeps, and how to keep that of the page.
type Saved struct {
	// Save and Delete are the targets of forms with the fields list, name and query, and Token their CSRF token.
	Save, Delete, Token string
	Filters             []SavedFilter
	// List is the list's path, and Query the rest of the page's address; "" where there is nothing to keep.
	List, Query string
}

// SavedFilter is a filter that is kept under a name.
type SavedFilter struct {
	Name, Query string
	// Href opens the list with it, and Current is set on that page.
	Href    string
	Current bool
}

// on returns the filters as they are shown at an address of the list; nil where there is nothing to show.
func (s *Saved) on(path, address string) *Saved {
	shown := &Saved{Save: s.Save, Delete: s.Delete, Token: s.Token, List: path}
	_, shown.Query, _ = strings.Cut(address, "?")
	now := shown.Query
	for _, f := range s.Filters {
		if values, err := url.ParseQuery(f.Query); err == nil {
			f.Current = values.Encode() == now
		}
		if f.Href = path + "?" + f.Query; f.Current {
			shown.Query = ""
		}
		shown.Filters = append(shown.Filters, f)
	}
	if len(shown.Filters) == 0 && shown.Query == "" {
		return nil
	}
	return shown
}
