package contract

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"sundry/core/appointment"
	"sundry/core/slot"
	"sundry/ports"
)

var bookingTime = time.Date(2026, 6, 15, 9, 0, 0, 0, time.UTC)

// heldReservation returns a held reservation of an hour that begins so many minutes after bookingTime, with buffers
// of 5 and 10 minutes.
func heldReservation(id string, after int) appointment.ReservationState {
	starts := bookingTime.Add(time.Duration(after) * time.Minute)
	return appointment.ReservationState{
		ID: "clm_" + id, CreatorID: creator, ListingID: "lst_1", VariantID: "var_1", CheckoutID: "cs_" + id[:1],
		Position: after / 60,
		Status:   appointment.Held, StartsAt: starts, EndsAt: starts.Add(time.Hour),
		Blocked:  slot.Interval{From: starts.Add(-5 * time.Minute), Until: starts.Add(70 * time.Minute)},
		Timezone: "Asia/Kathmandu", DeliveryMode: appointment.InPerson, CreatedAt: bookingTime.Add(-time.Hour),
		Revision: 1,
	}
}

func take(t *testing.T, store StoreAdapter, all ...appointment.ReservationState) (taken bool) {
	t.Helper()
	atomically(t, store, func(ctx context.Context, r ports.Repos) (err error) {
		taken, err = r.Booking.Reservations.Insert(ctx, all)
		return err
	})
	return taken
}

func saveReservation(t *testing.T, store StoreAdapter, c appointment.ReservationState) error {
	t.Helper()
	return store.Atomically(
		t.Context(), func(ctx context.Context, r ports.Repos) error { return r.Booking.Reservations.Update(ctx, c) },
	)
}

// move runs a transition on a reservation and saves it.
func move(
	t *testing.T, store StoreAdapter, c appointment.ReservationState,
	transition func(*appointment.Reservation) (bool, error),
) appointment.ReservationState {
	t.Helper()
	reservation := appointment.RestoreReservation(c)
	if _, err := transition(reservation); err != nil {
		t.Fatal(err)
	}
	if err := saveReservation(t, store, reservation.State()); err != nil {
		t.Fatal(err)
	}
	return reservation.State()
}

// liveStarts lists the starts of the live reservations of an interval, in minutes after bookingTime.
func liveStarts(t *testing.T, store StoreAdapter, from, until int) string {
	t.Helper()
	at := func(minutes int) time.Time { return bookingTime.Add(time.Duration(minutes) * time.Minute) }
	live, err := store.Read(t.Context()).Booking.Reservations.ListLive(t.Context(), creator, slot.Interval{
		From: at(from), Until: at(until),
	})
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, c := range live {
		all = append(all, fmt.Sprint(int(c.StartsAt.Sub(bookingTime).Minutes())))
	}
	return strings.Join(all, " ")
}

