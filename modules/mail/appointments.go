package mail

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"sundry/core/appointment"
	"sundry/core/intake"
	"sundry/modules/mail/mailtemplate"
	"sundry/ports"
)

// change is something that happened to an appointment, as the mails report it.
type change struct {
	appointment.State
	previousStartsAt   time.Time
	toBuyer, toCreator mailtemplate.Kind
	toGuests           mailtemplate.Kind
	method             ports.CalendarMethod
	money              mailtemplate.CanceledMoney // with a cancellation
	// together means that the creator reads of it with another one.
	together bool
	seller   mailtemplate.Party
	look     mailtemplate.Look
	more     []appointment.State // the others that were booked with it
}

func (s *Service) aboutAppointments() []ports.Subscription {
	return []ports.Subscription{
		ports.On(s.OnAppointmentBooked), ports.On(s.OnAppointmentRescheduled), ports.On(s.OnAppointmentCanceled),
		ports.On(s.OnAppointmentReminderDue),
	}
}

// OnAppointmentBooked writes to the buyer and the creator: one mail to each for all times of a pack.
func (s *Service) OnAppointmentBooked(ctx context.Context, r ports.Repos, e appointment.Booked) error {
	if e.Position > 0 {
		return nil // the mail about the first names them all
	}
	return s.mailChange(ctx, r, change{
		State: e.State, toBuyer: mailtemplate.KindAppointmentBooked, toCreator: mailtemplate.KindCreatorBooked,
		toGuests: mailtemplate.KindGuestBooked,
		method:   ports.CalendarRequest,
	})
}

// OnAppointmentRescheduled writes to both of the new time.
func (s *Service) OnAppointmentRescheduled(ctx context.Context, r ports.Repos, e appointment.Rescheduled) error {
	return s.mailChange(ctx, r, change{
		State: e.State, previousStartsAt: e.PreviousStartsAt, toBuyer: mailtemplate.KindAppointmentRescheduled,
		toCreator: mailtemplate.KindCreatorRescheduled, toGuests: mailtemplate.KindGuestRescheduled,
		method: ports.CalendarRequest,
	})
}

// OnAppointmentCanceled writes to both.
func (s *Service) OnAppointmentCanceled(ctx context.Context, r ports.Repos, e appointment.Canceled) error {
	return s.mailChange(ctx, r, change{
		State: e.State, toBuyer: mailtemplate.KindAppointmentCanceled, toCreator: mailtemplate.KindCreatorCanceled,
		toGuests: mailtemplate.KindGuestCanceled,
		method:   ports.CalendarCancel, together: e.Together,
		money: mailtemplate.CanceledMoney{
			Decision: e.RefundDecision, Refunded: e.Refunded, FullHours: e.RefundPolicy.FullHours,
		},
	})
}

// OnAppointmentReminderDue reminds the buyer of an appointment.
func (s *Service) OnAppointmentReminderDue(ctx context.Context, r ports.Repos, e appointment.ReminderDue) error {
	buyer, err := s.deps.Buyers.Buyer(ctx, r, e.CheckoutID)
	if err != nil || buyer.Address == "" {
		return err
	}
	seller, look, err := s.seller(ctx, r, e.CreatorID)
	if err != nil {
		return err
	}
	cause := changeOf(e.State) + "/" + e.Before
	data := mailtemplate.AppointmentOf(e.State, buyer.Name, seller.Name, e.Timezone)
	data.ReplyTo, data.Look, data.Locale = seller, look, buyer.Locale
	return s.enqueue(ctx, r, newDraft(
		e.CreatorID, mailtemplate.KindAppointmentReminder, cause, recipient{buyer.Address, buyer.Name}, data,
	))
}

// changeOf names the appointment's latest change: it has one per sequence number.
func changeOf(a appointment.State) string { return a.ID + "/" + strconv.Itoa(a.Sequence) }

