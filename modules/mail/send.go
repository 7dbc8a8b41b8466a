package mail

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"sundry/core/document"
	"sundry/core/identity"
	"sundry/modules/mail/mailtemplate"
	"sundry/ports"
)

// Send renders the mails of a task and sends them. One that was sent but not recorded is sent again under the same
// Message-ID. A temporary failure has the task run again, for what is left; a permanent one ends the mail and keeps the
// reason. One that the limit on its recipient holds back gets a task of its own. Task TaskSend.
func (s *Service) Send(ctx context.Context, t ports.Task) error {
	mails, err := s.deps.Store.Read(ctx).Mail.Mails.ListByID(ctx, t.CreatorID, strings.Split(t.Subject, ","))
	if err != nil {
		return fmt.Errorf("send mail: %w", err)
	}
	var settled, later []ports.Mail
	var failed error
	for _, m := range mails {
		if m.Settled() {
			continue
		}
		switch m, err = s.send(ctx, m); {
		case err != nil:
			failed = errors.Join(failed, fmt.Errorf("send mail %s: %w", m.ID, err))
		case m.Settled():
			settled = append(settled, m)
		default:
			later = append(later, m)
		}
	}
	again := failed != nil
	switch {
	case again && len(settled) == 0:
		return failed
	case !again && len(later) == 0:
		return s.deps.Mails.RecordSettled(ctx, t, settled) // with those of other tasks
	}
	err = s.deps.Store.Atomically(context.WithoutCancel(ctx), func(ctx context.Context, r ports.Repos) error {
		for _, m := range settled {
			if err := r.Mail.Mails.Update(ctx, m); err != nil {
				return err
			}
		}
		if again {
			return nil
		}
		if err := r.Tasks.Done(ctx, t); err != nil {
			return err
		}
		for _, m := range later {
			if err := r.Tasks.Schedule(ctx, TaskSendLater, m.CreatorID+"/"+m.ID, "", m.LeavesAt); err != nil {
				return err
			}
		}
		return nil
	})
	return errors.Join(failed, err)
}

// send sends a mail and returns it with its outcome. One that may leave only later comes back unsettled.
func (s *Service) send(ctx context.Context, m ports.Mail) (ports.Mail, error) {
	if m.LeavesAt.After(s.deps.Clock.Real()) {
		return m, nil
	}
	message, err := s.message(m)
	if err != nil {
		return m, err
	}
	err = s.deps.Mailer.Send(ctx, message)
	var refused *ports.MailRefusedError
	switch {
	case errors.As(err, &refused):
		m.RefusedAt, m.Refusal = s.deps.Clock.Real(), refused.Reason
	case err != nil:
		return m, err
	default:
		m.SentAt = s.deps.Clock.Real()
	}
	return m, nil
}

// SendLater schedules a mail that waited for the limit. Task TaskSendLater.
func (s *Service) SendLater(ctx context.Context, t ports.Task) error {
	creatorID, mailID, _ := strings.Cut(t.Subject, "/")
	return s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		if err := ports.ScheduleIn(ctx, r, 0, TaskSend, mailID, creatorID); err != nil {
			return err
		}
		return r.Tasks.Done(ctx, t)
	})
}

// message renders a mail from its frozen data.
func (s *Service) message(mail ports.Mail) (ports.Message, error) {
	content, err := mailtemplate.Render(mailtemplate.Kind(mail.Kind), mailtemplate.Site{
		Live: s.cfg.Live, Seller: s.cfg.Seller, Statement: s.cfg.Statement, ReceiptURL: s.deps.Receipts.ReceiptURL,
		ManageURL: s.deps.Bookings.ManageURL,
		PortalURL: func(customerID string) string { return s.portalURL(customerID, mail.Recipient) },
		PaymentReceiptURL: func(id string) string {
			return s.deps.Documents.URL(document.Receipt, id)
		},
		CreditNoteURL:        func(id string) string { return s.deps.Documents.URL(document.CreditNote, id) },
		DashboardURL:         func(path string) string { return s.cfg.BaseURL + "/dashboard" + path },
		ImageURL:             s.deps.Images.ImageURL,
		EmailConfirmationURL: func(l identity.ConfirmationLink) string { return s.deps.Links.EmailConfirmationURL(l) },
		MemberInvitationURL:  func(l identity.MemberLink) string { return s.deps.Links.MemberInvitationURL(l) },
		PasswordResetURL:     func(l identity.ResetLink) string { return s.deps.Links.PasswordResetURL(l) },
	}, mail.Data)
	return ports.Message{
		ReplyTo: content.ReplyTo.Address, ReplyToName: content.ReplyTo.Name,
		ID: mail.ID, To: mail.Recipient, ToName: mail.RecipientName, Subject: content.Subject, Text: content.Text,
		HTML: content.HTML,
		Date: mail.CreatedAt, Attachments: attachments(content.File),
	}, err
}

// attachments are the files that come with a mail.
func attachments(f mailtemplate.File) []ports.Attachment {
	if f.Content == "" {
		return nil
	}
	return []ports.Attachment{
		{Name: "invite.ics", ContentType: "text/calendar", Method: f.Method, Content: []byte(f.Content)},
	}
}

// portalURL is a customer's portal; a link that cannot be made leaves the mail without one.
func (s *Service) portalURL(customerID, recipient string) string {
	address, err := s.deps.Portal.MailedPortalURL(customerID, recipient)
	if err != nil {
		return ""
	}
	return address
}
