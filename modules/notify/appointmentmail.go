package notify

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"sundry/core/appointment"
	"sundry/core/fault"
	"sundry/modules/notify/letter"
	"sundry/ports"
)

// TaskRemind writes one reminder of an appointment; its subject is the appointment and how long before.
const TaskRemind = "appointment.remind"

// reminders are how long before an appointment its buyer is reminded, by their names in tasks.
var reminders = map[string]time.Duration{"24h": 24 * time.Hour, "1h": time.Hour}

// change is something that happened to an appointment, as the mails tell it.
type change struct {
	appointment.State
	previousStartsAt   time.Time
	toBuyer, toCreator letter.Kind
	method             ports.CalendarMethod
}

// mailChange owes the buyer and the creator word of a change. An appointment has one change per sequence number, so
// that number is the cause.
func (s *Service) mailChange(ctx context.Context, r ports.Repos, c change) error {
	name, address, err := s.post.Owners.Owner(ctx, r, c.CreatorID)
	if err != nil {
		return err
	}
	buyerAddress, buyerName, err := s.post.Buyers.Buyer(ctx, r, c.CheckoutID)
	if err != nil {
		return err
	}
	cause := c.ID + "/" + strconv.Itoa(c.Sequence)
	if buyerAddress != "" {
		words := letter.AppointmentOf(c.State, buyerName, name, c.Timezone)
		words.PreviousStartsAt = c.previousStartsAt
		words.File = letter.File{Method: string(c.method), Content: s.invitation(c, name, addressee{buyerAddress, buyerName})}
		if err := s.write(ctx, r, c.CreatorID, c.toBuyer, cause, addressee{buyerAddress, buyerName}, words); err != nil {
			return err
		}
	}
	zone, err := s.post.Desk.CreatorZone(ctx, r, c.CreatorID)
	if err != nil {
		return err
	}
	buyer := buyerName
	if buyer == "" {
		buyer = buyerAddress
	}
	words := letter.AppointmentOf(c.State, name, buyer, zone)
	words.PreviousStartsAt = c.previousStartsAt
	return s.write(ctx, r, c.CreatorID, c.toCreator, cause, addressee{address, name}, words)
}

// invitation is the calendar file that the buyer's calendar acts upon.
func (s *Service) invitation(c change, organizer string, to addressee) string {
	entry := s.post.Desk.CalendarEntry(c.State)
	entry.Organizer = ports.CalendarParty{Name: organizer, Email: s.post.Sender}
	entry.Attendee = ports.CalendarParty{Name: to.name, Email: to.address}
	return string(s.post.Calendars.Write(ports.CalendarFile{Method: c.method, Entries: []ports.CalendarEntry{entry}}))
}

// attachments are the files that a mail's data holds.
func attachments(mail ports.Mail) []ports.Attachment {
	var data struct {
		File letter.File `json:"file"`
	}
	if err := json.Unmarshal(mail.Data, &data); err != nil || data.File.Content == "" {
		return nil // the letter's own reading of the data says what is wrong with it
	}
	return []ports.Attachment{{Name: "invite.ics", ContentType: "text/calendar", Method: data.File.Method, Content: []byte(data.File.Content)}}
}

// scheduleReminders makes the reminders of an appointment due. One whose time has passed already is not sent: whoever books for
// tonight knows. A move moves them, since a task is known by its subject.
func (s *Service) scheduleReminders(ctx context.Context, r ports.Repos, a appointment.State) error {
	now, err := s.clock.Now(ctx, a.CreatorID)
	if err != nil {
		return err
	}
	for name, before := range reminders {
		subject, due := a.ID+"/"+name, a.StartsAt.Add(-before)
		if a.Status != appointment.StatusConfirmed || !due.After(now) {
			err = r.Tasks.Cancel(ctx, TaskRemind, subject)
		} else {
			err = r.Tasks.Schedule(ctx, TaskRemind, subject, a.CreatorID, due)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Remind owes the buyer a reminder of an appointment that is still to come. Task TaskRemind.
func (s *Service) Remind(ctx context.Context, t ports.Task) error {
	appointmentID, name, ok := strings.Cut(t.Subject, "/")
	if _, known := reminders[name]; !ok || !known {
		return fmt.Errorf("remind: %q names no reminder", t.Subject)
	}
	return s.store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		if err := r.Tasks.Done(ctx, t); err != nil {
			return err
		}
		a, err := s.post.Desk.Latest(ctx, r, t.CreatorID, appointmentID)
		if fault.Is(err, fault.NotFoundCode) {
			return nil
		}
		if err != nil {
			return err
		}
		now, err := s.clock.Now(ctx, t.CreatorID)
		if err != nil || appointment.Restore(a).Changeable(now) != nil {
			return err
		}
		address, buyer, err := s.post.Buyers.Buyer(ctx, r, a.CheckoutID)
		if err != nil || address == "" {
			return err
		}
		seller, _, err := s.post.Owners.Owner(ctx, r, t.CreatorID)
		if err != nil {
			return err
		}
		cause := a.ID + "/" + strconv.Itoa(a.Sequence) + "/" + name
		return s.write(ctx, r, t.CreatorID, letter.KindAppointmentReminder, cause, addressee{address, buyer}, letter.AppointmentOf(a, buyer, seller, a.Timezone))
	})
}
