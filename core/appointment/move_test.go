package appointment

import (
	"slices"
	"strings"
	"testing"
	"time"

	"sundry/core/event"
	"sundry/core/fault"
	"sundry/core/listing"
)

func TestABuyerNamesOnlyWhatChangesOfAnAppointment(t *testing.T) {
	t.Parallel()
	nowhere := func(b *Bookable) { b.Meetings = MeetingSettings{} }
	for name, c := range map[string]struct {
		method string // what the listing offers by now
		has    DeliveryMode
		asked  DeliveryMode
		zone   string
		change func(*Bookable)
		want   DeliveryMode
		code   fault.Code
		faults string
	}{
		"no mode is the one it has":                  {"hybrid", InPerson, "", "UTC", nil, InPerson, "", ""},
		"the other of a hybrid listing":              {"hybrid", InPerson, Virtual, "UTC", nil, Virtual, "", ""},
		"its own, though it is not offered any more": {"virtual", InPerson, InPerson, "UTC", nil, InPerson, "", ""},
		"another that is not offered": {"virtual", Virtual, InPerson, "UTC", nil, "",
			fault.ValidationFailed, "appointmentSlot.deliveryMode:NOT_ALLOWED"},
		"another that has no place": {"hybrid", Virtual, InPerson, "UTC", nowhere, "", fault.NotBookable,
			""},
		"its own, though the settings have no place": {"hybrid", Virtual, "", "UTC", nowhere, Virtual, "", ""},
		"an unknown one": {"hybrid", Virtual, "pigeon", "UTC", nil, "", fault.ValidationFailed,
			"appointmentSlot.deliveryMode:NOT_ALLOWED"},
		"no zone": {"hybrid", Virtual, "", "", nil, "", fault.ValidationFailed,
			"appointmentSlot.timezone:REQUIRED"},
		"a zone that does not exist": {"hybrid", Virtual, "", "Mars/Base", nil, "", fault.InvalidTimezone,
			"appointmentSlot.timezone:INVALID"},
		"a zone that does not exist, and another place": {"hybrid", Virtual, InPerson, "Mars/Base", nowhere, "",
			fault.InvalidTimezone, "appointmentSlot.timezone:INVALID"},
	} {
		b := bookable(1, listing.Metadata{listing.DeliveryMethod: c.method})
		if c.change != nil {
			c.change(&b)
		}
		p := SlotChoice{StartsAt: instant(t, "2026-06-15T09:00:00Z"), Timezone: c.zone, DeliveryMode: c.asked,
			Field: "appointmentSlot"}
		got, err := b.Reselect(State{DeliveryMode: c.has}, p)
		if fault.CodeOf(err) != c.code || faults(err) != c.faults || err == nil && got.DeliveryMode != c.want {
			t.Errorf("%s: %+v, %v: %s", name, got, err, faults(err))
		}
	}
}

