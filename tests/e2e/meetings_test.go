package e2e_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sundry/adapters/meetinghosts/meetinghoststest"
	"sundry/bootstrap"
	"sundry/core/appointment"
	"sundry/ports"
	"sundry/tests/harness"
	"sundry/tests/testdb"
)

// hosted is an account whose online appointments are meetings on its own account at a provider, which is a stand-in.
type hosted struct {
	*fixture
	*harness.Visitor
	provider *meetinghoststest.StandIn
}

// meetingAccount connects an account behind the program's back and names its provider.
func (w *fixture) meetingAccount(t *testing.T) (provider string) {
	t.Helper()
	w.Exec(t, `INSERT INTO meeting_accounts (creator_id, provider, name, token, connected_at, revision)
		VALUES ($1, 'zoom', 'ada@example.com', $2, 1, 1)`, w.ID, []byte("sealed"))
	return "zoom"
}

// meetingRoom makes a meeting behind the program's back and names its room.
func (w *fixture) meetingRoom(t *testing.T) (room string) {
	t.Helper()
	room = harness.Unique("room")
	w.Exec(t, `INSERT INTO hosted_meetings (id, creator_id, provider, appointment_id, group_id, provider_id, url, title,
		created_at, revision) VALUES ($1, $2, 'zoom', 'apt_1', '', '1', 'https://zoom.example.com/j/1', 'Lesson', 1, 1)`, room,
		w.ID)
	return room
}

const scheduleSettings = "/dashboard/bookings/settings"

// eachHosted runs the test on each engine, with an account that is connected to Zoom.
func eachHosted(t *testing.T, test func(t *testing.T, h hosted)) {
	t.Helper()
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
		provider := meetinghoststest.Start(t)
		app := harness.With(t, engine, bootstrap.Options{MeetingHosts: provider.Hosts()})
		w := newFixture(t, app)
		h := hosted{w, w.Visit(t), provider}
		w.bookableListing(t) // the hours
		w.AsCreator(t, put, "/v1/scheduling/meeting-settings", harness.JSON{"virtual": harness.JSON{"provider": "zoom"}}).
			Refuses(t, http.StatusBadRequest, "VALIDATION_FAILED", "virtual.provider")
		h.connect(t, "zoom")
		l := w.Published(t, harness.JSON{"type": "APPOINTMENT", "title": "Lesson",
			"metadata": harness.JSON{"deliveryMethod": "hybrid", "horizonDays": 730}})
		w.hours = &l
		w.AsCreator(t, put, "/v1/scheduling/meeting-settings", harness.JSON{
			"virtual": harness.JSON{"provider": "zoom"}, "inPerson": harness.JSON{"address": "350 Fifth Avenue"},
		}).Want(t, 200)
		test(t, h)
	})
}

// connect agrees to what the provider asks, and is led back.
func (h hosted) connect(t *testing.T, provider string) {
	t.Helper()
	if p := h.Open(t, scheduleSettings); !strings.Contains(p.Body, "/bookings/meetings/"+provider+"/connect") {
		t.Fatalf("nothing leads to the consent: %s", p.Body)
	}
	if p := h.Open(t, "/dashboard/bookings/meetings/"+provider+"/connect"); p.Path != scheduleSettings ||
		!strings.Contains(p.Body, "is connected") {
		t.Fatalf("the consent led to %s: %s", p.Path, p.Body)
	}
}

// class makes a listing whose times three buyers share the one that is booked.
func (h hosted) class(t *testing.T) {
	t.Helper()
	l := h.Published(t, harness.JSON{
		"type": "APPOINTMENT", "title": "Class", "metadata": harness.JSON{"deliveryMethod": "virtual", "horizonDays": 730},
	})
	h.AsCreator(t, post, "/v1/listings/"+l.ID+"/variants",
		harness.JSON{"durationMinutes": 60, "seats": 3, "isDefault": true}).Want(t, 201)
	h.hours = &l
}

