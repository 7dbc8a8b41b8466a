package e2e_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"sundry/tests/harness"
)

func TestASlotIsSoldOnceHoweverManyWantIt(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		s := newStudio(t, app)
		short, long := s.sells(t, "virtual", harness.JSON{"slotIntervalMinutes": 30}), s.sells(
			t, "virtual", harness.JSON{"slotIntervalMinutes": 15},
		)
		starts := s.open(t, short, "") // 09:00, 09:30, 10:00 …: three neighbours overlap one another's hour
		var all sync.WaitGroup
		statuses := make([]string, 64)
		for i := range statuses {
			l := []harness.Listing{short, long}[i%2]
			all.Go(func() {
				response := s.create(t, s.session(l, harness.JSON{"appointmentSlots": slotsAt(starts, 4+i/2%2)}))
				statuses[i] = fmt.Sprint(response.Status, " ")
				if response.Status != 201 {
					statuses[i] += response.Refusal(t).Code
				}
			})
		}
		all.Wait()
		counts := map[string]int{}
		for _, status := range statuses {
			counts[status]++
		}
		if counts["201 "] != 1 || counts["400 SLOT_TAKEN"] != 63 {
			t.Errorf("responds with %v", counts)
		}
		verified(t, app)
	})
}

func TestPacksInOppositeOrderNeitherShareNorBlock(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		s := newStudio(t, app)
		l := s.sells(t, "virtual", nil)
		variant := s.pack(t, l, 3, 9000)
		starts := s.open(t, l, variant)
		var all sync.WaitGroup
		responses := make([]*harness.Response, 16)
		for i := range responses {
			order := [][]int{{1, 3, 5}, {5, 3, 1}}[i%2]
			all.Go(func() {
				responses[i] = s.create(t, s.session(l, harness.JSON{
					"variantId": variant, "appointmentSlots": slotsAt(starts, order...),
				}))
			})
		}
		all.Wait()
		won := 0
		for _, response := range responses {
			if response.Status == 201 {
				won++
				continue
			}
			response.Refuses(t, 400, "SLOT_TAKEN")
		}
		if now := s.open(t, l, variant); won != 1 || len(now) != 5 {
			t.Errorf("%d packs won; left are %v", won, now)
		}
		verified(t, app)
	})
}

// raceRounds is the number of races between paying and the end of a session, on each engine.
const raceRounds = 400

func TestPayingRacesExpiryAndNothingIsLostOrKept(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		const creators = 4 // at once
		var all sync.WaitGroup
		paid := make([]int, creators)
		for creator := range creators {
			s := newStudio(t, app)
			l := s.sells(t, "virtual", nil)
			starts := s.open(t, l, "")
			all.Go(func() {
				for round := range raceRounds / creators {
					if s.race(t, l, starts, time.Duration(round%8-4)*time.Millisecond) {
						paid[creator]++
						starts = starts[1:] // sold
					}
					if len(starts) == 0 {
						day, _ := time.Parse(time.DateOnly, s.day)
						s.day = day.AddDate(0, 0, 1).Format(time.DateOnly)
						if time.Until(day) > 50*24*time.Hour { // the horizon: another listing of another creator
							s = newStudio(t, app)
							l = s.sells(t, "virtual", nil)
						}
						starts = s.open(t, l, "")
					}
				}
			})
		}
		all.Wait()
		total := 0
		for _, n := range paid {
			total += n
		}
		if total == 0 || total == raceRounds {
			t.Errorf("of %d rounds %d were paid: the race ended one way only", raceRounds, total)
		}
		verified(t, app)
	})
}

// race pays a session and ends it at the same moment, or one a little behind the other, and checks that one of the
// two happened whole.
func (s *studio) race(t *testing.T, l harness.Listing, starts []string, behind time.Duration) (paid bool) {
	session := s.opens(t, s.session(l, harness.JSON{"appointmentSlots": slotsAt(starts, 0)}))
	var both sync.WaitGroup
	var payment, expiry *harness.Response
	both.Go(func() { time.Sleep(behind); payment = s.Pay(t, session, harness.CardSucceeds) })
	both.Go(func() {
		time.Sleep(-behind)
		expiry = s.AsBackend(t, post, "/v1/checkout-sessions/"+session.ID+"/expire", nil)
	})
	both.Wait()
	receipt := s.Receipt(t, session)
	booked, _ := receipt["appointments"].([]any)
	switch receipt["status"] {
	case "paid":
		if len(booked) != 1 || payment.Status != 200 || expiry.Status == 200 {
			t.Errorf("paid, with %v; paying responded with %d, expiring %d", booked, payment.Status, expiry.Status)
		}
		return true
	case "expired":
		if payment.Status == 200 || len(booked) != 0 || receipt["paymentId"] != nil {
			t.Errorf("expired, but paying responded with %d %s", payment.Status, payment.Body)
		}
	case "processing": // each canceled the other: it can still be paid, or expires at its time
		s.AsBackend(t, post, "/v1/checkout-sessions/"+session.ID+"/expire", nil).Want(t, 200)
	default:
		t.Errorf("receipt %v", receipt)
	}
	if now := s.open(t, l, ""); len(now) == 0 || now[0] != starts[0] {
		t.Errorf("not paid, and the time is not free: %v", now)
	}
	return false
}

