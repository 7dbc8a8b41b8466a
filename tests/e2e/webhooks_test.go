package e2e_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"sundry/tests/harness"
	"sundry/tests/testdb"
)

const endpointsPath = "/v1/webhook-endpoints"

type hookEndpoint struct {
	ID, URL, Secret string
	Events          []string
	Enabled         bool
	DisabledReason  *string
}

func TestAnEndpointIsMadeReadChangedAndDeleted(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a, other := app.NewAccount(t), app.NewAccount(t)
		var made, read hookEndpoint
		a.AsBackend(t, http.MethodPost, endpointsPath, endpointBody()).Want(t, 201).Into(t, &made)
		if !made.Enabled || !strings.HasPrefix(made.Secret, "whsec_") {
			t.Errorf("made %+v", made)
		}
		one := endpointsPath + "/" + made.ID
		a.AsBackend(t, http.MethodGet, one, nil).Want(t, 200).Into(t, &read)
		if read.Secret != "" || read.URL != made.URL || !slices.Equal(read.Events, made.Events) {
			t.Errorf("read %+v", read)
		}
		if got := a.AsBackend(t, http.MethodGet, one+"/secret", nil).Want(t, 200).Map(t)["secret"]; got != made.Secret {
			t.Errorf("secret %v, made with %s", got, made.Secret)
		}
		for _, r := range []harness.Request{ // of another account: as if it were not there
			{Method: http.MethodGet, Path: one}, {Method: http.MethodGet, Path: one + "/secret"},
			{Method: http.MethodGet, Path: one + "/deliveries"},
			{Method: http.MethodPatch, Path: one, Body: JSON{"enabled": false}}, {Method: http.MethodDelete, Path: one},
			{Method: http.MethodPost, Path: one + "/rotate-secret"}, {Method: http.MethodPost, Path: one + "/test"},
			{Method: http.MethodPost, Path: one + "/replay", Body: JSON{"from": "2026-03-08T00:00:00.000Z"}},
			{Method: http.MethodPost, Path: one + "/deliveries/dlv_01jqz5y2c4e6g8h0k2m4p6r8s0/redeliver"},
		} {
			r.Bearer = other.Key
			app.Ask(t, r).Refuses(t, 404, "NOT_FOUND")
		}
		if got := a.AsBackend(t, http.MethodGet, one+"/secret", nil).Map(t)["secret"]; got != made.Secret {
			t.Error("another account changed the endpoint")
		}
		a.AsBackend(t, http.MethodPatch, one, JSON{"enabled": false}).Want(t, 200).Into(t, &read)
		if read.Enabled || read.DisabledReason == nil || *read.DisabledReason != "owner" {
			t.Errorf("disabled %+v", read)
		}
		a.AsBackend(t, http.MethodPost, one+"/test", nil).Refuses(t, 409, "STATE_CONFLICT")
		a.AsBackend(t, http.MethodDelete, one, nil).Want(t, 200)
		a.AsBackend(t, http.MethodGet, one, nil).Refuses(t, 404, "NOT_FOUND")
	})
}

// All faults of an endpoint are listed at once, and nothing is created.
func TestARefusedEndpointListsEveryFault(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		for name, c := range map[string]struct {
			body   JSON
			fields []string
		}{
			"nothing": {JSON{}, []string{"url", "events"}},
			"everything wrong": {
				JSON{"url": "http://user:x@10.1/#f", "events": []string{"nope", "nothing.*"}, "enabled": true},
				[]string{"enabled", "url", "url", "url", "url", "events[0]", "events[1]"},
			},
			"loopback":  {JSON{"url": "https://router.local/", "events": []string{"*"}}, []string{"url"}},
			"no filter": {JSON{"url": "https://hooks.example.com/", "events": []string{}}, []string{"events"}},
			"a filter twice": {
				JSON{"url": "https://hooks.example.com/", "events": []string{"*", "*"}}, []string{"events[1]"},
			},
			"an unknown member": {
				JSON{"url": "https://[::ffff:10.0.0.1]/", "events": []string{"*"}, "surprise": 1},
				[]string{"surprise", "url"},
			},
		} {
			t.Log(name)
			a.AsBackend(t, http.MethodPost, endpointsPath, c.body).Refuses(t, 400, "VALIDATION_FAILED", c.fields...)
		}
		if got := a.AsBackend(t, http.MethodGet, endpointsPath, nil).Want(t, 200).Map(t)["data"].([]any); len(got) != 0 {
			t.Errorf("refused and made: %v", got)
		}
		key := harness.Unique("key")
		first := a.Once(t, key, http.MethodPost, endpointsPath, endpointBody()).Want(t, 201)
		if again := a.Once(t, key, http.MethodPost, endpointsPath, endpointBody()).
			Want(t, 201); string(again.Body) != string(first.Body) {
			t.Errorf("repeated: %s, first %s", again.Body, first.Body)
		}
		if got := a.AsBackend(t, http.MethodGet, endpointsPath, nil).Map(t)["data"].([]any); len(got) != 1 {
			t.Errorf("%d endpoints, want one", len(got))
		}
	})
}

