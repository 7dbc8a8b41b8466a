package ports

import (
	"context"
	"encoding/json"
	"time"
)

// MailRepos are the repositories of mail.
type MailRepos struct {
	Mails Mails
}

// Mail is a message to a recipient with the state of its delivery. Its content is frozen when its cause happens.
type Mail struct {
	ID        string
	CreatorID string
	// Kind picks the words.
	Kind string
	// Cause names the occasion of the mail. There is one mail per account, kind and cause.
	Cause         string
	Recipient     string
	RecipientName string
	Data          json.RawMessage
	// Mail is sent to people, so its times are real ones.
	CreatedAt time.Time
	// LeavesAt is the earliest time that it may be sent, which Insert decides.
	LeavesAt  time.Time
	SentAt    time.Time // zero until it is sent
	RefusedAt time.Time // zero unless it was refused permanently
	Refusal   string    // why
}

// Settled reports whether nothing is left to be done.
func (m Mail) Settled() bool { return !m.SentAt.IsZero() || !m.RefusedAt.IsZero() }

// MailLimit bounds the mails of an account to one recipient in a window of time.
type MailLimit struct {
	Most   int
	Window time.Duration
	// Apart is a kind of mails with a limit of their own, so that many of them delay no other mail; "" for none.
	Apart string
}

// Mails keeps them.
type Mails interface {
	// Insert writes a mail unless one of the same account, kind and cause exists, which stays as it is. The mail may
	// leave when it is made, or later where as many others of the account to its recipient as the limit allows leave in
	// the window before. The limit holds at any concurrency.
	Insert(ctx context.Context, m Mail, limit MailLimit) error
	// ListByID returns those of the account's mails that have one of the ids, oldest first.
	ListByID(ctx context.Context, creatorID string, ids []string) ([]Mail, error)
	// ListTo returns the account's mails to an address, whose cases are one, the newest first, at most limit.
	ListTo(ctx context.Context, creatorID, address string, limit int) ([]Mail, error)
	// Update writes the delivery state of a mail. ErrNotFound.
	Update(ctx context.Context, m Mail) error
}

// MailStore is the hot path of sending: what most tasks do at their end, together with those of other callers. Each
// call is a transaction of its own.
type MailStore interface {
	// RecordSettled writes the delivery state of a task's mails and removes the task. ErrFenced when the task is no longer
	// this run's; then nothing is written.
	RecordSettled(ctx context.Context, t Task, mails []Mail) error
}
