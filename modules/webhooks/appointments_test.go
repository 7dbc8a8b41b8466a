package webhooks_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"sundry/core/appointment"
	"sundry/core/event"
	"sundry/core/webhook"
	"sundry/ports"
)

func TestIntegratorsHearWhatHappensToAppointments(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		w.endpoint("hooks", "appointment.*")
		w.endpoint("moves", "appointment.rescheduled")
		w.endpoint("others", "customer.*", "payment.completed")
		starts := time.Date(2026, 6, 15, 8, 0, 0, 0, time.UTC)
		booked := appointment.State{
			ID: "apt_1", CreatorID: creatorID, ListingID: "lst_1", VariantID: "var_1", CheckoutID: "cs_1",
			ExternalCustomerID: "user-1",
			Status:             appointment.StatusConfirmed, StartsAt: starts, EndsAt: starts.Add(time.Hour),
			Timezone:     "Asia/Tokyo",
			DeliveryMode: appointment.Virtual, MeetingURL: "https://meet.example.com/ada",
			CreatedAt: starts.Add(-time.Hour),
		}
		moved, canceled := booked, booked
		moved.StartsAt = starts.Add(time.Hour)
		canceled.Status, canceled.CancelReason, canceled.CanceledAt = appointment.StatusCanceled, "ill",
			starts.Add(-time.Minute)
		w.atomically(func(ctx context.Context, r ports.Repos) error {
			return w.webhooks.Publish(ctx, r, appointment.Booked{State: booked})
		})
		w.atomically(func(ctx context.Context, r ports.Repos) error {
			return w.webhooks.Publish(ctx, r, appointment.Rescheduled{State: moved, PreviousStartsAt: starts})
		})
		w.atomically(func(ctx context.Context, r ports.Repos) error {
			return w.webhooks.Publish(ctx, r, appointment.Canceled{State: canceled})
		})
		got := map[string][]map[string]any{}
		for _, one := range w.work() {
			var data map[string]any
			if err := json.Unmarshal(one.envelope.Data, &data); err != nil {
				t.Fatal(err)
			}
			got[one.url+one.envelope.Type] = append(got[one.url+one.envelope.Type], data)
			wantAsDescribed(t, event.Type(one.envelope.Type), data)
		}
		const hooks, moves = "https://hooks.example.com/", "https://moves.example.com/"
		if len(got) != 4 || len(got[moves+"appointment.rescheduled"]) != 1 || len(got[hooks+"appointment.booked"]) != 1 {
			t.Fatalf("sent %v", got)
		}
		move, cancel := got[hooks+"appointment.rescheduled"][0], got[hooks+"appointment.canceled"][0]
		if move["previousStartsAt"] != "2026-06-15T08:00:00.000Z" || move["startsAt"] != "2026-06-15T09:00:00.000Z" ||
			move["cancelReason"] != nil {
			t.Errorf("moved %v", move)
		}
		if _, found := cancel["previousStartsAt"]; found || cancel["status"] != "canceled" ||
			cancel["cancelReason"] != "ill" || cancel["externalCustomerId"] != "user-1" {
			t.Errorf("canceled %v", cancel)
		}
	})
}

// wantAsDescribed holds the members of an event's data against the catalogue's schema.
func wantAsDescribed(t *testing.T, kind event.Type, data map[string]any) {
	t.Helper()
	all := webhook.Catalogue()
	i := slices.IndexFunc(all, func(k webhook.Kind) bool { return k.Type == kind })
	if i < 0 {
		t.Fatalf("%s is not in the catalogue", kind)
	}
	var schema struct {
		Required   []string
		Properties map[string]any
	}
	if err := json.Unmarshal(all[i].Schema, &schema); err != nil {
		t.Fatal(err)
	}
	for _, name := range schema.Required {
		if _, there := data[name]; !there {
			t.Errorf("%s lacks %s", kind, name)
		}
	}
	for name := range data {
		if schema.Properties[name] == nil {
			t.Errorf("%s has %s, which its schema does not know", kind, name)
		}
	}
}