func schedulingComesBackAsItWent(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	get := func() appointment.Setup {
		setup, err := store.Read(t.Context()).Booking.Scheduling.Get(t.Context(), creator)
		if err != nil {
			t.Fatal(err)
		}
		return setup
	}
	if got := get(); !reflect.DeepEqual(got, appointment.Setup{Hours: slot.NoSettings()}) {
		t.Errorf("unsaid: %+v", got)
	}
	hours := slot.Settings{
		Timezone:  "Europe/Paris",
		Weekly:    []slot.WeeklyHours{{Weekday: "monday", Hours: slot.Hours{Start: "22:00", End: "02:00"}}},
		Overrides: []slot.Override{{Date: "2026-06-15", Windows: []slot.Hours{}}},
	}
	meetings := appointment.MeetingSettings{
		Virtual:  &appointment.VirtualMeeting{Provider: appointment.Jitsi},
		InPerson: &appointment.Place{Address: "1 Rue de Rivoli\nParis"},
	}
	for _, set := range []func(ctx context.Context, r ports.Repos) error{
		func(ctx context.Context, r ports.Repos) error {
			return r.Booking.Scheduling.UpdateMeetings(ctx, creator, meetings)
		},
		func(ctx context.Context, r ports.Repos) error {
			return r.Booking.Scheduling.UpdateHours(ctx, creator, slot.NoSettings())
		},
		func(ctx context.Context, r ports.Repos) error {
			return r.Booking.Scheduling.UpdateHours(ctx, creator, hours)
		},
		func(ctx context.Context, r ports.Repos) error {
			return r.Booking.Scheduling.UpdateHours(ctx, "crt_other", slot.NoSettings())
		},
	} {
		atomically(t, store, set)
	}
	if got, want := get(), (appointment.Setup{Hours: hours, Meetings: meetings}); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func theCalendarsVersionRisesWithEachChange(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	l := listingState(1)
	version := func() ports.CalendarVersion {
		t.Helper()
		v, err := store.Read(t.Context()).Booking.Scheduling.GetVersion(t.Context(), l.ID)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	if _, err := store.Read(t.Context()).Booking.Scheduling.GetVersion(t.Context(), l.ID); !errors.Is(err,
		ports.ErrNotFound) {
		t.Errorf("an unknown listing: %v, want %v", err, ports.ErrNotFound)
	}
	atomically(t, store, func(ctx context.Context, r ports.Repos) error { return r.Catalog.Listings.Insert(ctx, l) })
	if got, want := version(), (ports.CalendarVersion{Listing: l.Revision}); got != want {
		t.Errorf("at first: %+v, want %+v", got, want)
	}
	kept := heldReservation("a", 0)
	const calendar = "https://calendar.example.com/a.ics"
	for _, step := range []struct {
		name    string
		changes bool
		do      func(ctx context.Context, r ports.Repos) error
	}{
		{"hours", true, func(ctx context.Context, r ports.Repos) error {
			return r.Booking.Scheduling.UpdateHours(ctx, l.CreatorID, slot.NoSettings())
		}},
		{"places", true, func(ctx context.Context, r ports.Repos) error {
			return r.Booking.Scheduling.UpdateMeetings(ctx, l.CreatorID, appointment.MeetingSettings{})
		}},
		{"another creator's hours", false, func(ctx context.Context, r ports.Repos) error {
			return r.Booking.Scheduling.UpdateHours(ctx, "crt_other", slot.NoSettings())
		}},
		{"a hold", true, func(ctx context.Context, r ports.Repos) error {
			_, err := r.Booking.Reservations.Insert(ctx, []appointment.ReservationState{kept})
			return err
		}},
		{"a hold of a taken time", false, func(ctx context.Context, r ports.Repos) error {
			_, err := r.Booking.Reservations.Insert(ctx, []appointment.ReservationState{heldReservation("b", 0)})
			return err
		}},
		{"its confirmation", false, func(ctx context.Context, r ports.Repos) error {
			kept.Status, kept.Revision = appointment.Confirmed, kept.Revision+1
			return r.Booking.Reservations.Update(ctx, kept)
		}},
		{"its cancellation", true, func(ctx context.Context, r ports.Repos) error {
			kept.Status, kept.Revision = appointment.ReservationCanceled, kept.Revision+1
			return r.Booking.Reservations.Update(ctx, kept)
		}},
		{"a calendar that is not read yet", false, func(ctx context.Context, r ports.Repos) error {
			return r.Booking.BusyCalendars.Update(ctx, l.CreatorID, []string{calendar})
		}},
		{"one that could not be read", false, func(ctx context.Context, r ports.Repos) error {
			return r.Booking.BusyCalendars.UpdateFailure(ctx, l.CreatorID, calendar, "refused", bookingTime)
		}},
		{"its times", true, func(ctx context.Context, r ports.Repos) error {
			return r.Booking.BusyCalendars.UpdateTimes(ctx, l.CreatorID, calendar, nil, bookingTime)
		}},
		{"its times of the same moment", true, func(ctx context.Context, r ports.Repos) error {
			return r.Booking.BusyCalendars.UpdateTimes(ctx, l.CreatorID, calendar, nil, bookingTime)
		}},
		{"no calendar", true, func(ctx context.Context, r ports.Repos) error {
			return r.Booking.BusyCalendars.Update(ctx, l.CreatorID, nil)
		}},
	} {
		before := version()
		atomically(t, store, step.do)
		if after := version(); (after.Creator > before.Creator) != step.changes {
			t.Errorf("%s: version %d became %d", step.name, before.Creator, after.Creator)
		}
	}
}

func aReservationIsReadAsWritten(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	first, second := heldReservation("a1", 0), heldReservation("a2", 120)
	if !take(t, store, second, first) {
		t.Fatal("free time is not taken")
	}
	confirmed := move(t, store, first, (*appointment.Reservation).Confirm)
	got, err := store.Read(t.Context()).Booking.Reservations.ListByCheckout(t.Context(), creator, "cs_a")
	if want := []appointment.ReservationState{confirmed, second}; err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v\n got %+v\nwant %+v", err, got, want)
	}
	for _, other := range [][2]string{{"crt_other", "cs_a"}, {creator, "cs_b"}} {
		if got, err := store.Read(t.Context()).Booking.Reservations.ListByCheckout(t.Context(), other[0],
			other[1]); err != nil || len(got) != 0 {
			t.Errorf("%v: %v, %v", other, got, err)
		}
	}
	stale := appointment.RestoreReservation(first)
	if _, err := stale.Release(); err != nil {
		t.Fatal(err)
	}
	wantError(t, "a stale save", store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
		return r.Booking.Reservations.Update(ctx, stale.State())
	}), ports.ErrStale)
}

