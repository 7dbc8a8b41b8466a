// Package mail writes to people: buyers and creators get a mail for what concerns them. Each one is enqueued in the
// transaction of its cause, with its content frozen, and a task sends it.
package mail

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"sundry/core/apiformat"
	"sundry/core/checkout"
	"sundry/core/id"
	"sundry/core/identity"
	"sundry/core/webhook"
	"sundry/modules/mail/mailtemplate"
	"sundry/ports"
)

// Kinds of tasks.
const (
	// TaskSend sends one mail; its subject is the mail.
	TaskSend = "mail.send"
	// TaskSendLater schedules TaskSend for a mail that the limit held back; its subject is the account, "/" and the mail.
	// It is the platform's task, because limits are on real time and an account's clock must not move them.
	TaskSendLater = "mail.send_later"
)

// MaxPerRecipient is how many mails of an account one recipient gets in an hour; later ones wait.
const MaxPerRecipient = 20

var perRecipient = ports.MailLimit{Most: MaxPerRecipient, Window: time.Hour}

// Config is what differs between deployments.
type Config struct {
	Livemode bool
	// Sender is the address that mail comes from, which calendars know as the organizer.
	Sender string
	// BaseURL is the origin of this deployment.
	BaseURL string
}

// Deps is what the module needs.
type Deps struct {
	Store     ports.Store
	Clock     ports.Clock
	IDs       ports.IDs
	Mailer    ports.Mailer
	Receipts  ports.ReceiptLinks
	Accounts  ports.AccountReader
	Buyers    ports.BuyerReader
	Bookings  ports.AppointmentReader
	Calendars ports.CalendarWriter
	Customers ports.CustomerReader
	Portal    ports.PortalLinks
	Passwords ports.PasswordLinks
	Images    ports.ImageLinks
}

// Service holds the use cases.
type Service struct {
	cfg       Config
	store     ports.Store
	clock     ports.Clock
	ids       ports.IDs
	mailer    ports.Mailer
	receipts  ports.ReceiptLinks
	accounts  ports.AccountReader
	buyers    ports.BuyerReader
	bookings  ports.AppointmentReader
	calendars ports.CalendarWriter
	customers ports.CustomerReader
	portal    ports.PortalLinks
	passwords ports.PasswordLinks
	images    ports.ImageLinks
}

// New returns the module.
func New(cfg Config, d Deps) *Service {
	return &Service{
		cfg: cfg, store: d.Store, clock: d.Clock, ids: d.IDs, mailer: d.Mailer, receipts: d.Receipts, accounts: d.Accounts,
		buyers: d.Buyers, bookings: d.Bookings, calendars: d.Calendars, customers: d.Customers, portal: d.Portal,
		passwords: d.Passwords, images: d.Images,
	}
}

// recipient is whom a mail is for.
type recipient struct{ address, name string }

// enqueueMail writes a mail in the caller's transaction, its data frozen and its task due. A second mail of the same
// kind about the same cause is not written.
func (s *Service) enqueueMail(ctx context.Context, r ports.Repos, m ports.Mail, data any) error {
	raw, err := json.Marshal(data)
	if err != nil {
		return fmt.Errorf("data of the mail %s: %w", m.Kind, err)
	}
	m.ID, m.Data, m.CreatedAt = s.ids.New(id.Mail), raw, s.clock.Real()
	isNew, err := r.Mail.Mails.Insert(ctx, m, perRecipient)
	if err != nil || !isNew {
		return err
	}
	now, err := r.Clock.Now(ctx, m.CreatorID)
	if err != nil {
		return err
	}
	return r.Tasks.Schedule(ctx, TaskSend, m.ID, m.CreatorID, now)
}

// newMail is a mail of the account about a cause, for somebody.
func newMail(creatorID string, kind mailtemplate.Kind, cause string, to recipient) ports.Mail {
	return ports.Mail{CreatorID: creatorID, Kind: string(kind), Cause: cause, Recipient: to.address, RecipientName: to.name}
}

// OnCheckoutPaid enqueues the buyer's receipt, if they gave an address.
func (s *Service) OnCheckoutPaid(ctx context.Context, r ports.Repos, e checkout.Paid) error {
	if e.Email == "" {
		return nil
	}
	seller, look, err := s.seller(ctx, r, e.CreatorID)
	if err != nil {
		return err
	}
	mail := newMail(e.CreatorID, mailtemplate.KindReceipt, e.PaymentID, recipient{e.Email, e.BuyerName})
	data := mailtemplate.ReceiptOf(e, seller.Name)
	data.ReplyTo, data.Look = seller, look
	return s.enqueueMail(ctx, r, mail, data)
}

// BeforeCheckoutPaid reads ahead what OnCheckoutPaid needs.
func (s *Service) BeforeCheckoutPaid(ctx context.Context, r ports.Repos, e checkout.Paid) {
	_, _, _ = s.accounts.Account(ctx, r, e.CreatorID)
}

// seller is whom a buyer's reply reaches, at the creator's support address, else their own, and how their mails look.
func (s *Service) seller(ctx context.Context, r ports.Repos, creatorID string) (mailtemplate.Party, mailtemplate.Look, error) {
	name, address, err := s.accounts.Account(ctx, r, creatorID)
	if err != nil {
		return mailtemplate.Party{}, mailtemplate.Look{}, err
	}
	store, err := s.accounts.Storefront(ctx, r, creatorID)
	look := mailtemplate.Look{LogoURL: store.LogoURL, AccentColor: store.AccentColor}
	return mailtemplate.Party{Name: name, Address: cmp.Or(store.SupportEmail, address)}, look, err
}

// OnEndpointDisabled enqueues a mail to the owner of a webhook endpoint that was disabled. The endpoint's revision names
// this time of several.
func (s *Service) OnEndpointDisabled(ctx context.Context, r ports.Repos, e webhook.Disabled) error {
	name, address, err := s.accounts.Account(ctx, r, e.CreatorID)
	if err != nil {
		return err
	}
	cause := fmt.Sprintf("%s/%d", e.ID, e.Revision)
	mail := newMail(e.CreatorID, mailtemplate.KindEndpointDisabled, cause, recipient{address, name})
	return s.enqueueMail(ctx, r, mail, mailtemplate.EndpointDisabledOf(e, name))
}

// OnPasswordResetAsked mails a creator the link that sets a new password.
func (s *Service) OnPasswordResetAsked(ctx context.Context, r ports.Repos, e identity.PasswordResetAsked) error {
	mail := newMail(e.Link.CreatorID, mailtemplate.KindPasswordReset, apiformat.Instant(e.At), recipient{e.Email, e.Name})
	return s.enqueueMail(ctx, r, mail, mailtemplate.PasswordReset{Link: e.Link})
}