// mailChange enqueues the mails about a change to the buyer, those whom they invited and the creator.
func (s *Service) mailChange(ctx context.Context, r ports.Repos, c change) error {
	name, address, err := s.deps.Accounts.Account(ctx, r, c.CreatorID)
	if err != nil {
		return err
	}
	buyer, err := s.deps.Buyers.Buyer(ctx, r, c.CheckoutID)
	if err != nil {
		return err
	}
	if c.seller, c.look, err = s.seller(ctx, r, c.CreatorID); err != nil {
		return err
	}
	if c.more, err = s.restOfPack(ctx, r, c); err != nil {
		return err
	}
	var mails []draft
	if buyer.Address != "" {
		mails = append(mails, s.toBuyer(c, buyer))
	}
	if mails = append(mails, s.toGuests(c, buyer)...); c.together {
		return s.enqueue(ctx, r, mails...)
	}
	zone, err := s.deps.Bookings.CreatorZone(ctx, r, c.CreatorID)
	if err != nil {
		return err
	}
	data := c.data(name, cmp.Or(buyer.Name, buyer.Address), zone)
	data.Money, data.Intake = c.money, c.Intake
	mails = append(mails, newDraft(c.CreatorID, c.toCreator, changeOf(c.State), recipient{address, name}, data))
	return s.enqueue(ctx, r, mails...)
}

// data takes a mail's words from a change, for a reader in a zone.
func (c change) data(reader, other, timezone string) mailtemplate.Appointment {
	data := mailtemplate.AppointmentOf(c.State, reader, other, timezone)
	data.PreviousStartsAt = c.previousStartsAt
	for _, a := range c.more {
		data.More = append(data.More, mailtemplate.AppointmentOf(a, "", "", timezone))
	}
	return data
}

// restOfPack are the other appointments that were booked with one; none for any later change.
func (s *Service) restOfPack(ctx context.Context, r ports.Repos, c change) ([]appointment.State, error) {
	if c.toBuyer != mailtemplate.KindAppointmentBooked {
		return nil, nil
	}
	pack, err := s.deps.Bookings.Booked(ctx, r, c.CreatorID, c.CheckoutID)
	return slices.DeleteFunc(pack, func(a appointment.State) bool { return a.ID == c.ID }), err
}

// toBuyer returns the buyer's mail, with the calendar file that their calendar acts upon.
func (s *Service) toBuyer(c change, to ports.Addressee) draft {
	data := c.data(to.Name, c.seller.Name, c.Timezone)
	data.ReplyTo, data.Look, data.Locale, data.Money = c.seller, c.look, to.Locale, c.money
	data.File = s.invitation(c, ports.CalendarParty{Name: to.Name, Email: to.Address})
	return newDraft(c.CreatorID, c.toBuyer, changeOf(c.State), recipient{to.Address, to.Name}, data)
}

// invitation is the calendar file of a change for one who comes.
func (s *Service) invitation(c change, attendee ports.CalendarParty) mailtemplate.File {
	entries := make([]ports.CalendarEntry, 0, len(c.more)+1)
	for _, a := range append([]appointment.State{c.State}, c.more...) {
		entry := s.deps.Bookings.CalendarEntry(a)
		entry.Organizer = ports.CalendarParty{Name: c.seller.Name, Email: s.cfg.Sender}
		entry.Attendee = attendee
		entries = append(entries, entry)
	}
	file := s.deps.Calendars.Write(ports.CalendarFile{Method: c.method, Entries: entries})
	return mailtemplate.File{Method: string(c.method), Content: string(file)}
}

// toGuests returns the mails to those whom the buyer invited, who read nothing of what else the buyer wrote.
func (s *Service) toGuests(c change, host ports.Addressee) (mails []draft) {
	guests := c.Intake.Guests
	c.Intake, c.more = intake.Response{}, slices.Clone(c.more)
	for i := range c.more {
		c.more[i].Intake = intake.Response{}
	}
	data := c.data("", c.seller.Name, c.Timezone)
	data.Host, data.Reason = host.Name, ""
	data.ReplyTo, data.Look, data.Locale = c.seller, c.look, host.Locale
	for i, guest := range guests {
		if strings.EqualFold(guest, host.Address) {
			continue // the buyer has a mail of their own
		}
		data.File = s.invitation(c, ports.CalendarParty{Email: guest})
		cause := changeOf(c.State) + "/" + strconv.Itoa(i)
		mails = append(mails, newDraft(c.CreatorID, c.toGuests, cause, recipient{address: guest}, data))
	}
	return mails
}
