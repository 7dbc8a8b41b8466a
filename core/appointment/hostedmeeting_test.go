package appointment_test

import (
	"testing"
	"time"

	"sundry/core/appointment"
)

func TestTheMeetingFollowsItsAppointments(t *testing.T) {
	t.Parallel()
	const here = "https://pay.example.com/m/room"
	at := time.Date(2026, 3, 9, 15, 0, 0, 0, time.UTC)
	confirmed := appointment.State{
		ID: "apt_1", Status: appointment.StatusConfirmed, MeetingURL: here, Title: "Lesson", StartsAt: at,
		EndsAt: at.Add(time.Hour),
	}
	canceled, elsewhere, moved := confirmed, confirmed, confirmed
	canceled.Status, elsewhere.MeetingURL = appointment.StatusCanceled, "https://pay.example.com/m/other"
	moved.StartsAt, moved.EndsAt = at.Add(time.Hour), at.Add(2*time.Hour)
	unmade := appointment.NewHostedMeeting("room", appointment.Zoom, confirmed, at)
	made, _ := unmade.Next(here, []appointment.State{confirmed})
	made.ProviderID, made.URL = "1", "https://zoom.example.com/j/1"
	for name, c := range map[string]struct {
		meeting appointment.HostedMeeting
		all     []appointment.State
		want    appointment.MeetingStep
	}{
		"booked":                            {unmade, []appointment.State{confirmed}, appointment.MakeMeeting},
		"made":                              {made, []appointment.State{confirmed}, appointment.NoStep},
		"moved":                             {made, []appointment.State{moved}, appointment.ChangeMeeting},
		"canceled":                          {made, []appointment.State{canceled}, appointment.DeleteMeeting},
		"canceled before it was made":       {unmade, []appointment.State{canceled}, appointment.NoStep},
		"moved to another meeting":          {made, []appointment.State{elsewhere}, appointment.DeleteMeeting},
		"one of several is canceled":        {made, []appointment.State{canceled, confirmed}, appointment.NoStep},
		"canceled and deleted":              {made.Deleted(), []appointment.State{canceled}, appointment.NoStep},
		"booked again after it was deleted": {made.Deleted(), []appointment.State{confirmed}, appointment.MakeMeeting},
	} {
		next, step := c.meeting.Next(here, c.all)
		if step != c.want {
			t.Errorf("%s: the step is %q, want %q", name, step, c.want)
		}
		if wanted := step == appointment.MakeMeeting || step == appointment.ChangeMeeting; wanted {
			if of := c.all[len(c.all)-1]; next.Title != of.Title || !next.StartsAt.Equal(of.StartsAt) ||
				!next.EndsAt.Equal(of.EndsAt) {
				t.Errorf("%s: the meeting shall be %+v", name, next)
			}
		}
	}
}

func TestNewHostedMeeting_IsTheBuyersOrTheGroups(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 9, 15, 0, 0, 0, time.UTC)
	booked := appointment.State{ID: "apt_1", CreatorID: "crt_1", Title: "Lesson"}
	want := appointment.HostedMeeting{
		Room: "room", CreatorID: "crt_1", Provider: appointment.Zoom, AppointmentID: "apt_1", CreatedAt: at, Revision: 1,
	}
	if got := appointment.NewHostedMeeting("room", appointment.Zoom, booked, at); got != want {
		t.Errorf("of one buyer: %+v, want %+v", got, want)
	}
	booked.GroupID, want.AppointmentID, want.GroupID = "clm_0", "", "clm_0"
	if got := appointment.NewHostedMeeting("room", appointment.Zoom, booked, at); got != want {
		t.Errorf("of a group: %+v, want %+v", got, want)
	}
}