// joins reports whether a buyer's link leads to the provider's meeting.
func (h hosted) joins(t *testing.T, address string) bool {
	t.Helper()
	response := h.AskAnything(t, harness.Request{Method: get, Path: strings.TrimPrefix(address, h.URL)})
	return response.Status == http.StatusSeeOther &&
		strings.HasPrefix(response.Header.Get("Location"), h.provider.URL+"/j/")
}

func TestAnAppointmentIsAMeetingOnTheCreatorsAccount(t *testing.T) {
	t.Parallel()
	eachHosted(t, func(t *testing.T, h hosted) {
		a := h.booked(t)
		if !strings.HasPrefix(*a.MeetingURL, h.URL+"/m/") {
			t.Fatalf("the link is %s", *a.MeetingURL)
		}
		harness.Eventually(t, "the link leads to the meeting", func() bool { return h.joins(t, *a.MeetingURL) })
		if m := h.provider.Meetings()["1"]; m["topic"] != "Lesson" ||
			m["start_time"] != strings.Replace(a.StartsAt, ".000Z", "Z", 1) || m["duration"] != 60.0 {
			t.Errorf("the meeting is %v", m)
		}
		target := h.openTime(t)
		var moved bookedTime
		h.AsBackend(t, post, "/v1/appointments/"+a.ID+"/reschedule", slotBody(target, nil)).Want(t, 200).Into(t, &moved)
		if *moved.MeetingURL != *a.MeetingURL {
			t.Errorf("the link of a moved appointment is %s, was %s", *moved.MeetingURL, *a.MeetingURL)
		}
		harness.Eventually(t, "the meeting has moved", func() bool {
			return h.provider.Meetings()["1"]["start_time"] == strings.Replace(target, ".000Z", "Z", 1)
		})
		h.provider.Forget() // its owner has deleted it there
		h.AsBackend(t, post, "/v1/appointments/"+a.ID+"/reschedule", slotBody(h.openTime(t), nil)).Want(t, 200)
		harness.Eventually(t, "the meeting is made again", func() bool { return h.provider.Meetings()["2"] != nil })
		h.AsBackend(t, post, "/v1/appointments/"+a.ID+"/cancel", harness.JSON{}).Want(t, 200)
		harness.Eventually(t, "the meeting is gone", func() bool { return len(h.provider.Meetings()) == 0 })
		harness.Eventually(t, "the link opens nothing", func() bool {
			return h.AskAnything(t, harness.Request{
				Method: get, Path: strings.TrimPrefix(*a.MeetingURL, h.URL),
			}).Status == http.StatusNotFound
		})
	})
}

func TestThoseWhoShareATimeShareTheMeeting(t *testing.T) {
	t.Parallel()
	eachHosted(t, func(t *testing.T, h hosted) {
		h.class(t)
		at := h.openTime(t)
		ada, grace := h.bookedAt(t, at), h.bookedAt(t, at)
		if *ada.MeetingURL != *grace.MeetingURL {
			t.Errorf("they meet at %s and %s", *ada.MeetingURL, *grace.MeetingURL)
		}
		harness.Eventually(t, "the link leads to the meeting", func() bool { return h.joins(t, *grace.MeetingURL) })
		h.AsBackend(t, post, "/v1/appointments/"+ada.ID+"/cancel", harness.JSON{}).Want(t, 200)
		begins, err := time.Parse(time.RFC3339, at)
		if err != nil {
			t.Fatal(err)
		}
		var moved bookedTime
		h.AsBackend(t, post, "/v1/appointments/"+grace.ID+"/reschedule",
			slotBody(begins.Add(3*time.Hour).Format(time.RFC3339), nil)).Want(t, 200).Into(t, &moved)
		harness.Eventually(t, "who moves alone has a meeting of their own", func() bool {
			return *moved.MeetingURL != *grace.MeetingURL && h.joins(t, *moved.MeetingURL)
		})
		harness.Eventually(t, "the one that nobody comes to is gone", func() bool { return len(h.provider.Meetings()) == 1 })
	})
}

