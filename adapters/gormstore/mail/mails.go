// Package mail keeps the messages to be sent.
package mail

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"sundry/adapters/gormstore/repo"

	"sundry/ports"
)

// Repositories are the area's repositories over one connection.
func Repositories(b repo.Base) ports.MailRepos { return ports.MailRepos{Mails: mails{b}} }

type mailRow struct {
	ID            string `gorm:"primaryKey"`
	CreatorID     string
	Kind          string
	Cause         string
	Recipient     string
	RecipientName string
	Data          repo.JSONColumn[json.RawMessage]
	CreatedAt     repo.UnixMillis `gorm:"autoCreateTime:false"`
	LeavesAt      repo.UnixMillis
	SentAt        repo.UnixMillis
	RefusedAt     repo.UnixMillis
	Refusal       string
}

// TableName implements gorm's tabler.
func (mailRow) TableName() string { return "mails" }

func (r mailRow) toMail() ports.Mail {
	return ports.Mail{
		ID: r.ID, CreatorID: r.CreatorID, Kind: r.Kind, Cause: r.Cause, Recipient: r.Recipient, RecipientName: r.RecipientName, Data: r.Data.V,
		CreatedAt: time.Time(r.CreatedAt), LeavesAt: time.Time(r.LeavesAt), SentAt: time.Time(r.SentAt), RefusedAt: time.Time(r.RefusedAt), Refusal: r.Refusal,
	}
}

func newMailRow(m ports.Mail) mailRow {
	return mailRow{
		ID: m.ID, CreatorID: m.CreatorID, Kind: m.Kind, Cause: m.Cause, Recipient: m.Recipient, RecipientName: m.RecipientName,
		Data: repo.JSON(m.Data), CreatedAt: repo.UnixMillis(m.CreatedAt), LeavesAt: repo.UnixMillis(m.LeavesAt),
		SentAt: repo.UnixMillis(m.SentAt), RefusedAt: repo.UnixMillis(m.RefusedAt), Refusal: m.Refusal,
	}
}

type mails struct{ repo.Base }

// Insert implements ports.Mails.
func (t mails) Insert(_ context.Context, m ports.Mail) (bool, error) {
	const once = "ON CONFLICT (creator_id, kind, cause) DO NOTHING"
	row := newMailRow(m)
	if t.Pipeline != nil {
		return true, t.InsertRowDeferred("insert mail "+m.ID, &row, once)
	}
	written, err := t.InsertRowFlush("insert mail "+m.ID, &row, once)
	return written == 1, err
}

// Get implements ports.Mails.
func (t mails) Get(_ context.Context, creatorID, mailID string) (ports.Mail, error) {
	row, err := repo.TakeOne[mailRow](t.Base, "get mail "+mailID, "creator_id = ? AND id = ?", creatorID, mailID)
	return row.toMail(), err
}

// Admit implements ports.Mails. Addresses that differ in case only reach one person.
func (t mails) Admit(_ context.Context, m ports.Mail, limit int, window time.Duration, now time.Time) (time.Time, error) {
	doing := "admit mail " + m.ID
	if err := t.AdvisoryLock(doing, "mail\x00"+m.CreatorID+"\x00"+strings.ToLower(m.Recipient)); err != nil {
		return time.Time{}, err
	}
	row, err := repo.TakeOne[mailRow](t.Base, doing, "creator_id = ? AND id = ?", m.CreatorID, m.ID)
	if err != nil || !time.Time(row.LeavesAt).IsZero() {
		return time.Time(row.LeavesAt), err
	}
	var before []repo.UnixMillis
	err = t.DB.Raw("SELECT leaves_at FROM mails WHERE creator_id = ? AND LOWER(recipient) = LOWER(?) AND leaves_at IS NOT NULL "+
		"ORDER BY leaves_at DESC LIMIT 1 OFFSET ?", m.CreatorID, m.Recipient, limit-1).Scan(&before).Error
	if err != nil {
		return time.Time{}, t.Failure(doing, err)
	}
	leaves := now
	if len(before) > 0 {
		if free := time.Time(before[0]).Add(window); free.After(leaves) {
			leaves = free
		}
	}
	return leaves, t.ExecChanged(doing, ports.ErrNotFound, "UPDATE mails SET leaves_at = ? WHERE creator_id = ? AND id = ?",
		repo.UnixMillis(leaves), m.CreatorID, m.ID)
}

// Update implements ports.Mails.
func (t mails) Update(_ context.Context, m ports.Mail) error {
	return t.ExecChanged("update mail "+m.ID, ports.ErrNotFound, "UPDATE mails SET sent_at = ?, refused_at = ?, refusal = ? WHERE creator_id = ? AND id = ?",
		repo.UnixMillis(m.SentAt), repo.UnixMillis(m.RefusedAt), repo.Storable(m.Refusal, 500), m.CreatorID, m.ID)
}
