package repo

// Row is a row that has an id.
type Row interface {
	// Identity returns the id and the revision, 0 for a row without one.
	Identity() (id string, revision int64)
}

// Revised is embedded in the rows of aggregates: each change raises the revision by one.
type Revised struct {
	ID       string `gorm:"primaryKey"`
	Revision int64
}

// Identity implements Row.
func (r Revised) Identity() (id string, revision int64) { return r.ID, r.Revision }

// Unrevised is embedded in rows that are written once.
type Unrevised struct {
	ID string `gorm:"primaryKey"`
}

// Identity implements Row.
func (r Unrevised) Identity() (id string, revision int64) { return r.ID, 0 }
