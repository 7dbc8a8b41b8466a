package access_test

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	core "sundry/core/access"
	"sundry/core/fault"
	"sundry/core/plan"
	"sundry/modules/access"
	"sundry/ports"
)

func (h *fixture) give(request access.GrantRequest) core.State {
	h.t.Helper()
	g, err := h.GrantManually(h.t.Context(), creator, ada, request)
	if err != nil {
		h.t.Fatal(err)
	}
	return g.State()
}

// images are so many images.
func images(amount int64, expires time.Time) access.GrantRequest {
	return access.GrantRequest{
		Credits: []plan.Credit{{Key: "images", Unit: "image", Amount: amount}}, ExpiresAt: expires,
	}
}

var manualPro = access.GrantRequest{Listing: "studio", Plan: "pro"}

func TestManualGrants(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, h *fixture) {
		byPlan := manualPro
		byPlan.Note = "conference guest"
		given := h.give(byPlan)
		if given.Plan.Key != "pro" || given.Plan.Interval != "" || given.SourceID != given.ID ||
			given.Note != "conference guest" {
			t.Errorf("given %+v", given)
		}
		loose := h.give(access.GrantRequest{
			Entitlements: []plan.EntitlementDraft{{Key: "seats", Type: "limit", Value: json.Number("7")}},
		})
		if loose.Plan != nil {
			t.Errorf("loose entitlements have a plan: %+v", loose.Plan)
		}
		d := h.snapshot()
		for _, part := range []string{`"source":"grant","sourceId":"` + given.ID + `"`,
			`"key":"seats","type":"limit","value":7,"sources":["` + loose.ID + `"]`, `"version":2`} {
			if !strings.Contains(string(d.Body), part) {
				t.Errorf("the snapshot lacks %s: %s", part, d.Body)
			}
		}
		h.verified()
	})
}

func TestGiftsThatAreRefused(t *testing.T) {
	t.Parallel()
	one := []plan.EntitlementDraft{{Key: "x", Type: "boolean", Value: true}}
	cases := map[string]struct {
		customer string
		request  access.GrantRequest
		fields   []string // of VALIDATION_FAILED; none = NOT_FOUND
	}{
		"nothing": {ada, access.GrantRequest{}, []string{"listing"}},
		"both kinds": {
			ada, access.GrantRequest{Listing: "studio", Plan: "pro", Entitlements: one}, []string{"listing"},
		},
		"a listing without its plan": {ada, access.GrantRequest{Listing: "studio"}, []string{"plan"}},
		"a plan without its listing": {ada, access.GrantRequest{Plan: "pro"}, []string{"listing"}},
		"an unknown plan":            {ada, access.GrantRequest{Listing: "studio", Plan: "max"}, nil},
		"a time that has come": {
			ada, access.GrantRequest{Entitlements: one, ExpiresAt: noon}, []string{"expiresAt"},
		},
		"a note too long": {
			ada, access.GrantRequest{Entitlements: one, Note: strings.Repeat("é", 501)}, []string{"note"},
		},
		"a customer without a name": {
			"", access.GrantRequest{Entitlements: one}, []string{"externalCustomerId"},
		},
		"a credit of nothing": {ada, images(0, time.Time{}), []string{"credits[0].amount"}},
		"an entitlement of no type": {
			ada, access.GrantRequest{Entitlements: []plan.EntitlementDraft{{Key: "x", Type: "color", Value: "red"}}},
			[]string{"entitlements[0].type"},
		},
		"many faults are reported at once": {
			"a\x07", access.GrantRequest{Plan: "pro", ExpiresAt: noon, Note: strings.Repeat("x", 501)},
			[]string{"externalCustomerId", "listing", "note", "expiresAt"},
		},
	}
	forEachEngine(t, func(t *testing.T, h *fixture) {
		for name, c := range cases {
			g, err := h.GrantManually(t.Context(), creator, c.customer, c.request)
			if g != nil || len(c.fields) == 0 && !fault.Is(err, fault.NotFoundCode) || len(c.fields) > 0 &&
				!reflect.DeepEqual(fieldsOf(err), c.fields) {
				t.Errorf("%s: %v (fields %v), want %v", name, err, fieldsOf(err), c.fields)
			}
		}
		if found, err := h.store.Read(t.Context()).Access.Audit.ListCustomers(t.Context(), core.Document{}, 10); err != nil ||
			len(found) != 0 {
			t.Errorf("refusals left %d rows: %v", len(found), err)
		}
	})
}

