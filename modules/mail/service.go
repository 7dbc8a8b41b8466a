// Package mail writes to people: buyers and creators get a mail for what concerns them. Each one is enqueued in the
// transaction of its cause, with its content frozen, and a task sends it.
package mail

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"sundry/core/checkout"
	"sundry/core/document"
	"sundry/core/id"
	"sundry/modules/mail/mailtemplate"
	"sundry/ports"
)

// Kinds of tasks.
const (
	// TaskSend sends the mails about one occasion; its subject is their ids, separated by commas.
	TaskSend = "mail.send"
	// TaskSendLater schedules TaskSend for a mail that the limit held back; its subject is the account, "/" and the
	// mail. It is the platform's task, because limits are on real time and an account's clock must not move them.
	TaskSendLater = "mail.send_later"
)

// MaxPerRecipient bounds the mails of one account to one recipient per hour. Later ones wait.
const MaxPerRecipient = 20

// perRecipient counts new orders apart: a busy day holds up neither the mail of a dispute nor a new password.
var perRecipient = ports.MailLimit{
	Most: MaxPerRecipient, Window: time.Hour, Apart: string(mailtemplate.KindNewOrder),
}

// Config holds the settings that differ between deployments.
type Config struct {
	Live bool
	// Seller is the seller of record, and Statement the text of buyers' card statements.
	Seller, Statement string
	// Sender is the address that mail comes from, which calendars know as the organizer.
	Sender string
	// BaseURL is the origin of this deployment.
	BaseURL string
}

// Deps holds the dependencies of the module.
type Deps struct {
	Store     ports.Store
	Mails     ports.MailStore
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
	Links     ports.AccountLinks
	Images    ports.ImageLinks
	Documents document.Links
}

// Service holds the use cases.
type Service struct {
	cfg  Config
	deps Deps
}

// New returns the module.
func New(cfg Config, d Deps) *Service { return &Service{cfg: cfg, deps: d} }

// Subscriptions lists the events that mails are about.
func (s *Service) Subscriptions() []ports.Subscription {
	return slices.Concat([]ports.Subscription{
		ports.On(s.OnCheckoutPaid), ports.On(s.OnEndpointDisabled), ports.On(s.OnPasswordResetAsked),
		ports.On(s.OnEmailConfirmationAsked), ports.On(s.OnMemberInvitationMade), ports.On(s.OnSecondStepChanged),
	}, s.aboutAppointments(), s.aboutPlans(), s.aboutMoney())
}

// recipient identifies the recipient of a mail.
type recipient struct{ address, name string }

// draft is a mail whose content is still to be frozen.
type draft struct {
	ports.Mail
	data any
}

// enqueue writes mails about one occasion in the caller's transaction, their data frozen and their task due. A second
// mail of the same kind about the same cause is not written: the task does not find it.
func (s *Service) enqueue(ctx context.Context, r ports.Repos, drafts ...draft) error {
	if len(drafts) == 0 {
		return nil
	}
	ids := make([]string, len(drafts))
	for i, d := range drafts {
		raw, err := json.Marshal(d.data)
		if err != nil {
			return fmt.Errorf("data of the mail %s: %w", d.Kind, err)
		}
		d.ID, d.Data, d.CreatedAt = s.deps.IDs.New(id.Mail), raw, s.deps.Clock.Real()
		if err := r.Mail.Mails.Insert(ctx, d.Mail, perRecipient); err != nil {
			return err
		}
		ids[i] = d.ID
	}
	return ports.ScheduleIn(ctx, r, 0, TaskSend, strings.Join(ids, ","), drafts[0].CreatorID)
}

// newDraft returns a mail of the account about a cause, to a recipient.
func newDraft(creatorID string, kind mailtemplate.Kind, cause string, to recipient, data any) draft {
	return draft{ports.Mail{
		CreatorID: creatorID, Kind: string(kind), Cause: cause, Recipient: to.address, RecipientName: to.name,
	}, data}
}

// OnCheckoutPaid enqueues the buyer's receipt, if they gave an address, and the creator's mail about the order.
func (s *Service) OnCheckoutPaid(ctx context.Context, r ports.Repos, e checkout.Paid) error {
	mails, err := s.orderMail(ctx, r, e)
	if err != nil {
		return err
	}
	if e.Email != "" {
		seller, look, err := s.seller(ctx, r, e.CreatorID)
		if err != nil {
			return err
		}
		data := mailtemplate.ReceiptOf(e, seller.Name)
		data.ReplyTo, data.Look = seller, look
		if e.Consent != nil {
			if data.RefundPolicy, err = s.deps.Accounts.RefundPolicy(ctx, r, e.CreatorID, e.Consent.RefundPolicy); err != nil {
				return err
			}
		}
		to := recipient{e.Email, e.BuyerName}
		mails = append(mails, newDraft(e.CreatorID, mailtemplate.KindReceipt, e.PaymentID, to, data))
	}
	return s.enqueue(ctx, r, mails...)
}

// seller returns the party that receives a buyer's reply (the support address, else the creator's own) and the
// branding of the creator's mails.
func (s *Service) seller(
	ctx context.Context, r ports.Repos, creatorID string,
) (mailtemplate.Party, mailtemplate.Look, error) {
	name, address, err := s.deps.Accounts.Account(ctx, r, creatorID)
	if err != nil {
		return mailtemplate.Party{}, mailtemplate.Look{}, err
	}
	store, err := s.deps.Accounts.Storefront(ctx, r, creatorID)
	look := mailtemplate.Look{LogoURL: store.LogoURL, AccentColor: store.AccentColor}
	return mailtemplate.Party{Name: name, Address: cmp.Or(store.SupportEmail, address)}, look, err
}
