package mail

import (
	"context"

	"sundry/adapters/gormstore/repo"
	"sundry/ports"
)

// Outbox implements ports.MailStore.
type Outbox struct {
	engine repo.Engine
	store  ports.Store
	// settled gathers the mails of tasks that are done; nil on SQLite.
	settled *repo.Batcher[settledMails]
}

var _ ports.MailStore = (*Outbox)(nil)

// settledMails are the mails of a task that is done.
type settledMails struct {
	task  ports.Task
	mails []ports.Mail
}

// NewOutbox returns the hot path of sending beside a store of the same engine.
func NewOutbox(engine repo.Engine, store ports.Store) *Outbox {
	s := &Outbox{engine: engine, store: store}
	if engine.Pool != nil {
		s.settled = repo.NewTaskBatcher(
			engine, recordSQL, func(m settledMails) ports.Task { return m.task }, settledColumns,
		)
	}
	return s
}

// RecordSettled implements ports.MailStore.
func (s *Outbox) RecordSettled(ctx context.Context, t ports.Task, mails []ports.Mail) error {
	if s.settled != nil {
		return s.settled.Do(ctx, settledMails{t, mails})
	}
	return s.store.Atomically(context.WithoutCancel(ctx), func(ctx context.Context, r ports.Repos) error {
		for _, m := range mails {
			if err := r.Mail.Mails.Update(ctx, m); err != nil {
				return err
			}
		}
		return r.Tasks.Done(ctx, t)
	})
}

// recordSQL writes the outcomes of mails and ends their tasks, both or neither of each. It returns the tasks.
const recordSQL = `
WITH mine AS MATERIALIZED (
    SELECT t.id FROM (SELECT unnest(@tasks::text[]) AS task, unnest(@tokens::bigint[]) AS token) AS r
        JOIN tasks t ON t.id = r.task AND t.token = r.token
    FOR UPDATE OF t
), ended AS (
    DELETE FROM tasks USING mine WHERE tasks.id = mine.id
), recorded AS (
    UPDATE mails m SET sent_at = s.sent, refused_at = s.refused, refusal = s.refusal
    FROM (SELECT unnest(@of::text[]) AS task, unnest(@creators::text[]) AS creator, unnest(@mails::text[]) AS id,
        unnest(@sent::bigint[]) AS sent, unnest(@refused::bigint[]) AS refused, unnest(@refusals::text[]) AS refusal
    ) AS s
    WHERE m.creator_id = s.creator AND m.id = s.id AND s.task IN (SELECT id FROM mine)
)
SELECT id FROM mine`

// settledColumns are the columns of recordSQL.
func settledColumns(all []settledMails) repo.Columns {
	columns := repo.NewColumns("tasks", "tokens", "of", "creators", "mails", "sent", "refused", "refusals")
	for _, one := range all {
		columns.Add(map[string]any{"tasks": one.task.ID, "tokens": one.task.Token})
		for _, m := range one.mails {
			row := newMailRow(m)
			columns.Add(map[string]any{
				"of": one.task.ID, "creators": row.CreatorID, "mails": row.ID, "sent": row.SentAt, "refused": row.RefusedAt,
				"refusals": repo.SanitizeText(row.Refusal, 500),
			})
		}
	}
	return columns
}