func liveReservationsNeverOverlap(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	if !take(t, store, heldReservation("a1", 0)) {
		t.Fatal("free time is not taken")
	}
	otherCreator, otherListing := heldReservation("b1", 0), heldReservation("b2", 0)
	otherCreator.CreatorID, otherListing.ListingID = "crt_other", "lst_2"
	if !take(t, store, otherCreator) {
		t.Error("another creator's time is taken too")
	}
	for name, c := range map[string][]appointment.ReservationState{
		"the same time by another listing": {otherListing},
		"a minute of the break before":     {heldReservation("c1", 74)},
		"a minute of the break after":      {heldReservation("c1", -74)},
		"a pack of which one is free":      {heldReservation("c1", 240), heldReservation("c2", 30)},
		"a pack that overlaps itself":      {heldReservation("c1", 240), heldReservation("c2", 300)},
		"a pack of which the last is not free": {
			heldReservation("c1", -300), heldReservation("c2", -200), heldReservation("c3", 10),
		},
		"a long reservation that begins before":        {spanning("c1", -600, 600)},
		"a short reservation in the middle of another": {spanning("c1", 20, 21)},
	} {
		if take(t, store, c...) {
			t.Errorf("%s is taken twice", name)
		}
	}
	if got := liveStarts(t, store, -1000, 1000); got != "0" {
		t.Errorf("refused reservations left something: %s", got)
	}
	if !take(t, store, heldReservation("d1", -75), heldReservation("d2", 75)) {
		t.Error("what only touches is refused")
	}
}

// spanning returns a reservation without buffers from one minute to another.
func spanning(id string, from, until int) appointment.ReservationState {
	c := heldReservation(id, from)
	c.EndsAt = bookingTime.Add(time.Duration(until) * time.Minute)
	c.Blocked = slot.Interval{From: c.StartsAt, Until: c.EndsAt}
	return c
}

func timeGivenBackIsFreeAndDoesNotComeBackByItself(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	held, confirmed := heldReservation("a1", 0), heldReservation("b1", 240)
	if !take(t, store, held, confirmed) {
		t.Fatal("free time is not taken")
	}
	released := move(t, store, held, (*appointment.Reservation).Release)
	canceled := move(
		t, store, move(t, store, confirmed, (*appointment.Reservation).Confirm), (*appointment.Reservation).Cancel,
	)
	if got := liveStarts(t, store, -1000, 1000); got != "" {
		t.Errorf("still live: %s", got)
	}
	if !take(t, store, heldReservation("c1", 30), heldReservation("c2", 210)) {
		t.Fatal("time released is not free")
	}
	for _, c := range []appointment.ReservationState{released, canceled} {
		c.Status = appointment.Held // no transition does this: the database would not let one either
		c.Revision++
		if err := saveReservation(t, store, c); err == nil {
			t.Errorf("%s came back over another reservation", c.ID)
		}
	}
	if got := liveStarts(t, store, -1000, 1000); got != "30 210" {
		t.Errorf("live: %s", got)
	}
}

