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

// mailChange enqueues the mails to the buyer and the creator about a change.
func (s *Service) mailChange(ctx context.Context, r ports.Repos, c change) error {
	name, address, err := s.deps.Accounts.Account(ctx, r, c.CreatorID)
	if err != nil {
		return err
	}
	buyer, err := s.deps.Buyers.Buyer(ctx, r, c.CheckoutID)
	if err != nil {
		return err
	}
	var mails []draft
	if buyer.Address != "" {
		mail, err := s.toBuyer(ctx, r, c, buyer)
		if err != nil {
			return err
		}
		mails = append(mails, mail)
	}
	guests, err := s.toGuests(ctx, r, c, buyer)
	if err != nil {
		return err
	}
	if mails = append(mails, guests...); c.together {
		return s.enqueue(ctx, r, mails...)
	}
	zone, err := s.deps.Bookings.CreatorZone(ctx, r, c.CreatorID)
	if err != nil {
		return err
	}
	data := mailtemplate.AppointmentOf(c.State, name, cmp.Or(buyer.Name, buyer.Address), zone)
	data.Money, data.Intake = c.money, c.Intake
	more, err := s.restOfPack(ctx, r, c)
	if err != nil {
		return err
	}
	for _, a := range more {
		data.More = append(data.More, mailtemplate.AppointmentOf(a, "", "", zone))
	}
	data.PreviousStartsAt = c.previousStartsAt
	mails = append(mails, newDraft(c.CreatorID, c.toCreator, changeOf(c.State), recipient{address, name}, data))
	return s.enqueue(ctx, r, mails...)
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
func (s *Service) toBuyer(ctx context.Context, r ports.Repos, c change, to ports.Addressee) (draft, error) {
	seller, look, err := s.seller(ctx, r, c.CreatorID)
	if err != nil {
		return draft{}, err
	}
	more, err := s.restOfPack(ctx, r, c)
	if err != nil {
		return draft{}, err
	}
	data := mailtemplate.AppointmentOf(c.State, to.Name, seller.Name, c.Timezone)
	data.ReplyTo, data.Look, data.Locale, data.Money = seller, look, to.Locale, c.money
	for _, a := range more {
		data.More = append(data.More, mailtemplate.AppointmentOf(a, "", "", c.Timezone))
	}
	data.PreviousStartsAt = c.previousStartsAt
	data.File = s.invitation(c, more, seller.Name, ports.CalendarParty{Name: to.Name, Email: to.Address})
	return newDraft(c.CreatorID, c.toBuyer, changeOf(c.State), recipient{to.Address, to.Name}, data), nil
}

// invitation is the calendar file of a change for one who comes.
func (s *Service) invitation(
	c change, more []appointment.State, seller string, attendee ports.CalendarParty,
) mailtemplate.File {
	entries := make([]ports.CalendarEntry, 0, len(more)+1)
	for _, a := range append([]appointment.State{c.State}, more...) {
		entry := s.deps.Bookings.CalendarEntry(a)
		entry.Organizer = ports.CalendarParty{Name: seller, Email: s.cfg.Sender}
		entry.Attendee = attendee
		entries = append(entries, entry)
	}
	file := s.deps.Calendars.Write(ports.CalendarFile{Method: c.method, Entries: entries})
	return mailtemplate.File{Method: string(c.method), Content: string(file)}
}

// toGuests returns the mails to those whom the buyer invited, who read nothing of what else the buyer wrote.
func (s *Service) toGuests(ctx context.Context, r ports.Repos, c change, host ports.Addressee) ([]draft, error) {
	guests := c.Intake.Guests
	if len(guests) == 0 {
		return nil, nil
	}
	seller, look, err := s.seller(ctx, r, c.CreatorID)
	if err != nil {
		return nil, err
	}
	more, err := s.restOfPack(ctx, r, c)
	if err != nil {
		return nil, err
	}
	c.Intake = intake.Response{}
	data := mailtemplate.AppointmentOf(c.State, "", seller.Name, c.Timezone)
	data.Host, data.Reason, data.PreviousStartsAt = host.Name, "", c.previousStartsAt
	data.ReplyTo, data.Look, data.Locale = seller, look, host.Locale
	for i := range more {
		more[i].Intake = intake.Response{}
		data.More = append(data.More, mailtemplate.AppointmentOf(more[i], "", "", c.Timezone))
	}
	var mails []draft
	for i, guest := range guests {
		if strings.EqualFold(guest, host.Address) {
			continue // the buyer has a mail of their own
		}
		data.File = s.invitation(c, more, seller.Name, ports.CalendarParty{Email: guest})
		cause := changeOf(c.State) + "/" + strconv.Itoa(i)
		mails = append(mails, newDraft(c.CreatorID, c.toGuests, cause, recipient{address: guest}, data))
	}
	return mails, nil
}
