// Package mail keeps the messages to be sent.
package mail

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"sundry/adapters/gormstore/repo"
	"sundry/ports"
)

// Repositories returns the area's repositories over the connection of b.
func Repositories(b *repo.Base) ports.MailRepos {
	return ports.MailRepos{Mails: mails{b, new([]admission)}}
}

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

type mails struct {
	*repo.Base
	// writes are those that a transaction writes right before its commit.
	writes *[]admission
}

// admission is a new mail and the limit that it may leave under.
type admission struct {
	row   mailRow
	limit ports.MailLimit
}

// once ends an INSERT from a SELECT, whose ON would be that of a join to SQLite if there were no WHERE.
const once = " WHERE true ON CONFLICT (creator_id, kind, cause) DO NOTHING"

// Insert implements ports.Mails. On PostgreSQL mails are written right before the commit, so that their recipients are
// locked no longer than that takes. SQLite has one writer at a time, which is lock enough.
func (t mails) Insert(_ context.Context, m ports.Mail, limit ports.MailLimit) error {
	one := admission{newMailRow(m), limit}
	if t.AtCommit == nil {
		return t.write([]admission{one})
	}
	*t.writes = append(*t.writes, one)
	t.AtCommit("mails", func() error { return t.write(*t.writes) })
	return nil
}

// write locks the recipients, in one order, and writes the mails.
func (t mails) write(all []admission) error {
	if t.OnPostgres() {
		locks := make([]int64, len(all))
		for i, one := range all {
			locks[i] = t.Dialect.LockNumber(recipientLock(one.row.CreatorID, one.row.Recipient))
		}
		slices.Sort(locks)
		const lockAll = "SELECT pg_advisory_xact_lock(n) FROM unnest(CAST(? AS BIGINT[])) AS n"
		if err := t.ExecDeferred("lock recipients", lockAll, slices.Compact(locks)); err != nil {
			return err
		}
	}
	return repo.WriteRuns(all, admission.joins, t.writeTogether)
}

// joins reports whether a mail can be written by one statement with others: when each may leave depends on the mails
// that were written before.
func (m admission) joins(others []admission) bool {
	return len(others) < mostMails && !slices.ContainsFunc(others, func(o admission) bool {
		return o.limit != m.limit || o.row.CreatorID == m.row.CreatorID &&
			strings.EqualFold(o.row.Recipient, m.row.Recipient)
	})
}

// mostMails bounds the rows of one INSERT, and so how many statements there are to prepare.
const mostMails = 4

const mailValues = "(CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS TEXT), " +
	"CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS BIGINT))"

// insertMails has a mail leave when it is made, but no sooner than one window after that which leaves as many mails of
// the same recipient earlier as the limit allows.
const insertMails = `INSERT INTO mails (id, creator_id, kind, cause, recipient, recipient_name, data, created_at,
		leaves_at)
	SELECT column1, column2, column3, column4, column5, column6, column7, column8, COALESCE((
		SELECT CASE WHEN leaves_at + CAST(? AS BIGINT) > column8 THEN leaves_at + CAST(? AS BIGINT) END FROM mails
		WHERE creator_id = column2 AND LOWER(recipient) = LOWER(column5) AND leaves_at IS NOT NULL
			AND (kind = CAST(? AS TEXT)) = (column3 = CAST(? AS TEXT))
		ORDER BY leaves_at DESC LIMIT 1 OFFSET ?), column8) FROM (VALUES `

// writeTogether writes mails of one limit to several recipients.
func (t mails) writeTogether(all []admission) error {
	limit, window := all[0].limit, all[0].limit.Window.Milliseconds()
	args := []any{window, window, limit.Apart, limit.Apart, limit.Most - 1}
	for _, one := range all {
		row := one.row
		args = append(args, row.ID, row.CreatorID, row.Kind, row.Cause, row.Recipient, row.RecipientName, row.Data,
			row.CreatedAt)
	}
	values := mailValues + strings.Repeat(", "+mailValues, len(all)-1)
	return t.ExecDeferred("insert mail "+all[0].row.ID, insertMails+values+") AS mail"+once, args...)
}

// recipientLock names the advisory lock of an address, compared case-insensitively.
func recipientLock(creatorID, recipient string) string {
	return "mail\x00" + creatorID + "\x00" + strings.ToLower(recipient)
}

// ofAccount narrows rows that are found by the primary key to an account's. It hides the column from the planner, which
// would read all of the account's mails by a plan that it has made while they were few.
const ofAccount = " AND creator_id || '' = ?"

// ListByID implements ports.Mails.
func (t mails) ListByID(_ context.Context, creatorID string, ids []string) ([]ports.Mail, error) {
	return repo.ListBy(t.Base, "list mails", t.DB.Where("id IN ?"+ofAccount, ids, creatorID).Order("id"), mailRow.toMail)
}

// ListTo implements ports.Mails.
func (t mails) ListTo(_ context.Context, creatorID, address string, limit int) ([]ports.Mail, error) {
	return repo.ListBy(t.Base, "list mails to an address", t.DB.Where(
		"creator_id = ? AND LOWER(recipient) = LOWER(?)", creatorID, address,
	).Order("created_at DESC, id DESC").Limit(limit), mailRow.toMail)
}

// Update implements ports.Mails.
func (t mails) Update(_ context.Context, m ports.Mail) error {
	return t.ExecChanged("update mail "+m.ID, ports.ErrNotFound, "UPDATE mails SET sent_at = ?, refused_at = ?, refusal "+
		"= ? WHERE id = ?"+ofAccount,
		repo.UnixMillis(m.SentAt), repo.UnixMillis(m.RefusedAt), repo.SanitizeText(m.Refusal, 500), m.ID, m.CreatorID)
}