func liveReservationsBlockTheInterval(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	if !take(t, store, heldReservation("a1", 0), heldReservation("a2", 120), heldReservation("a3", 240),
		spanning("a4", 1440, 1440+3*1440)) {
		t.Fatal("free time is not taken")
	}
	move(t, store, heldReservation("a2", 120), (*appointment.Reservation).Release)
	for _, c := range []struct {
		from, until int
		want        string
	}{
		{-1000, 10000, "0 240 1440"}, {70, 235, ""}, {69, 235, "0"}, {70, 236, "240"}, {-5, -4, "0"}, {-6, -5, ""},
		{4 * 1440, 4*1440 + 1, ""}, {4*1440 - 1, 4 * 1440, "1440"},
	} {
		if got := liveStarts(t, store, c.from, c.until); got != c.want {
			t.Errorf("from %d until %d: %q, want %q", c.from, c.until, got, c.want)
		}
	}
}

// manyWantTheSameTime has many buyers race for one time without the lock that usually orders them.
func manyWantTheSameTime(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	for name, want := range map[string]func(i int) []appointment.ReservationState{
		"overlapping starts": func(i int) []appointment.ReservationState {
			return []appointment.ReservationState{heldReservation(fmt.Sprintf("a%d", i), i%7*10)}
		},
		"packs in opposite order": func(i int) []appointment.ReservationState {
			one, other := heldReservation(fmt.Sprintf("b%d", i), 1440), heldReservation(fmt.Sprintf("c%d", i), 2880)
			if i%2 == 0 {
				one, other = other, one
			}
			return []appointment.ReservationState{one, other}
		},
	} {
		var wins sync.Map
		var all sync.WaitGroup
		for i := range 32 {
			all.Go(func() {
				err := ports.ErrDatabaseBusy
				for errors.Is(err, ports.ErrDatabaseBusy) { // a buyer who lost on a slow machine tries again
					err = store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
						if err := lockEveryOther(ctx, r, i); err != nil {
							return err
						}
						taken, err := r.Booking.Reservations.Insert(ctx, want(i))
						wins.Store(i, taken)
						return err
					})
				}
				if err != nil {
					t.Errorf("%s: %v", name, err)
				}
			})
		}
		all.Wait()
		won := 0
		for _, taken := range wins.Range {
			if taken == true {
				won++
			}
		}
		if won != 1 {
			t.Errorf("%s: %d won", name, won)
		}
	}
	if overlaps, err := store.Read(t.Context()).Booking.Audit.ListOverlaps(t.Context(), 10); err != nil ||
		len(overlaps) != 0 {
		t.Errorf("overlaps %v, %v", overlaps, err)
	}
}

func lockEveryOther(ctx context.Context, r ports.Repos, i int) error {
	if i%2 == 0 {
		return nil
	}
	return r.Booking.Reservations.Lock(ctx, creator)
}

