package appointment

import (
	"testing"
	"time"

	"sundry/core/fault"
)

func TestEveryStateOfAClaimHandlesEveryTrigger(t *testing.T) {
	t.Parallel()
	triggers := map[string]func(*Reservation) (bool, error){"confirm": (*Reservation).Confirm,
		"release": (*Reservation).Release, "cancel": (*Reservation).Cancel}
	for _, c := range []struct {
		from    ReservationStatus
		trigger string
		to      ReservationStatus // "" = refused
	}{
		{Held, "confirm", Confirmed}, {Held, "release", Released}, {Held, "cancel", ""},
		{Confirmed, "confirm", Confirmed}, {Confirmed, "release", ""}, {Confirmed, "cancel", ReservationCanceled},
		{Released, "confirm", ""}, {Released, "release", Released}, {Released, "cancel", ""},
		{ReservationCanceled, "confirm", ""}, {ReservationCanceled, "release", ""},
		{ReservationCanceled, "cancel", ReservationCanceled},
	} {
		before := ReservationState{ID: "clm_1", Status: c.from, Revision: 3}
		reservation := RestoreReservation(before)
		changed, err := triggers[c.trigger](reservation)
		after := reservation.State()
		switch {
		case c.to == "" && (changed || !fault.Is(err, fault.StateConflict) || after != before):
			t.Errorf("%s a %s reservation: %v, %+v", c.trigger, c.from, err, after)
		case c.to == c.from && (changed || err != nil || after != before):
			t.Errorf("%s a %s reservation again: %v, %+v", c.trigger, c.from, err, after)
		case c.to != "" && c.to != c.from && (!changed || err != nil || after.Status != c.to || after.Revision != 4):
			t.Errorf("%s a %s reservation: %v, %+v", c.trigger, c.from, err, after)
		}
		if live := c.from == Held || c.from == Confirmed; c.from.Live() != live {
			t.Errorf("%s keeps the time: %v", c.from, !live)
		}
	}
}

func TestANewHoldIsAReservationOfTheSameTime(t *testing.T) {
	t.Parallel()
	now := instant(t, "2026-06-15T10:00:00Z")
	old := ReservationState{ID: "clm_1", Status: Released, StartsAt: now.Add(time.Hour), Position: 2, Revision: 2}
	next := RestoreReservation(old).NewHold("clm_2", now).State()
	if next.ID != "clm_2" || next.Status != Held || next.Revision != 1 || !next.StartsAt.Equal(old.StartsAt) ||
		next.Position != 2 || !next.CreatedAt.Equal(now) {
		t.Errorf("%+v", next)
	}
}