func TestTheMeetingOfAGroupThatMovedAwayIsGone(t *testing.T) {
	t.Parallel()
	eachHosted(t, func(t *testing.T, h hosted) {
		h.class(t)
		at := h.openTime(t)
		only := h.bookedAt(t, at)
		harness.Eventually(t, "the link leads to the meeting", func() bool { return h.joins(t, *only.MeetingURL) })
		begins, err := time.Parse(time.RFC3339, at)
		if err != nil {
			t.Fatal(err)
		}
		var moved bookedTime
		h.AsBackend(t, post, "/v1/appointments/"+only.ID+"/reschedule",
			slotBody(begins.Add(3*time.Hour).Format(time.RFC3339), nil)).Want(t, 200).Into(t, &moved)
		harness.Eventually(t, "the new link leads to a meeting", func() bool { return h.joins(t, *moved.MeetingURL) })
		harness.Eventually(t, "the former meeting is gone", func() bool {
			return len(h.provider.Meetings()) == 1 && !h.joins(t, *only.MeetingURL)
		})
	})
}

// slowHost has the first creation of a meeting wait until there is a second one.
type slowHost struct {
	ports.MeetingHost
	mu       sync.Mutex
	made     int
	meetings map[string]bool
	first    chan struct{}
	second   chan struct{}
}

// Create implements ports.MeetingHost.
func (s *slowHost) Create(
	_ context.Context, _ *[]byte, m appointment.HostedMeeting,
) (appointment.HostedMeeting, error) {
	s.mu.Lock()
	s.made++
	number := s.made
	m.ProviderID, m.URL = fmt.Sprint(number), fmt.Sprint("https://zoom.example.com/j/", number)
	s.meetings[m.ProviderID] = true
	s.mu.Unlock()
	switch number {
	case 1:
		close(s.first)
		select {
		case <-s.second:
		case <-time.After(20 * time.Second):
		}
	case 2:
		close(s.second)
	}
	return m, nil
}

// Update implements ports.MeetingHost.
func (*slowHost) Update(context.Context, *[]byte, appointment.HostedMeeting) error { return nil }

// Delete implements ports.MeetingHost.
func (s *slowHost) Delete(_ context.Context, _ *[]byte, m appointment.HostedMeeting) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.meetings, m.ProviderID)
	return nil
}

// left are the meetings that are there, and how many were made.
func (s *slowHost) left() (left []string, made int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.meetings)), s.made
}

// TestOneMeetingForTwoWhoBookAtOnce has the second buyer book while the provider makes the meeting for the first.
func TestOneMeetingForTwoWhoBookAtOnce(t *testing.T) {
	t.Parallel()
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
		provider := meetinghoststest.Start(t)
		slow := &slowHost{
			MeetingHost: provider.Hosts()[appointment.Zoom], meetings: map[string]bool{}, first: make(chan struct{}),
			second: make(chan struct{}),
		}
		app := harness.With(t, engine, bootstrap.Options{
			MeetingHosts: map[appointment.Provider]ports.MeetingHost{appointment.Zoom: slow},
		})
		w := newFixture(t, app)
		h := hosted{w, w.Visit(t), provider}
		w.bookableListing(t) // the hours
		h.connect(t, "zoom")
		w.AsCreator(t, put, "/v1/scheduling/meeting-settings", harness.JSON{"virtual": harness.JSON{"provider": "zoom"}}).
			Want(t, 200)
		h.class(t)
		at := h.openTime(t)
		ada := h.bookedAt(t, at)
		<-slow.first
		h.bookedAt(t, at)
		harness.Eventually(t, "one meeting is left, where the link leads", func() bool {
			left, made := slow.left()
			response := h.AskAnything(t, harness.Request{Method: get, Path: strings.TrimPrefix(*ada.MeetingURL, h.URL)})
			return made == 2 && len(left) == 1 && strings.HasSuffix(response.Header.Get("Location"), "/j/"+left[0])
		})
	})
}

