package ports

import (
	"context"
	"time"
)

// Mailer hands messages to a mail server.
type Mailer interface {
	Network
	// Send hands over one message. Sending it again, which happens when a process dies before it could note the first,
	// carries the same Message-ID. A *MailRefusedError is final; after any other error it is worth trying again. Errors
	// are short, hold no secret and are fit to be shown to the account.
	Send(ctx context.Context, m Message) error
}

// Message is one mail, rendered.
type Message struct {
	// ID is the mail's id; the Message-ID is made of it.
	ID string
	// To is an address such as grace@example.com; ToName may be empty.
	To, ToName string
	// ReplyTo receives the replies; "" = replies go to the sender, who does not read them.
	ReplyTo, ReplyToName string
	Subject              string
	// Text and HTML are the same content twice.
	Text, HTML  string
	Attachments []Attachment
	Date        time.Time // real time
}

// Attachment is a file that comes with a message.
type Attachment struct {
	// Name is the file's name, such as invite.ics.
	Name        string
	ContentType string // without parameters: text/calendar
	// Method is iTIP's, such as REQUEST or CANCEL, for a calendar that mail clients are to act upon; else empty.
	Method  string
	Content []byte
}

// MailRefusedError means that a message will never be taken: its address does not exist, or its content is unwelcome.
type MailRefusedError struct{ Reason string }

// Error implements error.
func (e *MailRefusedError) Error() string { return "refused: " + e.Reason }
