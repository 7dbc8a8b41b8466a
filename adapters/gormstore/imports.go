package gormstore

import (
	"context"

	"sundry/adapters/gormstore/repo"
	"sundry/ports"
)

type importedObjectRow struct {
	CreatorID string `gorm:"primaryKey"`
	Source    string `gorm:"primaryKey"`
	SourceID  string `gorm:"primaryKey"`
	ObjectID  string
	CreatedAt repo.UnixMillis `gorm:"autoCreateTime:false"`
}

// TableName implements gorm's tabler.
func (importedObjectRow) TableName() string { return "imported_objects" }

type importedObjects struct{ *repo.Base }

// Insert implements ports.ImportedObjects.
func (t importedObjects) Insert(_ context.Context, o ports.ImportedObject) error {
	return t.InsertRow("insert imported object "+o.SourceID, &importedObjectRow{
		CreatorID: o.CreatorID, Source: o.Source, SourceID: o.SourceID, ObjectID: o.ObjectID,
		CreatedAt: repo.UnixMillis(o.CreatedAt),
	})
}

// Find implements ports.ImportedObjects.
func (t importedObjects) Find(
	_ context.Context, creatorID, source string, sourceIDs []string,
) (map[string]string, error) {
	var rows []importedObjectRow
	err := t.DB.Where("creator_id = ? AND source = ? AND source_id IN ?", creatorID, source, sourceIDs).Find(&rows).Error
	found := map[string]string{}
	for _, row := range rows {
		found[row.SourceID] = row.ObjectID
	}
	return found, t.Failure("find imported objects of "+creatorID, err)
}
