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

const once = " ON CONFLICT (creator_id, kind, cause) DO NOTHING"

// Insert implements ports.Mails. On PostgreSQL mails are written right before the commit, so that their recipients are
// locked no longer than that takes.
func (t mails) Insert(_ context.Context, m ports.Mail, limit ports.MailLimit) error {
	row := newMailRow(m)
	switch {
	case !t.OnPostgres():
		return t.InsertRowDeferred("insert mail "+m.ID, &row, once)
	case t.AtCommit == nil:
		return t.write([]admission{{row, limit}})
	}
	*t.writes = append(*t.writes, admission{row, limit})
	t.AtCommit("mails", func() error { return t.write(*t.writes) })
	return nil
}

// write locks the recipients, in one order, and writes the mails.
func (t mails) write(all []admission) error {
	locks := make([]int64, len(all))
	for i, one := range all {
		locks[i] = t.Dialect.LockNumber(recipientLock(one.row.CreatorID, one.row.Recipient))
	}
	slices.Sort(locks)
	const lockAll = "SELECT pg_advisory_xact_lock(n) FROM unnest(CAST(? AS BIGINT[])) AS n"
	if err := t.ExecDeferred("lock recipients", lockAll, slices.Compact(locks)); err != nil {
		return err
	}
	return repo.WriteRuns(all, admission.joins, t.writeTogether)
}

// joins reports whether a mail can be written by one statement with others: each of them is admitted by the mails that
// were written before.
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

// leavingBefore selects the send time of the N-th last mail of an account to a recipient under the limit of a kind;
// the next may leave one window later.
func leavingBefore(creator, recipient, kind string) string {
	return `SELECT leaves_at FROM mails WHERE creator_id = ` + creator + ` AND LOWER(recipient) = LOWER(` + recipient + `)
		AND leaves_at IS NOT NULL AND (kind = CAST(? AS TEXT)) = (` + kind + ` = CAST(? AS TEXT))
		ORDER BY leaves_at DESC LIMIT 1 OFFSET ?`
}

var (
	leavingBeforeOne = leavingBefore("?", "?", "CAST(? AS TEXT)")
	admittedMail     = `INSERT INTO mails (id, creator_id, kind, cause, recipient, recipient_name, data, created_at,
		leaves_at) SELECT column1, column2, column3, column4, column5, column6, column7, column8,
		CASE WHEN COALESCE((` + leavingBefore("column2", "column5", "column3") + `), 0) <= CAST(? AS BIGINT)
			THEN column8 END FROM (VALUES `
)

// writeTogether writes mails of one limit to several recipients. One that the limit allows may leave at once; Admit
// decides of the rest.
func (t mails) writeTogether(all []admission) error {
	limit := all[0].limit
	args := []any{limit.Apart, limit.Apart, limit.Most - 1, time.Time(all[0].row.CreatedAt).Add(-limit.Window).UnixMilli()}
	for _, one := range all {
		row := one.row
		args = append(args, row.ID, row.CreatorID, row.Kind, row.Cause, row.Recipient, row.RecipientName, row.Data,
			row.CreatedAt)
	}
	values := mailValues + strings.Repeat(", "+mailValues, len(all)-1)
	return t.ExecDeferred("insert mail "+all[0].row.ID, admittedMail+values+") AS mail"+once, args...)
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

// Admit implements ports.Mails.
func (t mails) Admit(_ context.Context, m ports.Mail, limit ports.MailLimit, now time.Time) (time.Time, error) {
	op := "admit mail " + m.ID
	if err := t.EnqueueLock(op, recipientLock(m.CreatorID, m.Recipient)); err != nil {
		return time.Time{}, err
	}
	row, err := repo.TakeOne[mailRow](t.Base, op, "id = ?"+ofAccount, m.ID, m.CreatorID)
	if err != nil || !time.Time(row.LeavesAt).IsZero() {
		return time.Time(row.LeavesAt), err
	}
	before, err := repo.QueryRows(t.Base, op, leavingBeforeOne,
		[]any{m.CreatorID, m.Recipient, limit.Apart, m.Kind, limit.Apart, limit.Most - 1},
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
	return leaves, t.ExecChanged(op, ports.ErrNotFound, "UPDATE mails SET leaves_at = ? WHERE id = ?"+ofAccount,
		repo.UnixMillis(leaves), m.ID, m.CreatorID)
}

// Update implements ports.Mails.
func (t mails) Update(_ context.Context, m ports.Mail) error {
	return t.ExecChanged("update mail "+m.ID, ports.ErrNotFound, "UPDATE mails SET sent_at = ?, refused_at = ?, refusal "+
		"= ? WHERE id = ?"+ofAccount,
		repo.UnixMillis(m.SentAt), repo.UnixMillis(m.RefusedAt), repo.SanitizeText(m.Refusal, 500), m.ID, m.CreatorID)
}
