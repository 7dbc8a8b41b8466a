package gormstore

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"gorm.io/gorm/clause"

	"sundry/ports"
)

type mailRow struct {
	ID            string `gorm:"primaryKey"`
	CreatorID     string
	Kind          string
	Cause         string
	Recipient     string
	RecipientName string
	Data          jsonOf[json.RawMessage]
	CreatedAt     millis `gorm:"autoCreateTime:false"`
	SentAt        millis
	RefusedAt     millis
	Refusal       string
}

// TableName implements gorm's tabler.
func (mailRow) TableName() string { return "mails" }

func (r mailRow) mail() ports.Mail {
	return ports.Mail{
		ID: r.ID, CreatorID: r.CreatorID, Kind: r.Kind, Cause: r.Cause, Recipient: r.Recipient, RecipientName: r.RecipientName, Data: r.Data.V,
		CreatedAt: time.Time(r.CreatedAt), SentAt: time.Time(r.SentAt), RefusedAt: time.Time(r.RefusedAt), Refusal: r.Refusal,
	}
}

type mails struct{ table }

// Insert implements ports.Mails.
func (t mails) Insert(_ context.Context, m ports.Mail) (bool, error) {
	row := mailRow{
		ID: m.ID, CreatorID: m.CreatorID, Kind: m.Kind, Cause: m.Cause, Recipient: m.Recipient, RecipientName: m.RecipientName,
		Data: jsonOf[json.RawMessage]{m.Data}, CreatedAt: millis(m.CreatedAt), SentAt: millis(m.SentAt), RefusedAt: millis(m.RefusedAt),
		Refusal: m.Refusal,
	}
	res := t.db.Clauses(clause.OnConflict{
		Columns: []clause.Column{{Name: "creator_id"}, {Name: "kind"}, {Name: "cause"}}, DoNothing: true,
	}).Create(&row)
	return res.RowsAffected == 1, t.failure("insert mail "+m.ID, res.Error)
}

// Find implements ports.Mails.
func (t mails) Find(_ context.Context, creatorID, mailID string) (ports.Mail, error) {
	row, err := first[mailRow](t.table, "find mail "+mailID, "creator_id = ? AND id = ?", creatorID, mailID)
	return row.mail(), err
}

// Settle implements ports.Mails.
func (t mails) Settle(_ context.Context, m ports.Mail) error {
	res := t.db.Exec("UPDATE mails SET sent_at = ?, refused_at = ?, refusal = ? WHERE creator_id = ? AND id = ?",
		millis(m.SentAt), millis(m.RefusedAt), storable(m.Refusal, 500), m.CreatorID, m.ID)
	if res.Error == nil && res.RowsAffected == 0 {
		return fmt.Errorf("settle mail %s: %w", m.ID, ports.ErrNotFound)
	}
	return t.failure("settle mail "+m.ID, res.Error)
}
