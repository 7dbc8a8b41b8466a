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

// Mail is a message to be sent: its content, frozen when its cause happened, and what became of it.
type Mail struct {
	ID        string
	CreatorID string
	// Kind picks the words.
	Kind string
	// Cause is what the mail is about. There is one mail per account, kind and cause.
	Cause         string
	Recipient     string
	RecipientName string
	Data          json.RawMessage
	// Mail is sent to people, so its times are real ones.
	CreatedAt time.Time
	// LeavesAt is the earliest time that it may be sent; zero until it is admitted.
	LeavesAt  time.Time
	SentAt    time.Time // zero until it is sent
	RefusedAt time.Time // zero unless it was refused for good
	Refusal   string    // why
}

// Settled reports whether nothing is left to be done.
func (m Mail) Settled() bool { return !m.SentAt.IsZero() || !m.RefusedAt.IsZero() }

// MailLimit is how many mails of an account may leave for one recipient in a window of time.
type MailLimit struct {
	Most   int
	Window time.Duration
}

// Mails keeps them.
type Mails interface {
	// Insert writes a new mail; ok is false when there is one of that kind and cause already, which stays as it is. In a
	// pipeline ok is always true: sending a mail that was not written ends without one. There the mail is also admitted at
	// once, as of its creation, where the limit allows it and nobody else admits one to its recipient at that moment.
	Insert(ctx context.Context, m Mail, limit MailLimit) (ok bool, err error)
	// Get returns a mail of the account. ErrNotFound.
	Get(ctx context.Context, creatorID, mailID string) (Mail, error)
	// Admit returns when a mail may be sent: now, or later where as many others of the account to its recipient as the limit
	// allows may leave in the window before. The first call decides it; it locks the recipient, so that the limit holds at
	// any concurrency.
	Admit(ctx context.Context, m Mail, limit MailLimit, now time.Time) (time.Time, error)
	// Update writes what became of a mail. ErrNotFound.
	Update(ctx context.Context, m Mail) error
}
