package mail

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"sundry/core/document"
	"sundry/core/identity"
	"sundry/modules/mail/mailtemplate"
	"sundry/ports"
)

// Send renders a mail and sends it. A mail that was sent but not recorded is sent again under the same Message-ID. A
// temporary failure is retried from its row; a permanent one ends the mail and keeps the reason. Task TaskSend.
func (s *Service) Send(ctx context.Context, t ports.Task) error {
	mail, err := s.deps.Store.Read(ctx).Mail.Mails.Get(ctx, t.CreatorID, t.Subject)
	if errors.Is(err, ports.ErrNotFound) || err == nil && mail.Settled() {
		return s.deps.Store.Atomically(
			ctx, func(ctx context.Context, r ports.Repos) error { return r.Tasks.Done(ctx, t) },
		)
	}
	if err != nil {
		return fmt.Errorf("send mail: %w", err)
	}
	if later, err := s.sendLater(ctx, t, mail); later || err != nil {
		return err
	}
	message, err := s.message(mail)
	if err != nil {
		return fmt.Errorf("send mail %s: %w", mail.ID, err)
	}
	err = s.deps.Mailer.Send(ctx, message)
	var refused *ports.MailRefusedError
	switch {
	case errors.As(err, &refused):
		mail.RefusedAt, mail.Refusal = s.deps.Clock.Real(), refused.Reason
	case err != nil:
		return fmt.Errorf("send mail %s: %w", mail.ID, err)
	default:
		mail.SentAt = s.deps.Clock.Real()
	}
	return s.deps.Store.Atomically(context.WithoutCancel(ctx), func(ctx context.Context, r ports.Repos) error {
		if err := r.Mail.Mails.Update(ctx, mail); err != nil {
			return err
		}
		return r.Tasks.Done(ctx, t)
	})
}

// sendLater ends the run of a mail whose recipient has reached the account's limit, and schedules another run for
// later.
func (s *Service) sendLater(ctx context.Context, t ports.Task, mail ports.Mail) (later bool, err error) {
	now := s.deps.Clock.Real()
	if !mail.LeavesAt.IsZero() && !mail.LeavesAt.After(now) {
		return false, nil // admitted with its cause, or before
	}
	err = s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		leavesAt, err := r.Mail.Mails.Admit(ctx, mail, perRecipient, now)
		if err != nil {
			return err
		}
		if later = leavesAt.After(now); !later {
			return nil
		}
		if err := r.Tasks.Done(ctx, t); err != nil {
			return err
		}
		return r.Tasks.Schedule(ctx, TaskSendLater, mail.CreatorID+"/"+mail.ID, "", leavesAt)
	})
	return later, err
}

// SendLater schedules a mail that waited for the limit. Task TaskSendLater.
func (s *Service) SendLater(ctx context.Context, t ports.Task) error {
	creatorID, mailID, _ := strings.Cut(t.Subject, "/")
	return s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		now, err := r.Clock.Now(ctx, creatorID)
		if err != nil {
			return err
		}
		if err := r.Tasks.Schedule(ctx, TaskSend, mailID, creatorID, now); err != nil {
			return err
		}
		return r.Tasks.Done(ctx, t)
	})
}

// message renders a mail from its frozen data.
func (s *Service) message(mail ports.Mail) (ports.Message, error) {
	content, err := mailtemplate.Render(mailtemplate.Kind(mail.Kind), mailtemplate.Site{
		Sandbox: !s.cfg.Livemode, Seller: s.cfg.Seller, Statement: s.cfg.Statement, ReceiptURL: s.deps.Receipts.ReceiptURL,
		ManageURL:        s.deps.Bookings.ManageURL,
		PortalURL:        s.portalURL,
		CreditNoteURL:    func(id string) string { return s.deps.Documents.URL(document.CreditNote, id) },
		DashboardURL:     func(path string) string { return s.cfg.BaseURL + "/dashboard" + path },
		ImageURL:         s.deps.Images.ImageURL,
		PasswordResetURL: func(l identity.ResetLink) string { return s.deps.Passwords.PasswordResetURL(l) },
	}, mail.Data)
	replyTo := replyToOf(mail)
	return ports.Message{
		ReplyTo: replyTo.Address, ReplyToName: replyTo.Name,
		ID: mail.ID, To: mail.Recipient, ToName: mail.RecipientName, Subject: content.Subject, Text: content.Text,
		HTML: content.HTML,
		Date: mail.CreatedAt, Attachments: attachments(mail),
	}, err
}

// replyToOf returns the party that receives replies to a mail.
func replyToOf(mail ports.Mail) mailtemplate.Party {
	var data struct {
		ReplyTo mailtemplate.Party `json:"replyTo"`
	}
	if err := json.Unmarshal(mail.Data, &data); err != nil {
		return mailtemplate.Party{} // rendering reads the same data and reports what is wrong with it
	}
	return data.ReplyTo
}

// attachments are the files that a mail's data holds.
func attachments(mail ports.Mail) []ports.Attachment {
	var data struct {
		File mailtemplate.File `json:"file"`
	}
	if err := json.Unmarshal(mail.Data, &data); err != nil || data.File.Content == "" {
		return nil // rendering reads the same data and reports what is wrong with it
	}
	return []ports.Attachment{
		{
			Name: "invite.ics", ContentType: "text/calendar", Method: data.File.Method,
			Content: []byte(data.File.Content),
		},
	}
}

// portalURL is a customer's portal; a link that cannot be made leaves the mail without one.
func (s *Service) portalURL(customerID string) string {
	address, err := s.deps.Portal.PortalURL(customerID)
	if err != nil {
		return ""
	}
	return address
}
