package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"sync/atomic"
	"time"

	sundry "sundry/sdk/go"
)

// network can be cut off.
type network struct{ down atomic.Bool }

func (n *network) RoundTrip(r *http.Request) (*http.Response, error) {
	if n.down.Load() {
		return nil, errors.New("the network is down")
	}
	return http.DefaultTransport.RoundTrip(r)
}

// must ends the program at the first step that fails.
func must[T any](value T, err error) T {
	do(err)
	return value
}

// do is must for what returns nothing.
func do(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// book opens a session for the first open time of an appointment.
func book(ctx context.Context, c *sundry.Client, listing string) *sundry.Session {
	var open struct {
		Days []struct{ Slots []sundry.Slot }
	}
	day := time.Now().UTC().AddDate(0, 0, 3).Format(time.DateOnly)
	do(c.Do(ctx, http.MethodGet, "/v1/listings/"+listing+"/slots/range?from="+day+"&to="+day+"&timezone=UTC", nil, &open))
	slot := sundry.Slot{StartsAt: open.Days[0].Slots[0].StartsAt, Timezone: "UTC"}
	return must(c.CreateSession(ctx, sundry.NewSession{
		ListingID: listing, AppointmentSlots: []sundry.Slot{slot}, SuccessURL: "https://shop.example/thanks",
	}))
}

// webhook receives a message, and a forged one.
func webhook(ctx context.Context, c *sundry.Client, saw map[string]any) error {
	type message struct {
		header http.Header
		body   []byte
	}
	messages := make(chan message, 10)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		messages <- message{r.Header, body}
	}))
	defer receiver.Close()
	var endpoint struct{ ID, Secret string }
	if err := c.Do(ctx, http.MethodPost, "/v1/webhook-endpoints",
		map[string]any{"url": receiver.URL + "/in", "events": []string{"*"}}, &endpoint); err != nil {
		return err
	}
	if err := c.Do(ctx, http.MethodPost, "/v1/webhook-endpoints/"+endpoint.ID+"/test", nil, nil); err != nil {
		return err
	}
	select {
	case got := <-messages:
		saw["webhook"] = must(sundry.VerifyWebhook(endpoint.Secret, got.header, got.body)).Type
		if _, err := sundry.VerifyWebhook(endpoint.Secret, got.header, append(got.body, ' ')); errors.Is(err, sundry.ErrSignature) {
			saw["forgedWebhook"] = "refused"
		}
	case <-time.After(30 * time.Second):
		return errors.New("no message came")
	}
	return nil
}
