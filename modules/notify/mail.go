package notify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"sundry/core/checkout"
	"sundry/core/id"
	"sundry/core/webhook"
	"sundry/modules/notify/letter"
	"sundry/ports"
)

// TaskMail sends one mail; its subject is the mail.
const TaskMail = "mail.send"

// Post is what the module needs to write to people.
type Post struct {
	Mailer   ports.Mailer
	Receipts ports.ReceiptLinks
	Owners   ports.Owners
	// Buyers, Desk and Calendars are for mail about appointments; Sender is the address that mail comes from, which
	// calendars know as the organizer.
	Buyers    ports.CheckoutBuyers
	Desk      ports.AppointmentDesk
	Calendars ports.CalendarWriter
	Sender    string
}

// addressee is whom a mail is for.
type addressee struct{ address, name string }

// write owes somebody a mail, in the caller's transaction: what it says is frozen, and its task is due. A second mail of
// the same kind about the same cause is none.
func (s *Service) write(ctx context.Context, r ports.Repos, creatorID string, kind letter.Kind, cause string, to addressee, data any) error {
	raw, err := json.Marshal(data)
	if err != nil {
		return fmt.Errorf("data of the mail %s: %w", kind, err)
	}
	mail := ports.Mail{
		ID: s.ids.New(id.Mail), CreatorID: creatorID, Kind: string(kind), Cause: cause, Recipient: to.address, RecipientName: to.name,
		Data: raw, CreatedAt: s.clock.Real(),
	}
	isNew, err := r.Mails.Insert(ctx, mail)
	if err != nil || !isNew {
		return err
	}
	now, err := s.clock.Now(ctx, creatorID)
	if err != nil {
		return err
	}
	return r.Tasks.Schedule(ctx, TaskMail, mail.ID, creatorID, now)
}

// mailReceipt owes the buyer a receipt, if they said where mail reaches them.
func (s *Service) mailReceipt(ctx context.Context, r ports.Repos, e checkout.Paid) error {
	if e.Email == "" {
		return nil
	}
	seller, _, err := s.post.Owners.Owner(ctx, r, e.CreatorID)
	if err != nil {
		return err
	}
	return s.write(ctx, r, e.CreatorID, letter.KindReceipt, e.PaymentID, addressee{e.Email, e.BuyerName}, letter.ReceiptOf(e, seller))
}

// mailDisabled owes the owner of an endpoint word that it was switched off. eventID names this time of several.
func (s *Service) mailDisabled(ctx context.Context, r ports.Repos, e webhook.Disabled, eventID string) error {
	name, address, err := s.post.Owners.Owner(ctx, r, e.CreatorID)
	if err != nil {
		return err
	}
	return s.write(ctx, r, e.CreatorID, letter.KindEndpointDisabled, eventID, addressee{address, name}, letter.EndpointDisabledOf(e, name))
}

// SendMail renders a mail and sends it. What was sent and could not be recorded is sent again, under the same
// Message-ID. What fails is tried again by its row; what is refused for good ends with the reason kept. Task TaskMail.
func (s *Service) SendMail(ctx context.Context, t ports.Task) error {
	mail, err := s.store.Read(ctx).Mails.Find(ctx, t.CreatorID, t.Subject)
	if errors.Is(err, ports.ErrNotFound) || err == nil && mail.Settled() {
		return s.store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error { return r.Tasks.Done(ctx, t) })
	}
	if err != nil {
		return fmt.Errorf("send mail: %w", err)
	}
	words, err := letter.Write(letter.Kind(mail.Kind), letter.Site{
		Sandbox: !s.cfg.Livemode, ReceiptURL: s.post.Receipts.ReceiptURL, ManageURL: s.post.Desk.ManageURL,
	}, mail.Data)
	if err != nil {
		return fmt.Errorf("send mail %s: %w", mail.ID, err)
	}
	err = s.post.Mailer.Send(ctx, ports.Message{
		ID: mail.ID, To: mail.Recipient, ToName: mail.RecipientName, Subject: words.Subject, Text: words.Text, HTML: words.HTML, Date: mail.CreatedAt,
		Attachments: attachments(mail),
	})
	var refused *ports.MailRefusedError
	switch {
	case errors.As(err, &refused):
		mail.RefusedAt, mail.Refusal = s.clock.Real(), refused.Reason
	case err != nil:
		return fmt.Errorf("send mail %s: %w", mail.ID, err)
	default:
		mail.SentAt = s.clock.Real()
	}
	return s.store.Atomically(context.WithoutCancel(ctx), func(ctx context.Context, r ports.Repos) error {
		if err := r.Mails.Settle(ctx, mail); err != nil {
			return err
		}
		return r.Tasks.Done(ctx, t)
	})
}
