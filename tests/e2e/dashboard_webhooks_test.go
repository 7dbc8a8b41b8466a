package e2e_test

import (
	"fmt"
	"net/http"
	"path"
	"regexp"
	"strings"
	"testing"

	"sundry/tests/harness"
)

var checkedEvent = regexp.MustCompile(`name="events" value="([^"]+)" checked`)

// checkedEvents lists the events that a form shows as chosen.
func checkedEvents(page *harness.Page) string {
	var all []string
	for _, m := range checkedEvent.FindAllStringSubmatch(page.Body, -1) {
		all = append(all, m[1])
	}
	return strings.Join(all, " ")
}

func TestEventsOfAnEndpointAreChosenByFamily(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		v := a.Visit(t)
		page := v.Open(t, "/dashboard/webhooks/new")
		if got := checkedEvents(page); got != "*" {
			t.Errorf("a new endpoint begins with %q, want *", got)
		}
		for _, kind := range a.AsBackend(t, http.MethodGet, "/v1/event-types", nil).Want(t, 200).Map(t)["data"].([]any) {
			name := kind.(map[string]any)["type"].(string)
			family, _, _ := strings.Cut(name, ".")
			for _, filter := range []string{name, family + ".*"} {
				if n := strings.Count(page.Body, `name="events" value="`+filter+`"`); n != 1 {
					t.Errorf("%d boxes of %s, want one", n, filter)
				}
			}
		}
		target := "https://hooks.example.com/" + harness.Unique("in")
		made := v.Send(t, "/dashboard/webhooks/new", "url", target, "events", "refund.created",
			"events", "subscription.*", "events", "subscription.canceled")
		id := path.Base(path.Dir(made.Path))
		stored := func() string {
			events := a.AsBackend(t, http.MethodGet, endpointsPath+"/"+id, nil).Want(t, 200).Map(t)["events"]
			return strings.Trim(fmt.Sprint(events), "[]")
		}
		if got := stored(); got != "refund.created subscription.*" {
			t.Fatalf("stored %q: %s", got, made.Path)
		}
		edit := "/dashboard/webhooks/" + id + "/edit"
		if got := checkedEvents(v.Open(t, edit)); got != "subscription.* refund.created" {
			t.Errorf("the form shows %q", got)
		}
		page = v.Send(t, edit, "url", target)
		if page.Status != 400 || !marked(page)["endpoint-events"] || checkedEvents(page) != "" ||
			!strings.Contains(page.Body, "Choose at least one event.") {
			t.Errorf("without an event: %d, %v, %q", page.Status, marked(page), checkedEvents(page))
		}
		page = v.Send(t, edit, "url", "nowhere", "events", "payment.completed", "events", "usage.*")
		if got := checkedEvents(page); page.Status != 400 || got != "payment.completed usage.*" {
			t.Errorf("refused for its address: %d, %q", page.Status, got)
		}
		if got := stored(); got != "refund.created subscription.*" {
			t.Errorf("what was refused stored %q", got)
		}
	})
}

func TestAnUnknownEventOfAnEndpointIsKept(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		target := "https://hooks.example.com/" + harness.Unique("in")
		at := endpointsPath + "/" + a.AsBackend(t, http.MethodPost, endpointsPath, JSON{
			"url": target, "events": []string{"*"},
		}).Want(t, 201).Map(t)["id"].(string)
		app.Exec(t, "UPDATE webhook_endpoints SET events = $1 WHERE id = $2",
			`["refund.created","refund.gone","former.event"]`, path.Base(at))
		v, edit := a.Visit(t), "/dashboard/webhooks/"+path.Base(at)+"/edit"
		if got := checkedEvents(v.Open(t, edit)); got != "refund.created refund.gone former.event" {
			t.Errorf("the form shows %q", got)
		}
		for _, c := range []struct {
			events []string
			status int
			want   string
		}{
			{[]string{"refund.gone", "former.event", "invoice.paid"}, 200, "[refund.gone former.event invoice.paid]"},
			{[]string{"refund.gone", "former.other"}, 400, "[refund.gone former.event invoice.paid]"},
			{[]string{"refund.gone", "refund.*"}, 200, "[refund.*]"},
		} {
			fields := []string{"url", target}
			for _, name := range c.events {
				fields = append(fields, "events", name)
			}
			v.Open(t, edit)
			page := v.Send(t, edit, fields...)
			got := fmt.Sprint(a.AsBackend(t, http.MethodGet, at, nil).Want(t, 200).Map(t)["events"])
			if page.Status != c.status || got != c.want {
				t.Errorf("%v: %d, stored %s, want %d and %s", c.events, page.Status, got, c.status, c.want)
			}
		}
	})
}
