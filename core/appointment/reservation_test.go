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

func TestAGroupKeepsTheTimeOfItsFirstSeat(t *testing.T) {
	t.Parallel()
	starts := instant(t, "2026-06-15T10:00:00Z")
	first := ReservationState{
		ID: "clm_1", CreatorID: "crt_1", ListingID: "lst_1", VariantID: "var_1", CheckoutID: "cs_1", Position: 2,
		Status: Confirmed, StartsAt: starts, EndsAt: starts.Add(time.Hour), Timezone: "Asia/Tokyo", DeliveryMode: Virtual,
		GroupID: "clm_0", CreatedAt: starts.Add(-time.Hour), Revision: 3,
	}
	want := ReservationState{
		ID: "clm_2", CreatorID: "crt_1", ListingID: "lst_1", VariantID: "var_1", Status: Held, Seats: 5,
		StartsAt: starts, EndsAt: starts.Add(time.Hour), Timezone: "Asia/Tokyo", DeliveryMode: Virtual,
		CreatedAt: starts.Add(-time.Hour), Revision: 1,
	}
	if got := first.Group("clm_2", 5); got != want || got.IsSeat() || !first.IsSeat() {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestSeatIn_TakesTheFirstFreeNumber(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		taken []int
		want  int
	}{
		"an empty group": {nil, 0}, "one seat taken": {[]int{0}, 1}, "the first is free again": {[]int{1, 2}, 0},
		"one between is free": {[]int{3, 0, 1}, 2}, "in any order": {[]int{2, 1, 0}, 3},
	} {
		var others []ReservationState
		for _, number := range c.taken {
			others = append(others, ReservationState{GroupID: "clm_0", Number: number})
		}
		want := ReservationState{ID: "clm_1", CheckoutID: "cs_1", GroupID: "clm_0", Number: c.want}
		if got := (ReservationState{ID: "clm_1", CheckoutID: "cs_1", Number: 7}).SeatIn("clm_0", others); got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}