func TestAMeetingThatTheProviderCannotMakeYet(t *testing.T) {
	t.Parallel()
	eachHosted(t, func(t *testing.T, h hosted) {
		h.provider.Refuse(true)
		a := h.booked(t)
		page := h.AskAnything(t, harness.Request{Method: get, Path: strings.TrimPrefix(*a.MeetingURL, h.URL)})
		if page.Status != http.StatusOK || !strings.Contains(string(page.Body), "being set up") ||
			!strings.Contains(string(page.Body), "Lesson") {
			t.Errorf("%d %s", page.Status, page.Body)
		}
		harness.Eventually(t, "the dashboard says that the account is refused", func() bool {
			return strings.Contains(h.Open(t, scheduleSettings).Body, "refuses the account")
		})
		var accounts struct {
			Data []struct{ Provider, Name, FailedAt string }
		}
		h.AsCreator(t, get, "/v1/scheduling/meeting-accounts", nil).Want(t, 200).Into(t, &accounts)
		if len(accounts.Data) != 1 || accounts.Data[0].Name != "ada@example.com" || accounts.Data[0].FailedAt == "" {
			t.Errorf("the accounts are %+v", accounts.Data)
		}
		h.provider.Refuse(false)
		h.connect(t, "zoom")
		harness.Eventually(t, "the meeting is made up for", func() bool { return h.joins(t, *a.MeetingURL) })
	})
}

func TestAnAccountIsDisconnected(t *testing.T) {
	t.Parallel()
	eachHosted(t, func(t *testing.T, h hosted) {
		h.AsCreator(t, http.MethodDelete, "/v1/scheduling/meeting-accounts/google_meet", nil).Refuses(t, 404, "NOT_FOUND")
		h.connect(t, "google_meet")
		h.Open(t, scheduleSettings)
		h.Send(t, "/dashboard/bookings/meetings/zoom/disconnect")
		var settings struct{ Virtual *struct{ Provider string } }
		h.AsCreator(t, get, "/v1/scheduling/meeting-settings", nil).Want(t, 200).Into(t, &settings)
		if settings.Virtual != nil {
			t.Errorf("meetings still take place at %s", settings.Virtual.Provider)
		}
		h.AsCreator(t, http.MethodDelete, "/v1/scheduling/meeting-accounts/google_meet", nil).Want(t, 204)
		var accounts struct{ Data []any }
		h.AsCreator(t, get, "/v1/scheduling/meeting-accounts", nil).Want(t, 200).Into(t, &accounts)
		if len(accounts.Data) != 0 {
			t.Errorf("left are %v", accounts.Data)
		}
	})
}

// TestNobodyConnectsTheirAccountToAnothers has an attacker lead a creator to the return address with the attacker's
// code.
func TestNobodyConnectsTheirAccountToAnothers(t *testing.T) {
	t.Parallel()
	eachHosted(t, func(t *testing.T, h hosted) {
		h.AsCreator(t, http.MethodDelete, "/v1/scheduling/meeting-accounts/zoom", nil).Want(t, 204)
		consent, err := url.Parse(h.AskUnjudged(t, harness.Request{
			Method: get, Path: "/dashboard/bookings/meetings/zoom/connect",
			Headers: map[string]string{"Cookie": "sundry_session=" + h.Visit(t).Cookie(t, "sundry_session")},
		}).Want(t, 303).Header.Get("Location"))
		if err != nil {
			t.Fatal(err)
		}
		ofAnotherBrowser := consent.Query().Get("state")
		for _, state := range []string{"", "forged", strings.Repeat("0", 52), ofAnotherBrowser} {
			p := h.Open(t, "/dashboard/bookings/meetings/zoom/connected?code=good&state="+state)
			if !strings.Contains(p.Body, "not opened from your dashboard") {
				t.Errorf("with state %q: %d %s", state, p.Status, p.Body)
			}
		}
		if p := h.Open(t, "/dashboard/bookings/meetings/zoom/connected?error=access_denied"); !strings.Contains(p.Body,
			"did not agree") {
			t.Errorf("a refused consent: %d %s", p.Status, p.Body)
		}
		var accounts struct{ Data []any }
		h.AsCreator(t, get, "/v1/scheduling/meeting-accounts", nil).Want(t, 200).Into(t, &accounts)
		if len(accounts.Data) != 0 {
			t.Errorf("connected are %v", accounts.Data)
		}
	})
}
