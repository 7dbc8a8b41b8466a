package appointment

import (
	"encoding/json"
	"testing"
	"time"

	"sundry/core/intake"
)

// TestTheAPIAndTheEventsShowOneAppointment holds the bytes of both: the members that only one of them has are left out
// of the other, and the order of the rest is the same.
func TestTheAPIAndTheEventsShowOneAppointment(t *testing.T) {
	t.Parallel()
	starts := time.Date(2026, 6, 1, 8, 0, 0, 0, time.UTC)
	plain := State{
		ID: "apt_1", ListingID: "lst_1", VariantID: "var_1", CheckoutID: "cs_1", Status: StatusConfirmed, StartsAt: starts,
		EndsAt: starts.Add(time.Hour), Timezone: "Europe/Berlin", DeliveryMode: Virtual, CreatedAt: starts.AddDate(0, 0, -7),
	}
	full := plain
	full.ExternalCustomerID, full.MeetingURL, full.Address = "user-1", "https://meet.example/a", "7 Bridge Street"
	full.Status, full.RefundPolicy = StatusCanceled, RefundPolicy{Promised: true, FullHours: 24}
	full.CancelReason, full.CanceledAt, full.CanceledBy = "ill", starts.Add(-time.Hour), ByCreator
	full.RefundDecision, full.RefundID = RefundDue, "ref_1"
	live, earlier := false, "2026-05-31T08:00:00.000Z"
	asked, moved := full.View(), full.View()
	asked.Livemode, asked.ManageURL = &live, "https://pay.example/a/1"
	moved.PreviousStartsAt = &earlier

	for name, c := range map[string]struct {
		view View
		want string
	}{
		"nothing that may be missing": {plain.View(),
			`{"id":"apt_1","status":"confirmed","listingId":"lst_1","variantId":"var_1","checkoutId":"cs_1","groupId":null,` +
				`"externalCustomerId":null,"answers":[],"notes":null,"guests":[],` +
				`"startsAt":"2026-06-01T08:00:00.000Z","endsAt":"2026-06-01T09:00:00.000Z",` +
				`"timezone":"Europe/Berlin",` +
				`"deliveryMode":"virtual","meetingUrl":null,"address":null,"fullRefundHours":null,"cancelReason":null,` +
				`"canceledAt":null,"canceledBy":null,` +
				`"refundDecision":null,"refundId":null,"outcome":null,"outcomeAt":null,"createdAt":"2026-05-25T08:00:00.000Z"}`},
		"a response of the API": {asked,
			`{"id":"apt_1","status":"canceled","livemode":false,"listingId":"lst_1","variantId":"var_1","checkoutId":"cs_1","groupId":null,` +
				`"externalCustomerId":"user-1","answers":[],"notes":null,"guests":[],` +
				`"startsAt":"2026-06-01T08:00:00.000Z","endsAt":"2026-06-01T09:00:00.000Z",` +
				`"timezone":"Europe/Berlin",` +
				`"deliveryMode":"virtual","meetingUrl":"https://meet.example/a","address":"7 Bridge Street",` +
				`"fullRefundHours":24,"cancelReason":"ill",` +
				`"canceledAt":"2026-06-01T07:00:00.000Z","canceledBy":"creator","refundDecision":"refunded","refundId":"ref_1","outcome":null,"outcomeAt":null,` +
				`"manageUrl":"https://pay.example/a/1","createdAt":"2026-05-25T08:00:00.000Z"}`},
		"an event of one that was moved": {moved,
			`{"id":"apt_1","status":"canceled","listingId":"lst_1","variantId":"var_1","checkoutId":"cs_1","groupId":null,` +
				`"externalCustomerId":"user-1","answers":[],"notes":null,"guests":[],` +
				`"startsAt":"2026-06-01T08:00:00.000Z","endsAt":"2026-06-01T09:00:00.000Z",` +
				`"timezone":"Europe/Berlin",` +
				`"deliveryMode":"virtual","meetingUrl":"https://meet.example/a","address":"7 Bridge Street",` +
				`"fullRefundHours":24,"cancelReason":"ill",` +
				`"canceledAt":"2026-06-01T07:00:00.000Z","canceledBy":"creator","refundDecision":"refunded","refundId":"ref_1","outcome":null,"outcomeAt":null,` +
				`"createdAt":"2026-05-25T08:00:00.000Z","previousStartsAt":"2026-05-31T08:00:00.000Z"}`},
	} {
		got, err := json.Marshal(c.view)
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, got, c.want)
		}
	}
}

func TestRescheduled_ShowsThePreviousTime(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 6, 15, 8, 0, 0, 0, time.UTC)
	e := Rescheduled{State: State{ID: "apt_1", StartsAt: at.Add(time.Hour)}, PreviousStartsAt: at}
	got := e.View()
	if got.PreviousStartsAt == nil || *got.PreviousStartsAt != "2026-06-15T08:00:00.000Z" {
		t.Errorf("the previous time is %v", got.PreviousStartsAt)
	}
	if e.State.View().PreviousStartsAt != nil {
		t.Error("an appointment that was not moved has a previous time")
	}
}

func TestIntakeView_ShowsWhatTheBuyerSaid(t *testing.T) {
	t.Parallel()
	for want, r := range map[string]intake.Response{
		`{"answers":[],"notes":null,"guests":[]}`: {},
		`{"answers":[{"key":"topic","label":"Topic","type":"text","value":"Go"}],"notes":"Hi",` +
			`"guests":["bob@example.com"]}`: {
			Answers: []intake.Answer{{Key: "topic", Label: "Topic", Type: intake.Line, Value: "Go"}}, Notes: "Hi",
			Guests: []string{"bob@example.com"},
		},
	} {
		if got, err := json.Marshal(NewIntakeView(r)); err != nil || string(got) != want {
			t.Errorf("%s, %v, want %s", got, err, want)
		}
	}
}
