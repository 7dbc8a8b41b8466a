package identity

import (
	"context"

	"sundry/adapters/gormstore/repo"
	"sundry/core/identity"
)

type savedFilters struct{ *repo.Base }

// Lock implements ports.SavedFilters.
func (t savedFilters) Lock(_ context.Context, u identity.User) error {
	return t.AdvisoryLock("lock filters of "+u.ID(), "saved-filters:"+u.ID())
}

// Save implements ports.SavedFilters.
func (t savedFilters) Save(_ context.Context, u identity.User, f identity.SavedFilter) error {
	return t.Exec("save filter of "+u.ID(), `INSERT INTO saved_filters (creator_id, user_id, list, name, query)
		VALUES (?, ?, ?, ?, ?) ON CONFLICT (creator_id, user_id, list, name) DO UPDATE SET query = excluded.query`,
		u.CreatorID, u.ID(), f.List, f.Name, f.Query)
}

// List implements ports.SavedFilters.
func (t savedFilters) List(_ context.Context, u identity.User, list string) (saved []identity.SavedFilter, err error) {
	err = t.DB.Raw(`SELECT list, name, query FROM saved_filters WHERE creator_id = ? AND user_id = ? AND list = ?
		ORDER BY name`, u.CreatorID, u.ID(), list).Scan(&saved).Error
	return saved, t.Failure("list filters of "+u.ID(), err)
}

// Delete implements ports.SavedFilters.
func (t savedFilters) Delete(_ context.Context, u identity.User, list, name string) error {
	return t.Exec("delete filter of "+u.ID(),
		"DELETE FROM saved_filters WHERE creator_id = ? AND user_id = ? AND list = ? AND name = ?",
		u.CreatorID, u.ID(), repo.Searched(list), repo.Searched(name))
}

// DeleteAll implements ports.SavedFilters.
func (t savedFilters) DeleteAll(_ context.Context, u identity.User) error {
	return t.Exec("delete filters of "+u.ID(), "DELETE FROM saved_filters WHERE creator_id = ? AND user_id = ?",
		u.CreatorID, u.ID())
}