func TestAPickOfWhatTheAppointmentIsChangesNothing(t *testing.T) {
	t.Parallel()
	starts := instant(t, "2026-06-15T10:00:00Z")
	a := State{StartsAt: starts, Timezone: "Asia/Tokyo", DeliveryMode: Virtual}
	for name, c := range map[string]struct {
		pick SlotChoice
		want bool
	}{
		"the same": {SlotChoice{StartsAt: starts, Timezone: "Asia/Tokyo", DeliveryMode: Virtual}, true},
		"the same moment in other text": {SlotChoice{StartsAt: instant(t, "2026-06-15T19:00:00+09:00"),
			Timezone: "Asia/Tokyo", DeliveryMode: Virtual}, true},
		"another time": {SlotChoice{StartsAt: starts.Add(time.Hour), Timezone: "Asia/Tokyo", DeliveryMode: Virtual}, false},
		"another zone": {SlotChoice{StartsAt: starts, Timezone: "UTC", DeliveryMode: Virtual}, false},
		"another mode": {SlotChoice{StartsAt: starts, Timezone: "Asia/Tokyo", DeliveryMode: InPerson}, false},
	} {
		if got := a.Unchanged(c.pick); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestAMoveGivesOneTimeBackAndTakesAnother(t *testing.T) {
	t.Parallel()
	now, starts := instant(t, "2026-06-01T00:00:00Z"), instant(t, "2026-06-15T10:00:00Z")
	old := ReservationState{
		ID: "clm_1", VariantID: "var_sold", CheckoutID: "cs_1", Position: 2, Status: Confirmed, StartsAt: starts,
		EndsAt: starts.Add(45 * time.Minute), Revision: 2,
	}
	from := RestoreReservation(old)
	p := SlotChoice{StartsAt: starts.Add(24 * time.Hour), Timezone: "UTC", DeliveryMode: InPerson}
	b := bookable(3, nil).AsSold(old)
	if b.Variant.SessionCount != 1 {
		t.Errorf("one appointment is sold as a pack of %d", b.Variant.SessionCount)
	}
	moved, err := b.Move(from, p, "clm_2", now)
	if err != nil || from.State().Status != ReservationCanceled {
		t.Fatalf("%v, %+v", err, from.State())
	}
	want := b.Hold([]SlotChoice{p}, "cs_1", func() string { return "clm_2" }, now)[0]
	want.Position, want.Status = 2, Confirmed
	if got := moved.State(); got != want || got.VariantID != "var_sold" || got.EndsAt.Sub(got.StartsAt) != 45*time.Minute {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	released := RestoreReservation(ReservationState{Status: Released})
	if next, err := b.Move(released, p, "clm_3", now); !fault.Is(err, fault.StateConflict) || next != nil {
		t.Errorf("time that was released moved: %v, %v", next, err)
	}
}

func TestTheBuyerIsToldTheNewPlaceOnlyWithANewMode(t *testing.T) {
	t.Parallel()
	starts := instant(t, "2026-06-15T10:00:00Z")
	b := bookable(1, listing.Metadata{listing.DeliveryMethod: "hybrid"})
	b.Meetings = MeetingSettings{Virtual: &VirtualMeeting{Provider: Jitsi}, InPerson: &Place{"2 Rue de Rivoli"}}
	for mode, want := range map[DeliveryMode][2]string{Virtual: {"https://meet.example.com/ada", ""},
		InPerson: {"", "2 Rue de Rivoli"}} {
		a := booked(t, Virtual)
		if _, err := a.Reschedule(b, ReservationState{ID: "clm_2", DeliveryMode: mode}, "room-2",
			starts.Add(-time.Hour)); err != nil {
			t.Fatal(err)
		}
		if s := a.State(); s.DeliveryMode != mode || s.MeetingURL != want[0] || s.Address != want[1] {
			t.Errorf("%s: %+v", mode, s)
		}
	}
}

func TestABuyerMovesAnAppointmentTenTimes(t *testing.T) {
	t.Parallel()
	a := booked(t, Virtual)
	for i := range 10 {
		if err := a.MoveByBuyer(a.s.StartsAt, a.s.CreatedAt); err != nil || a.State().BuyerMoves != i+1 {
			t.Fatalf("move %d: %v, counted %d", i+1, err, a.State().BuyerMoves)
		}
	}
	if err := a.MoveByBuyer(a.s.StartsAt, a.s.CreatedAt); !fault.Is(err, fault.LimitReached) || a.State().BuyerMoves != 10 {
		t.Errorf("move 11: %v, counted %d", err, a.State().BuyerMoves)
	}
}

func TestAReasonOfCancelingIsShortPlainText(t *testing.T) {
	t.Parallel()
	for reason, want := range map[string]string{
		"": "", "I am ill.\nSorry": "", strings.Repeat("x", 500): "", strings.Repeat("x", 501): "reason:TOO_LONG",
		"ill\a": "reason:INVALID",
	} {
		if got := faults(CheckReason(reason)); got != want {
			t.Errorf("%.20q: %s, want %s", reason, got, want)
		}
	}
}

func TestRemindersAreNamedByTheirTime(t *testing.T) {
	t.Parallel()
	var names []string
	for name, before := range Reminders {
		names = append(names, name)
		if named, err := time.ParseDuration(name); err != nil || named != before {
			t.Errorf("%s is %s before the appointment", name, before)
		}
	}
	slices.Sort(names)
	if !slices.Equal(names, []string{"1h", "24h"}) {
		t.Errorf("%v", names)
	}
}

// TestWhatSubscribersAreWiredTo holds the names that outbox rows keep while the program is replaced.
func TestWhatSubscribersAreWiredTo(t *testing.T) {
	t.Parallel()
	for want, e := range map[string]event.Event{
		"appointment.booked": Booked{}, "appointment.rescheduled": Rescheduled{}, "appointment.canceled": Canceled{},
		"appointment.all_canceled": AllCanceled{}, "appointment.reminder_due": ReminderDue{},
	} {
		if e.EventName() != want {
			t.Errorf("%T is named %q", e, e.EventName())
		}
	}
}

// A group meets in a room of its own.
func TestWhoLeavesOrJoinsAGroupMeetsElsewhere(t *testing.T) {
	t.Parallel()
	const alone, here, there = "https://meet.example.com/ada", "https://pay.example.com/m/1", "https://pay.example.com/m/2"
	for name, c := range map[string]struct{ from, to, shared, want string }{
		"alone before and after": {"", "", "", here},
		"of another group":       {"clm_1", "clm_2", there, there},
		"the first of a group":   {"", "clm_2", "", alone},
		"into a group":           {"", "clm_2", there, there},
		"out of a group":         {"clm_1", "", "", alone},
	} {
		s := booked(t, Virtual).State()
		s.GroupID, s.MeetingURL = c.from, here
		a, b := Restore(s), bookable(1, listing.Metadata{})
		b.SharedURL = c.shared
		e, err := a.Reschedule(b, ReservationState{ID: "clm_9", GroupID: c.to, DeliveryMode: Virtual}, "room", s.CreatedAt)
		if err != nil || e.MeetingURL != c.want || e.GroupID != c.to {
			t.Errorf("%s: group %q at %s, want %q at %s, %v", name, e.GroupID, e.MeetingURL, c.to, c.want, err)
		}
	}
}
