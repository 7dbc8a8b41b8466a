package booking_test

import (
	"context"
	"testing"
	"time"

	"sundry/core/appointment"
	"sundry/core/fault"
	"sundry/modules/booking"
	"sundry/ports"
	"sundry/tests/testdb"
)

// heldStore calls meanwhile once, when an account at a provider of meetings has been found.
type heldStore struct {
	ports.Store
	meanwhile func()
}

func (s *heldStore) Atomically(ctx context.Context, fn func(ctx context.Context, r ports.Repos) error) error {
	return s.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		r.Booking.Accounts = heldAccounts{r.Booking.Accounts, s}
		return fn(ctx, r)
	})
}

type heldAccounts struct {
	ports.MeetingAccounts
	store *heldStore
}

func (a heldAccounts) Get(
	ctx context.Context, creatorID string, provider appointment.Provider,
) (appointment.MeetingAccount, error) {
	found, err := a.MeetingAccounts.Get(ctx, creatorID, provider)
	if meanwhile := a.store.meanwhile; meanwhile != nil {
		a.store.meanwhile = nil
		meanwhile()
	}
	return found, err
}

// Meetings set on an account that is disconnected at the same time would get no link. This is of PostgreSQL alone:
// SQLite has one writer at a time.
func TestMeetingsAreSetBesideADisconnection(t *testing.T) {
	t.Parallel()
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
		if engine.Name == testdb.SQLite.Name {
			return
		}
		url := engine.URL(t)
		w := &fixture{t: t, Clock: testdb.NewClock(time.Date(2026, 6, 1, 10, 0, 0, 0, time.UTC))}
		w.store = testdb.WithClock(engine.OpenAt(t, url), w)
		store := &heldStore{Store: w.store}
		service := booking.New(booking.Config{}, booking.Deps{Store: store, Clock: w, Bus: w})
		w.must(w.store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
			return r.Booking.Accounts.Put(ctx, appointment.MeetingAccount{
				CreatorID: creatorID, Provider: appointment.Zoom, Token: []byte("sealed"), ConnectedAt: w.Real(), Revision: 1,
			})
		}))
		done := make(chan struct{})
		store.meanwhile = func() {
			go func() {
				defer close(done)
				if err := service.DisconnectMeetings(t.Context(), creatorID, appointment.Zoom); err != nil {
					t.Errorf("disconnect: %v", err)
				}
			}()
			engine.AwaitWait(t, url, done)
		}
		err := service.SetMeetings(t.Context(), creatorID, appointment.MeetingSettings{
			Virtual: &appointment.VirtualMeeting{Provider: appointment.Zoom},
		})
		<-done
		setup, readErr := service.Setup(t.Context(), creatorID)
		w.must(readErr)
		if err != nil && !fault.Is(err, fault.ValidationFailed) || setup.Meetings.Virtual != nil {
			t.Errorf("meetings are at %+v after %v, where no account is connected", setup.Meetings.Virtual, err)
		}
	})
}