func fieldsOf(err error) []string {
	if !fault.Is(err, fault.ValidationFailed) {
		return nil
	}
	var f fault.Violations
	_ = f.Merge(err)
	var fields []string
	if refusal, ok := f.Err().(*fault.Error); ok { //nolint:errorlint // made here
		for _, d := range refusal.Details {
			fields = append(fields, d.Field)
		}
	}
	return fields
}

func TestRevoking(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, h *fixture) {
		h.buy(paid("1"))
		given := h.give(images(5, noon.Add(time.Hour)))
		bought, err := h.store.Read(t.Context()).Access.Grants.GetBySource(t.Context(), creator, core.Purchase, "pay_1")
		if err != nil {
			t.Fatal(err)
		}
		before := h.snapshot()
		for name, c := range map[string]struct {
			creator, customer, id string
			code                  fault.Code
		}{
			"a purchase":              {creator, ada, bought.State().ID, fault.StateConflict},
			"an id of nothing":        {creator, ada, "grt_01jqz5y2c4e6g8h0k2m4p6r8s0", fault.NotFoundCode},
			"an id that is none":      {creator, ada, "\xff", fault.NotFoundCode},
			"another customer's":      {creator, "grace", given.ID, fault.NotFoundCode},
			"another account's":       {"crt_2", ada, given.ID, fault.NotFoundCode},
			"a purchase of another's": {creator, "grace", bought.State().ID, fault.NotFoundCode},
		} {
			if _, err := h.RevokeManually(t.Context(), c.creator, c.customer, c.id); !fault.Is(err, c.code) {
				t.Errorf("%s: %v, want %s", name, err, c.code)
			}
		}
		if after := h.snapshot(); after.ETag != before.ETag {
			t.Errorf("refusals changed the snapshot to %s", after.Body)
		}
		for range 2 { // again is given the same response
			g, err := h.RevokeManually(t.Context(), creator, ada, given.ID)
			if err != nil || g.State().EndReason != core.Revoked || !g.State().EndedAt.Equal(noon) {
				t.Fatalf("revoked: %+v, %v", g, err)
			}
			h.clock.Advance(time.Minute)
		}
		if after := h.snapshot(); after.Version != before.Version+1 || strings.Contains(string(after.Body), "images") {
			t.Errorf("after revoking: %s", after.Body)
		}
		if tasks := h.tasks(); len(tasks) != 0 {
			t.Errorf("tasks left: %v", tasks)
		}
		h.verified()
	})
}

// tasks claims everything but announcements that is due within a day.
func (h *fixture) tasks() []ports.Task {
	h.t.Helper()
	tasks, err := h.store.Claim(h.t.Context(), ports.DefaultTasks, h.clock.Real().Add(24*time.Hour), time.Minute, 10)
	if err != nil {
		h.t.Fatal(err)
	}
	return slices.DeleteFunc(tasks, func(t ports.Task) bool { return t.Kind == access.TaskAnnounce })
}

func TestGrantsExpire(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, h *fixture) {
		given := h.give(images(5, noon.Add(time.Hour)))
		tasks := h.tasks()
		if len(tasks) != 1 || tasks[0].Kind != access.TaskExpire || tasks[0].Subject != given.ID ||
			!tasks[0].DueAt.Equal(noon.Add(time.Hour)) {
			t.Fatalf("tasks %+v", tasks)
		}
		if err := h.Expire(t.Context(), tasks[0]); err != nil { // too early: postponed
			t.Fatal(err)
		}
		if d := h.snapshot(); d.Version != 1 {
			t.Fatalf("expired before its time: %s", d.Body)
		}
		h.clock.Advance(time.Hour)
		if err := h.Expire(t.Context(), h.tasks()[0]); err != nil {
			t.Fatal(err)
		}
		if d := h.snapshot(); d.Version != 2 || strings.Contains(string(d.Body), "images") || !d.NextEnd.IsZero() {
			t.Errorf("after its time: %s", d.Body)
		}
		if cause := h.changes()[len(h.changes())-1].Cause; cause != (core.Cause{Kind: core.GrantExpired, ID: given.ID}) {
			t.Errorf("cause %+v", cause)
		}
		if left := h.tasks(); len(left) != 0 {
			t.Errorf("tasks left: %v", left)
		}
		if _, err := h.RevokeManually(t.Context(), creator, ada, given.ID); !fault.Is(err, fault.StateConflict) {
			t.Errorf("revoking an expired grant: %v", err)
		}
		h.verified()
	})
}

