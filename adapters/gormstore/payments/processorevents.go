package payments

import (
	"context"
	"time"

	"gorm.io/gorm/clause"

	"sundry/adapters/gormstore/repo"
	"sundry/ports"
)

type processorEventRow struct {
	ID         string `gorm:"primaryKey"`
	Provider   string
	Kind       string
	ObjectID   string
	CreatorID  string
	ReceivedAt repo.UnixMillis
}

// TableName implements gorm's tabler.
func (processorEventRow) TableName() string { return "processor_events" }

type processorEvents struct{ *repo.Base }

// Insert implements ports.ProcessorEvents.
func (t processorEvents) Insert(_ context.Context, e ports.ProcessorEvent, at time.Time) (isNew bool, err error) {
	row := processorEventRow{ID: e.ID, Provider: e.Provider, Kind: string(e.Kind), ObjectID: e.ObjectID,
		CreatorID:  e.CreatorID,
		ReceivedAt: repo.UnixMillis(at)}
	res := t.DB.Clauses(clause.OnConflict{DoNothing: true}).Create(&row)
	return res.RowsAffected == 1, t.Failure("insert processor event "+e.ID, res.Error)
}

// Get implements ports.ProcessorEvents.
func (t processorEvents) Get(_ context.Context, id string) (ports.ProcessorEvent, error) {
	row, err := repo.TakeOne[processorEventRow](t.Base, "get processor event "+id, "id = ?", id)
	return ports.ProcessorEvent{ID: row.ID, Provider: row.Provider, Kind: ports.ProcessorEventKind(row.Kind),
		ObjectID:  row.ObjectID,
		CreatorID: row.CreatorID}, err
}
