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
func Repositories(b *repo.Base) ports.MailRepos { return ports.MailRepos{Mails: mails{b}} }

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
		ID: r.ID, CreatorID: r.CreatorID, Kind: r.Kind, Cause: r.Cause, Recipient: r.Recipient,
		RecipientName: r.RecipientName, Data: r.Data.V,
		CreatedAt: time.Time(r.CreatedAt), LeavesAt: time.Time(r.LeavesAt), SentAt: time.Time(r.SentAt),
		RefusedAt: time.Time(r.RefusedAt), Refusal: r.Refusal,
	}
}

func newMailRow(m ports.Mail) mailRow {
	return mailRow{
		ID: m.ID, CreatorID: m.CreatorID, Kind: m.Kind, Cause: m.Cause, Recipient: m.Recipient,
		RecipientName: m.RecipientName,
		Data:          repo.JSON(m.Data), CreatedAt: repo.UnixMillis(m.CreatedAt), LeavesAt: repo.UnixMillis(m.LeavesAt),
		SentAt: repo.UnixMillis(m.SentAt), RefusedAt: repo.UnixMillis(m.RefusedAt), Refusal: m.Refusal,
	}
}

type mails struct{ *repo.Base }

// Insert implements ports.Mails.
func (t mails) Insert(_ context.Context, m ports.Mail, limit ports.MailLimit) error {
	if t.OnPostgres() {
		return t.insertAdmitted(m, limit)
	}
	row := newMailRow(m)
	return t.InsertRowDeferred("insert mail "+m.ID, &row, once)
}

const once = "ON CONFLICT (creator_id, kind, cause) DO NOTHING"

// tryRecipient takes the recipient's lock if it is free, and keeps whether it was for the next statement: only that one
// sees everything that the transaction before has committed.
const tryRecipient = "SELECT set_config('sundry.recipient_locked', CAST(pg_try_advisory_xact_lock(?) AS TEXT), true)"

// admittedMail writes a mail that may leave now, or one of which Admit has to decide it.
const admittedMail = `INSERT INTO mails (id, creator_id, kind, cause, recipient, recipient_name, data, created_at,
	leaves_at)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, CASE WHEN current_setting('sundry.recipient_locked') = 'true'
	AND COALESCE((` + leavingBefore + `), 0) <= ?
		THEN CAST(? AS BIGINT) END) ` + once

// leavingBefore selects the send time of the N-th last mail to this recipient under the same limit; the next may leave
// one window later.
const leavingBefore = `SELECT leaves_at FROM mails WHERE creator_id = ? AND LOWER(recipient) = LOWER(?)
	AND leaves_at IS NOT NULL AND (kind = CAST(? AS TEXT)) = CAST(? AS BOOLEAN)
	ORDER BY leaves_at DESC LIMIT 1 OFFSET ?`

// insertAdmitted writes a mail on PostgreSQL. Both statements travel with the commit, so the lock is held no longer
// than that takes.
func (t mails) insertAdmitted(m ports.Mail, limit ports.MailLimit) error {
	op, row := "insert mail "+m.ID, newMailRow(m)
	if err := t.ExecDeferred(op, tryRecipient, t.recipientLock(m)); err != nil {
		return err
	}
	return t.ExecDeferred(op, admittedMail, row.ID, row.CreatorID, row.Kind, row.Cause, row.Recipient, row.RecipientName,
		row.Data, row.CreatedAt,
		row.CreatorID, row.Recipient, limit.Apart, row.Kind == limit.Apart, limit.Most-1,
		m.CreatedAt.Add(-limit.Window).UnixMilli(), m.CreatedAt.UnixMilli())
}

// recipientLock keys the advisory lock of an address, compared case-insensitively.
func (t mails) recipientLock(m ports.Mail) any {
	return t.Dialect.LockNumber("mail\x00" + m.CreatorID + "\x00" + strings.ToLower(m.Recipient))
}

// ListByID implements ports.Mails.
func (t mails) ListByID(_ context.Context, creatorID string, ids []string) ([]ports.Mail, error) {
	return repo.ListBy(t.Base, "list mails", t.DB.Where("creator_id = ? AND id IN ?", creatorID, ids).Order("id"),
		mailRow.toMail)
}

// Admit implements ports.Mails.
func (t mails) Admit(_ context.Context, m ports.Mail, limit ports.MailLimit, now time.Time) (time.Time, error) {
	op := "admit mail " + m.ID
	if statement := t.Dialect.Lock(); statement != "" {
		if err := t.ExecDeferred(op, statement, t.recipientLock(m)); err != nil {
			return time.Time{}, err
		}
	}
	row, err := repo.TakeOne[mailRow](t.Base, op, "creator_id = ? AND id = ?", m.CreatorID, m.ID)
	if err != nil || !time.Time(row.LeavesAt).IsZero() {
		return time.Time(row.LeavesAt), err
	}
	before, err := repo.QueryRows(t.Base, op, leavingBefore,
		[]any{m.CreatorID, m.Recipient, limit.Apart, m.Kind == limit.Apart, limit.Most - 1},
		func(row repo.Scanner) (at repo.UnixMillis, err error) {
			err = row.Scan(&at)
			return at, err
		})
	if err != nil {
		return time.Time{}, err
	}
	leaves := now
	if len(before) > 0 {
		if free := time.Time(before[0]).Add(limit.Window); free.After(leaves) {
			leaves = free
		}
	}
	return leaves, t.ExecChanged(op, ports.ErrNotFound, "UPDATE mails SET leaves_at = ? WHERE creator_id = ? AND id = ?",
		repo.UnixMillis(leaves), m.CreatorID, m.ID)
}

// Update implements ports.Mails.
func (t mails) Update(_ context.Context, m ports.Mail) error {
	return t.ExecChanged("update mail "+m.ID, ports.ErrNotFound, "UPDATE mails SET sent_at = ?, refused_at = ?, refusal "+
		"= ? WHERE creator_id = ? AND id = ?",
		repo.UnixMillis(m.SentAt), repo.UnixMillis(m.RefusedAt), repo.SanitizeText(m.Refusal, 500), m.CreatorID, m.ID)
}