func TestReadersNeverSeeAccessThatIsOver(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, h *fixture) { // no worker runs here
		h.give(images(5, noon.Add(time.Hour)))
		h.give(images(6, noon.Add(2*time.Hour)))
		h.clock.Advance(time.Hour - time.Millisecond)
		if d := h.snapshot(); d.Version != 2 {
			t.Fatalf("before the end: %s", d.Body)
		}
		h.clock.Advance(time.Millisecond)
		if d := h.snapshot(); d.Version != 3 || !strings.Contains(string(d.Body), `"granted":6`) ||
			!d.NextEnd.Equal(noon.Add(2*time.Hour)) {
			t.Errorf("at the end: %s", d.Body)
		}
		h.clock.Advance(time.Hour)
		if _, err := h.ConsumeCredits(t.Context(), creator, ada, use("1", 1)); !fault.Is(err, fault.InsufficientBalance) {
			t.Errorf("credits that are over were used: %v", err)
		}
		h.verified()
		for _, task := range h.tasks() { // the worker comes late and has nothing left to do
			if err := h.Expire(t.Context(), task); err != nil {
				t.Error(err)
			}
		}
		if d := h.snapshot(); d.Version != 4 {
			t.Errorf("version %d, want 4: two grants given and two ended", d.Version)
		}
	})
}

func TestExplaining(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, h *fixture) {
		h.buy(paid("1"))
		given := h.give(manualPro)
		if _, err := h.RevokeManually(t.Context(), creator, ada, given.ID); err != nil {
			t.Fatal(err)
		}
		e, err := h.Explain(t.Context(), creator, ada)
		if err != nil || e.Document.Version != 3 || len(e.Running) != 1 || len(e.Ended) != 1 || len(e.History) != 3 {
			t.Fatalf("%+v, %v", e, err)
		}
		if e.Running[0].State().SourceID != "pay_1" || e.Running[0].State().CheckoutID != "cs_1" ||
			e.Ended[0].State().ID != given.ID {
			t.Errorf("running %+v, ended %+v", e.Running[0].State(), e.Ended[0].State())
		}
		want := core.Changed{
			CreatorID: creator, ExternalCustomerID: ada, Version: 3, PreviousVersion: 2,
			Changed: []string{"activePlans", "entitlements", "credits"},
			Cause:   core.Cause{Kind: core.GrantRevoked, ID: given.ID}, At: noon,
		}
		if !reflect.DeepEqual(e.History[0], want) {
			t.Errorf("latest change %+v, want %+v", e.History[0], want)
		}
		nobody, err := h.Explain(t.Context(), creator, "nobody")
		if err != nil || nobody.Document.Version != 0 || len(nobody.Running)+len(nobody.Ended)+len(nobody.History) != 0 {
			t.Errorf("nobody: %+v, %v", nobody, err)
		}
	})
}

func TestARolledBackChangeLeavesNothing(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, h *fixture) {
		h.buy(paid("1"))
		before := h.snapshot()
		stop := fault.New(fault.Internal, "stop")
		err := h.store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
			if err := h.OnCheckoutPaid(ctx, r, paid("2")); err != nil {
				return err
			}
			return stop
		})
		if !fault.Is(err, fault.Internal) {
			t.Fatal(err)
		}
		if after := h.snapshot(); after.ETag != before.ETag || after.Version != 1 {
			t.Errorf("version %d is left", after.Version)
		}
		h.verified()
	})
}