func TestAGroupIsSoldSeatBySeat(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		s := newStudio(t, app)
		l := s.sells(t, "virtual", nil)
		var made struct{ VariantID string }
		s.AsCreator(t, post, "/v1/listings/"+l.ID+"/variants", harness.JSON{
			"durationMinutes": 60, "seats": 4, "sessionCount": 2,
		}).Refuses(t, 400, "VALIDATION_FAILED", "seats")
		s.AsCreator(t, post, "/v1/listings/"+l.ID+"/variants", harness.JSON{"durationMinutes": 60, "seats": 4}).
			Want(t, 201).Into(t, &made)
		starts := s.open(t, l, made.VariantID)
		var all sync.WaitGroup
		opened := make([]*harness.Response, 16)
		for i := range opened {
			all.Go(func() {
				opened[i] = s.create(t, s.session(l, harness.JSON{
					"variantId": made.VariantID, "appointmentSlots": slotsAt(starts, 2),
					"externalCustomerId": fmt.Sprint("user-", i),
				}))
			})
		}
		all.Wait()
		var sessions []harness.Session
		for _, response := range opened {
			if response.Status != 201 {
				response.Refuses(t, 400, "SLOT_TAKEN")
				continue
			}
			var session harness.Session
			response.Into(t, &session)
			sessions = append(sessions, session)
		}
		if len(sessions) != 4 {
			t.Fatalf("%d have a seat", len(sessions))
		}
		left := func() string {
			shown := ""
			for _, slot := range s.AsBackend(t, get, "/v1/listings/"+l.ID+"/slots?date="+s.day+"&variantId="+made.VariantID, nil).
				Want(t, 200).Map(t)["slots"].([]any) {
				if one := slot.(map[string]any); one["startsAt"] == starts[2] {
					shown = fmt.Sprint(one["remainingSeats"])
				}
			}
			return shown
		}
		if got := left(); got != "" {
			t.Errorf("sold out, %s seats are offered", got)
		}
		s.AsBackend(t, post, "/v1/checkout-sessions/"+sessions[3].ID+"/expire", nil).Want(t, 200)
		if got := left(); got != "1" {
			t.Errorf("%q seats are left of the one that expired", got)
		}
		for _, session := range sessions[:3] {
			s.Pay(t, session, harness.CardSucceeds).Want(t, 200)
		}
		booked := s.Receipt(t, sessions[0])["appointments"].([]any)[0].(map[string]any)
		path := "/v1/appointments/" + booked["id"].(string)
		first := s.AsBackend(t, get, path, nil).Want(t, 200).Map(t)
		page := s.Visit(t).Open(t, "/dashboard/bookings/"+booked["id"].(string))
		if first["groupId"] == nil || !strings.Contains(page.Body, "All 3 buyers of this time") {
			t.Errorf("the appointment is %v", first)
		}
		s.AsBackend(t, post, path+"/cancel", harness.JSON{"wholeTime": true, "reason": "I am ill."}).Want(t, 200)
		workOff(t, s.Account)
		for _, session := range sessions[:3] {
			one := s.Receipt(t, session)["appointments"].([]any)[0].(map[string]any)
			if one["status"] != "canceled" || one["refundId"] == nil {
				t.Errorf("left of the time is %v", one)
			}
		}
		if mails := about(t, app, s.Email, "Canceled: "); len(mails) != 1 {
			t.Errorf("the creator is told %d times", len(mails))
		}
		if got := left(); got != "4" {
			t.Errorf("%q seats are offered of the time that was canceled", got)
		}
		verified(t, app)
	})
}

// TestTheWeekIsInTheOrderOfItsTimes shows a time once, however many share it, and each day from its morning on.
func TestTheWeekIsInTheOrderOfItsTimes(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		s := newStudio(t, app)
		l := s.sells(t, "virtual", nil)
		s.AsCreator(t, post, "/v1/listings/"+l.ID+"/variants",
			harness.JSON{"durationMinutes": 60, "seats": 3, "isDefault": true}).Want(t, 201)
		starts := s.open(t, l, "")
		for _, i := range []int{5, 2, 2, 0} { // 14:00 is booked before 11:00
			body := s.session(l, harness.JSON{"appointmentSlots": slotsAt(starts, i)})
			s.Pay(t, s.opens(t, body), harness.CardSucceeds).Want(t, 200)
		}
		html := s.Visit(t).Open(t, "/dashboard/bookings/week?from="+s.day).Body
		want := []string{"9:00 AM – 10:00 AM", "Type specimens (1)", "11:00 AM – 12:00 PM", "Type specimens (2)",
			"2:00 PM – 3:00 PM", "Type specimens (1)"}
		for _, words := range want {
			_, rest, found := strings.Cut(html, words)
			if !found {
				t.Fatalf("%q does not follow in the week: %s", words, html)
			}
			html = rest
		}
		if strings.Contains(html, "Type specimens") {
			t.Errorf("a time is shown again: %s", html)
		}
	})
}