type message struct {
	header http.Header
	body   []byte
}

// receive is a receiver that takes everything, and what it took.
func receive(t *testing.T) (url string, taken <-chan message) {
	t.Helper()
	messages := make(chan message, 100)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		messages <- message{r.Header, body}
	}))
	t.Cleanup(server.Close)
	return server.URL, messages
}

func next(t *testing.T, taken <-chan message) message {
	t.Helper()
	select {
	case m := <-taken:
		return m
	case <-time.After(30 * time.Second):
		t.Fatal("no message came in 30 seconds")
		return message{}
	}
}

func verifies(t *testing.T, secret string, m message) bool {
	t.Helper()
	verifier, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	return verifier.Verify(m.body, m.header) == nil
}

func TestAReceiverVerifiesBeforeDuringAndAfterARotation(t *testing.T) {
	t.Parallel()
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
		a := harness.New(t, engine, map[string]string{"WEBHOOK_ALLOW_PRIVATE": "true"}).NewAccount(t)
		listing := proPlan(t, a)
		url, taken := receive(t)
		var made, rotated hookEndpoint
		a.AsBackend(t, http.MethodPost, endpointsPath, JSON{"url": url, "events": []string{"payment.completed"}}).
			Want(t, 201).Into(t, &made)
		sell := func() message {
			t.Helper()
			a.Pay(t, a.NewSession(t, listing, "pro", harness.Unique("user"), nil), harness.CardSucceeds).Want(t, 200)
			return next(t, taken)
		}
		before := sell()
		if !verifies(t, made.Secret, before) {
			t.Errorf("before: %v", before.header)
		}
		a.AsBackend(t, http.MethodPost, endpointsPath+"/"+made.ID+"/rotate-secret", nil).Want(t, 200).Into(t, &rotated)
		if during := sell(); !verifies(t, made.Secret, during) || !verifies(t, rotated.Secret, during) {
			t.Errorf("during: %v", during.header)
		}
		a.AsBackend(t, http.MethodPost, "/v1/sandbox/clock/advance", JSON{"seconds": 24*60*60 + 1}).Want(t, 200)
		if after := sell(); verifies(t, made.Secret, after) || !verifies(t, rotated.Secret, after) {
			t.Errorf("after: %v", after.header)
		}
		a.AsBackend(t, http.MethodPost, endpointsPath+"/"+made.ID+"/replay", JSON{"from": "2020-01-01T00:00:00.000Z"}).
			Want(t, 202)
		var ids []string
		for range 3 {
			m := next(t, taken)
			if !verifies(t, rotated.Secret, m) {
				t.Errorf("replayed: %v", m.header)
			}
			ids = append(ids, m.header.Get("webhook-id"))
		}
		if !slices.Contains(ids, before.header.Get("webhook-id")) {
			t.Errorf("replayed under %v, not under %s", ids, before.header.Get("webhook-id"))
		}
	})
}

func TestTheSandboxSaysHowToAdmitAReceiverInside(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		setting, url string
		status       int
	}{
		"loopback by default":        {"", "http://127.0.0.1:9/hook", 201},
		"a network by default":       {"", "http://10.0.0.7/hook", 400},
		"a network, admitted":        {"true", "http://10.0.0.7/hook", 201},
		"loopback, refused":          {"false", "http://127.0.0.1:9/hook", 400},
		"another machine's metadata": {"true", "http://169.254.169.254/", 400},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			settings := map[string]string{}
			if c.setting != "" {
				settings["WEBHOOK_ALLOW_PRIVATE"] = c.setting
			}
			a := harness.New(t, testdb.SQLite, settings).NewAccount(t)
			response := a.AsBackend(t, http.MethodPost, "/v1/webhook-endpoints", JSON{
				"url": c.url, "events": []string{"*"},
			})
			if response.Want(t, c.status); c.status == 400 && c.setting != "true" &&
				!strings.Contains(string(response.Body), "WEBHOOK_ALLOW_PRIVATE=true") {
				t.Errorf("the refusal does not name the setting: %s", response.Body)
			}
		})
	}
}