func anAppointmentComesBackAsItWent(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	second := appointment.State{
		ID: "apt_2", CreatorID: creator, ListingID: "lst_1", VariantID: "var_1", CheckoutID: "cs_1", Position: 1,
		ReservationID:      "clm_2",
		ExternalCustomerID: "user-1", CustomerID: "cus_1", Title: "Coaching", Status: appointment.StatusCanceled,
		StartsAt: bookingTime, EndsAt: bookingTime.Add(time.Hour), Timezone: "Asia/Tokyo",
		DeliveryMode: appointment.Virtual,
		MeetingURL:   "https://meet.example.com", Address: "1 Rue", Sequence: 3, CancelReason: "ill",
		CanceledAt:   bookingTime.Add(-time.Hour),
		RefundPolicy: appointment.RefundPolicy{Promised: true}, CanceledBy: appointment.ByBuyer,
		RefundDecision: appointment.RefundDue, RefundID: "ref_1",
		CreatedAt: bookingTime.Add(-2 * time.Hour), Revision: 1,
	}
	first := second
	first.ID, first.ReservationID, first.Position, first.Status, first.CanceledAt = "apt_3", "clm_3", 0,
		appointment.StatusConfirmed, time.Time{}
	add := func(a appointment.State) error {
		return store.Atomically(
			t.Context(),
			func(ctx context.Context, r ports.Repos) error { return r.Booking.Appointments.Insert(ctx, a) },
		)
	}
	if err := errors.Join(add(second), add(first)); err != nil {
		t.Fatal(err)
	}
	got, err := store.Read(t.Context()).Booking.Appointments.ListByCheckout(t.Context(), creator, "cs_1")
	if want := []appointment.State{first, second}; err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v\n got %+v\nwant %+v", err, got, want)
	}
	again := first
	again.ID, again.ReservationID = "apt_4", "clm_4"
	wantIndex(t, add(again), "appointments_creator_id_checkout_id_position")
	changed := first
	changed.Revision, changed.StartsAt, changed.ReservationID, changed.CancelReason = 2, bookingTime.Add(time.Hour),
		"clm_5", ""
	save := func() error {
		return store.Atomically(
			t.Context(),
			func(ctx context.Context, r ports.Repos) error { return r.Booking.Appointments.Update(ctx, changed) },
		)
	}
	if err := save(); err != nil {
		t.Fatal(err)
	}
	if read, err := store.Read(t.Context()).Booking.Appointments.Get(t.Context(), first.ID); err != nil ||
		!reflect.DeepEqual(read, changed) {
		t.Errorf("%v\n got %+v\nwant %+v", err, read, changed)
	}
	changed.Revision, changed.Title = 4, "lost"
	wantError(t, "a stale save", save(), ports.ErrStale)
	if _, err := store.Read(t.Context()).Booking.Appointments.Get(t.Context(), "apt_none"); !errors.Is(err,
		ports.ErrNotFound) {
		t.Errorf("an unknown one: %v", err)
	}
}

func hostedMeetingsAreKeptByRoom(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	meeting := func(room, creatorID, providerID string, minutes int) appointment.HostedMeeting {
		m := filled[appointment.HostedMeeting]()
		m.Room, m.CreatorID, m.Provider, m.ProviderID, m.Revision = room, creatorID, appointment.Zoom, providerID, 1
		m.CreatedAt = catalogTime.Add(time.Duration(minutes) * time.Minute)
		return m
	}
	unmade := meeting("b", creator, "", 1)
	unmade.StartsAt, unmade.EndsAt = time.Time{}, time.Time{}
	all := []appointment.HostedMeeting{
		meeting("a", creator, "1", 0), unmade, meeting("c", creator, "", 2), meeting("d", "crt_2", "", 3),
	}
	insert := func(m appointment.HostedMeeting) error {
		return store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
			return r.Booking.Meetings.Insert(ctx, m)
		})
	}
	for _, m := range all {
		if err := insert(m); err != nil {
			t.Fatal(err)
		}
	}
	wantError(t, "a second meeting of a room", insert(all[0]), ports.ErrDuplicate)
	changed := all[0]
	changed.URL, changed.Revision = "https://zoom.example.com/j/1", 2
	update := func() error {
		return store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
			return r.Booking.Meetings.Update(ctx, changed)
		})
	}
	if err := update(); err != nil {
		t.Fatal(err)
	}
	changed.Revision = 9
	wantError(t, "a change of another revision", update(), ports.ErrStale)
	changed.Revision = 2
	meetings := store.Read(t.Context()).Booking.Meetings
	for _, want := range []appointment.HostedMeeting{changed, unmade} {
		if got, err := meetings.Get(t.Context(), want.Room); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%+v, %v; want %+v", got, err, want)
		}
	}
	_, err := meetings.Get(t.Context(), "z")
	wantError(t, "an unknown room", err, ports.ErrNotFound)
	found, err := meetings.ListUnmade(t.Context(), creator, appointment.Zoom, 9)
	if err != nil || len(found) != 2 || found[0].Room != "c" || found[1].Room != "b" {
		t.Errorf("unmade are %+v, %v", found, err)
	}
	if found, err := meetings.ListUnmade(t.Context(), creator, appointment.GoogleMeet, 9); err != nil || len(found) != 0 {
		t.Errorf("unmade at another provider are %+v, %v", found, err)
	}
}

