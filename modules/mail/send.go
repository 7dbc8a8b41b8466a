package mail

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"sundry/core/identity"
	"sundry/modules/mail/mailtemplate"
	"sundry/ports"
)

// Send renders a mail and sends it. What was sent and could not be recorded is sent again, under the same Message-ID.
// What fails is tried again by its row; what is refused for good ends with the reason kept. Task TaskSend.
func (s *Service) Send(ctx context.Context, t ports.Task) error {
	mail, err := s.store.Read(ctx).Mail.Mails.Get(ctx, t.CreatorID, t.Subject)
	if errors.Is(err, ports.ErrNotFound) || err == nil && mail.Settled() {
		return s.store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error { return r.Tasks.Done(ctx, t) })
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
	err = s.mailer.Send(ctx, message)
	var refused *ports.MailRefusedError
	switch {
	case errors.As(err, &refused):
		mail.RefusedAt, mail.Refusal = s.clock.Real(), refused.Reason
	case err != nil:
		return fmt.Errorf("send mail %s: %w", mail.ID, err)
	default:
		mail.SentAt = s.clock.Real()
	}
	return s.store.Pipelined(context.WithoutCancel(ctx), func(ctx context.Context, r ports.Repos) error {
		if err := r.Mail.Mails.Update(ctx, mail); err != nil {
			return err
		}
		return r.Tasks.Done(ctx, t)
	})
}

// sendLater ends a run whose recipient has had enough mail of the account for now, with another scheduled for later.
func (s *Service) sendLater(ctx context.Context, t ports.Task, mail ports.Mail) (later bool, err error) {
	now := s.clock.Real()
	if !mail.LeavesAt.IsZero() && !mail.LeavesAt.After(now) {
		return false, nil // admitted with its cause, or before
	}
	err = s.store.Pipelined(ctx, func(ctx context.Context, r ports.Repos) error {
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
	return s.store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
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
		Sandbox: !s.cfg.Livemode, ReceiptURL: s.receipts.ReceiptURL, ManageURL: s.bookings.ManageURL, PortalURL: s.portalURL,
		DashboardURL:     func(path string) string { return s.cfg.BaseURL + "/dashboard" + path },
		ImageURL:         s.images.ImageURL,
		PasswordResetURL: func(l identity.ResetLink) string { return s.passwords.PasswordResetURL(l) },
	}, mail.Data)
	replyTo := replyToOf(mail)
	return ports.Message{
		ReplyTo: replyTo.Address, ReplyToName: replyTo.Name,
		ID: mail.ID, To: mail.Recipient, ToName: mail.RecipientName, Subject: content.Subject, Text: content.Text, HTML: content.HTML,
		Date: mail.CreatedAt, Attachments: attachments(mail),
	}, err
}

// replyToOf is whom a mail's data names for replies.
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
	return []ports.Attachment{{Name: "invite.ics", ContentType: "text/calendar", Method: data.File.Method, Content: []byte(data.File.Content)}}
}

// portalURL is a customer's portal; a link that cannot be made leaves the mail without one.
func (s *Service) portalURL(customerID string) string {
	address, err := s.portal.PortalURL(customerID)
	if err != nil {
		return ""
	}
	return address
}
