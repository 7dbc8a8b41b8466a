package ports

import (
	"context"
	"encoding/json"
	"time"
)

// Mailer hands messages to whoever carries them.
type Mailer interface {
	// Send hands over one message. Sending it again, which happens when a process dies before it could note the first,
	// carries the same Message-ID. A *MailRefusedError is final; after any other error it is worth trying again. Errors are
	// short, hold no secret and are fit to be shown to the account.
	Send(ctx context.Context, m Message) error
}

// Message is one mail, rendered.
type Message struct {
	// ID is the mail's id; the Message-ID is made of it.
	ID string
	// To is an address such as grace@example.com; ToName may be empty.
	To, ToName string
	Subject    string
	// Text and HTML say the same twice.
	Text, HTML  string
	Attachments []Attachment
	Date        time.Time // real time
}

// Attachment is a file that comes with a message.
type Attachment struct {
	// Name is what the file is called: invite.ics.
	Name        string
	ContentType string // without parameters: text/calendar
	// Method is iTIP's, such as REQUEST or CANCEL, for a calendar that mail clients are to act upon; else empty.
	Method  string
	Content []byte
}

// MailRefusedError says that a message will never be taken: its address does not exist, or its content is unwelcome.
type MailRefusedError struct{ Reason string }

// Error implements error.
func (e *MailRefusedError) Error() string { return "refused: " + e.Reason }

// Mail is a message that is owed to somebody: what to say, frozen when its cause happened, and what became of it.
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
	// Mail leaves for the world, so its times are real ones.
	CreatedAt time.Time
	SentAt    time.Time // zero until it is sent
	RefusedAt time.Time // zero unless it was refused for good
	Refusal   string    // why
}

// Settled reports whether nothing is left to be done.
func (m Mail) Settled() bool { return !m.SentAt.IsZero() || !m.RefusedAt.IsZero() }

// Mails keeps them.
type Mails interface {
	// Insert writes a new mail; ok is false when there is one of that kind and cause already, which stays as it is.
	Insert(ctx context.Context, m Mail) (ok bool, err error)
	// Find returns a mail of the account. ErrNotFound.
	Find(ctx context.Context, creatorID, mailID string) (Mail, error)
	// Settle writes what became of a mail. ErrNotFound.
	Settle(ctx context.Context, m Mail) error
}