func meetingAccountsAreOneAtEachProvider(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	zoom := filled[appointment.MeetingAccount]()
	zoom.CreatorID, zoom.Provider, zoom.Revision = creator, appointment.Zoom, 1
	google, other, again := zoom, zoom, zoom
	google.Provider, google.FailedAt, other.CreatorID = appointment.GoogleMeet, time.Time{}, "crt_2"
	again.Token, again.Name, again.Revision = []byte("another"), "another", 7
	do := func(work func(ctx context.Context, accounts ports.MeetingAccounts) error) error {
		return store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
			return work(ctx, r.Booking.Accounts)
		})
	}
	for _, a := range []appointment.MeetingAccount{zoom, google, other, again} {
		if err := do(func(ctx context.Context, accounts ports.MeetingAccounts) error { return accounts.Put(ctx, a) }); err != nil {
			t.Fatal(err)
		}
	}
	changed := again
	changed.Token, changed.FailedAt, changed.Revision = []byte("renewed"), time.Time{}, 8
	update := func(ctx context.Context, accounts ports.MeetingAccounts) error { return accounts.Update(ctx, changed) }
	if err := do(update); err != nil {
		t.Fatal(err)
	}
	wantError(t, "a change of another revision", do(update), ports.ErrStale)
	accounts := store.Read(t.Context()).Booking.Accounts
	all, err := accounts.List(t.Context(), creator)
	if want := []appointment.MeetingAccount{google, changed}; err != nil || !reflect.DeepEqual(all, want) {
		t.Errorf("%+v, %v; want %+v", all, err, want)
	}
	for range 2 { // nothing is deleted twice
		if err := do(func(ctx context.Context, accounts ports.MeetingAccounts) error {
			return accounts.Delete(ctx, creator, appointment.Zoom)
		}); err != nil {
			t.Fatal(err)
		}
	}
	_, err = accounts.Get(t.Context(), creator, appointment.Zoom)
	wantError(t, "what is deleted", err, ports.ErrNotFound)
	if got, err := accounts.Get(t.Context(), "crt_2", appointment.Zoom); err != nil || !reflect.DeepEqual(got, other) {
		t.Errorf("another creator's is %+v, %v", got, err)
	}
}

func theAuditFindsUnmatchedReservations(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	lone, matched := heldReservation("a1", 0), heldReservation("a2", 240)
	if !take(t, store, lone, matched, heldReservation("a3", 480)) {
		t.Fatal("free time is not taken")
	}
	for _, c := range []appointment.ReservationState{lone, matched} {
		move(t, store, c, (*appointment.Reservation).Confirm)
	}
	atomically(t, store, func(ctx context.Context, r ports.Repos) error {
		for i, reservationID := range []string{matched.ID, "clm_a3", "clm_none"} {
			err := r.Booking.Appointments.Insert(ctx, appointment.State{
				ID: fmt.Sprintf("apt_%d", i), CreatorID: creator, CheckoutID: "cs_a", Position: i,
				ReservationID: reservationID,
				Status:        appointment.StatusConfirmed, StartsAt: matched.StartsAt, EndsAt: matched.EndsAt,
				CreatedAt: bookingTime, Revision: 1,
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	got, err := store.Read(t.Context()).Booking.Audit.ListUnmatched(t.Context(), 10)
	if want := []string{"apt_1", "apt_2", "clm_a1"}; err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
	if got, err := store.Read(t.Context()).Booking.Audit.ListOverlaps(t.Context(), 10); err != nil || len(got) != 0 {
		t.Errorf("overlaps %v, %v", got, err)
	}
}
