package appointment

import (
	"reflect"
	"testing"
	"time"

	"sundry/core/fault"
	"sundry/core/listing"
)

func booked(t *testing.T, mode DeliveryMode) *Appointment {
	t.Helper()
	starts := instant(t, "2026-06-15T10:00:00Z")
	reservation := ReservationState{
		ID: "clm_1", CreatorID: "crt_1", ListingID: "lst_1", VariantID: "var_1", CheckoutID: "cs_1", Position: 1,
		Status:   Confirmed,
		StartsAt: starts, EndsAt: starts.Add(time.Hour), Timezone: "Asia/Tokyo", DeliveryMode: mode,
	}
	a, event := bookable(1, listing.Metadata{listing.DeliveryMethod: "hybrid"}).
		Book("apt_1", reservation, Buyer{CustomerID: "cus_1", ExternalCustomerID: "user-1"}, "room-1", starts.Add(-time.Hour))
	if !reflect.DeepEqual(event.State, a.State()) || event.EventName() != "appointment.booked" {
		t.Fatalf("%+v", event)
	}
	return a
}

func TestABookedAppointmentSaysWhere(t *testing.T) {
	t.Parallel()
	if s := booked(t, Virtual).State(); s.MeetingURL != "https://meet.example.com/ada" || s.Address != "" ||
		s.Title != "Coaching" ||
		s.ReservationID != "clm_1" || s.Position != 1 || s.Timezone != "Asia/Tokyo" || s.CustomerID != "cus_1" ||
		s.ExternalCustomerID != "user-1" || s.Revision != 1 {
		t.Errorf("virtual: %+v", s)
	}
	if s := booked(t, InPerson).State(); s.MeetingURL != "" || s.Address != "1 Rue de Rivoli" {
		t.Errorf("in person: %+v", s)
	}
	shared := bookable(1, listing.Metadata{listing.DeliveryMethod: "hybrid"})
	shared.SharedURL = "https://pay.example.com/m/group"
	if link, address := shared.location(Virtual, "room-1"); link != shared.SharedURL || address != "" {
		t.Errorf("with others: %q, %q", link, address)
	}
	if link, address := shared.location(InPerson, "room-1"); link != "" || address != "1 Rue de Rivoli" {
		t.Errorf("with others in person: %q, %q", link, address)
	}
	for name, c := range map[string]struct {
		virtual *VirtualMeeting
		want    string
	}{
		"the public server": {&VirtualMeeting{Provider: Jitsi}, "https://meet.jit.si/sundry-room-1"},
		"a private server": {&VirtualMeeting{Provider: Jitsi, URL: "https://jitsi.example.com/team/"},
			"https://jitsi.example.com/team/sundry-room-1"},
		"an account's": {&VirtualMeeting{Provider: Zoom}, "https://pay.example.com/m/room-1"},
		"nowhere":      {nil, ""},
	} {
		if got := (MeetingSettings{Virtual: c.virtual}).link("https://pay.example.com/m/", "room-1"); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestEveryStateOfAnAppointmentHandlesEveryTrigger(t *testing.T) {
	t.Parallel()
	starts := instant(t, "2026-06-15T10:00:00Z")
	moved := ReservationState{ID: "clm_2", StartsAt: starts.Add(48 * time.Hour), EndsAt: starts.Add(49 * time.Hour),
		Timezone: "UTC", DeliveryMode: Virtual}
	for name, c := range map[string]struct {
		canceled bool
		now      time.Time
		allowed  bool
	}{
		"to come":                {false, starts.Add(-time.Millisecond), true},
		"begun":                  {false, starts, false},
		"over":                   {false, starts.Add(time.Hour), false},
		"canceled":               {true, starts.Add(-time.Hour), false},
		"canceled and long over": {true, starts.Add(time.Hour), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for trigger, run := range map[string]func(*Appointment) (State, error){
				"reschedule": func(a *Appointment) (State, error) {
					e, err := a.Reschedule(Bookable{}, moved, "", c.now)
					if err == nil && (!e.PreviousStartsAt.Equal(starts) || e.ReservationID != "clm_2" ||
						!e.StartsAt.Equal(moved.StartsAt) || e.EventName() != "appointment.rescheduled") {
						t.Errorf("%+v", e)
					}
					return e.State, err
				},
				"cancel": func(a *Appointment) (State, error) {
					e, err := a.Cancel(Cancellation{By: ByCreator, Reason: "ill",
						Refund: Refund{Decision: RefundDue, RefundID: "ref_1"}}, c.now)
					if err == nil && (e.Status != StatusCanceled || e.CancelReason != "ill" || e.CanceledBy != ByCreator ||
						e.RefundDecision != RefundDue || e.RefundID != "ref_1" || !e.CanceledAt.Equal(c.now) ||
						e.EventName() != "appointment.canceled") {
						t.Errorf("%+v", e)
					}
					return e.State, err
				},
			} {
				a := booked(t, Virtual)
				if c.canceled {
					if _, err := a.Cancel(Cancellation{By: ByBuyer}, starts.Add(-time.Hour)); err != nil {
						t.Fatal(err)
					}
				}
				before := a.State()
				emitted, err := run(a)
				after := a.State()
				switch {
				case c.allowed && (err != nil || after.Revision != before.Revision+1 || after.Sequence != before.Sequence+1 ||
					!reflect.DeepEqual(emitted, after)):
					t.Errorf("%s: %v, %+v", trigger, err, after)
				case !c.allowed && (!fault.Is(err, fault.StateConflict) || !reflect.DeepEqual(after, before)):
					t.Errorf("%s: %v, %+v", trigger, err, after)
				}
			}
		})
	}
}
