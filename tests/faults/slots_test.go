package faults

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"sundry/tests/harness"
)

// TestASlotIsSoldOnceWhateverBecomesOfRedis lets 64 buyers at two processes want overlapping hours of one creator,
// again and again, while the locks that make them wait are taken away.
func TestASlotIsSoldOnceWhateverBecomesOfRedis(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]func(t *testing.T, d *Deployment, creatorID string){
		"cut off": func(_ *testing.T, d *Deployment, _ string) { d.Redis.Cut() },
		"emptied": forgetLocks,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := Distributed(t)
			first, second := d.Start(t, "serve", nil), d.Start(t, "serve", nil)
			a := first.App.NewAccount(t)
			other := *a
			other.App = second.App
			listings := []harness.Listing{bookable(t, a), bookable(t, a)}
			starts := openStarts(t, a, listings[0])
			for round := range 3 {
				counts := map[string]int{}
				var mu sync.Mutex
				var all sync.WaitGroup
				for i := range 64 {
					all.Go(func() {
						if i == 20 {
							fault(t, d, a.ID)
						}
						buyer := []*harness.Account{a, &other}[i%2]
						wanted := harness.JSON{
							"listingId": listings[i/2%2].ID, "successUrl": "https://shop.example/thanks",
							"appointmentSlot": harness.JSON{
								"startsAt": starts[4*round+1+i/4%2], "timezone": "Asia/Tokyo",
							},
						}
						response := buyer.AsBackend(t, http.MethodPost, "/v1/checkout-sessions", wanted)
						for response.Status == http.StatusServiceUnavailable { // a slow machine: ask again, as it says
							response = buyer.AsBackend(t, http.MethodPost, "/v1/checkout-sessions", wanted)
						}
						outcome := "201"
						if response.Status != http.StatusCreated {
							outcome = fmt.Sprint(response.Status, " ", response.Refusal(t).Code)
						}
						mu.Lock()
						counts[outcome]++
						mu.Unlock()
					})
				}
				all.Wait()
				if counts["201"] != 1 || counts["400 SLOT_TAKEN"] != 63 {
					t.Errorf("round %d: %v", round, counts)
				}
			}
			d.Verify(t)
		})
	}
}

// forgetLocks empties what Redis knows of a creator's time.
func forgetLocks(t *testing.T, d *Deployment, creatorID string) {
	options, err := redis.ParseURL(d.RedisURL)
	if err != nil {
		t.Error(err)
		return
	}
	client := redis.NewClient(options)
	defer func() { _ = client.Close() }()
	keys, err := client.Keys(t.Context(), "*:slots:"+creatorID).Result()
	if err == nil && len(keys) > 0 {
		err = client.Del(t.Context(), keys...).Err()
	}
	if err != nil {
		t.Error(err)
	}
}

// bookable is a published listing of hours that begin every half hour, every day.
func bookable(t *testing.T, a *harness.Account) harness.Listing {
	t.Helper()
	weekly := []harness.JSON{}
	for _, day := range []string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"} {
		weekly = append(weekly, harness.JSON{"weekday": day, "start": "09:00", "end": "17:00"})
	}
	a.AsCreator(t, http.MethodPut, "/v1/scheduling/availability",
		harness.JSON{"timezone": "Europe/Paris", "weekly": weekly}).Want(t, 200)
	a.AsCreator(t, http.MethodPut, "/v1/scheduling/meeting-settings",
		harness.JSON{"virtual": harness.JSON{"provider": "jitsi"}}).Want(t, 200)
	return a.Published(t, harness.JSON{"type": "APPOINTMENT", "metadata": harness.JSON{
		"slotIntervalMinutes": 30, "horizonDays": 365,
	}})
}

// openStarts are the open times of a listing on a day to come.
func openStarts(t *testing.T, a *harness.Account, l harness.Listing) (starts []string) {
	t.Helper()
	var response struct{ Slots []struct{ StartsAt string } }
	day := time.Now().AddDate(0, 0, 10).Format(time.DateOnly)
	a.Ask(t, harness.Request{Method: http.MethodGet, Path: "/v1/listings/" + l.ID + "/slots",
		Query: map[string][]string{"date": {day}}}).
		Want(t, 200).Into(t, &response)
	for _, slot := range response.Slots {
		starts = append(starts, slot.StartsAt)
	}
	return starts
}
