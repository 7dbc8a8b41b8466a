package cli

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"sundry/core/apiformat"
	"sundry/core/fault"
	"sundry/core/webhook"
)

const listenUsage = `usage: sundry listen [--forward-to URL] [--events TYPES] [--since TIME] [--secret whsec_…] [--api URL] [--key sk_test_…]

Prints the account's events as they happen. With --forward-to it posts each to a URL, also one on this machine, signed
as webhooks are.

  --forward-to URL   where to post them, such as http://localhost:3000/webhooks
  --events TYPES     which, separated by commas: names and families such as invoice.*; all without it
  --since TIME       replay the events since then first: 2026-11-25T09:00:00Z, or 2h for two hours ago
  --secret whsec_…   what to sign with; a new secret, which is printed, without it
  --api URL          address of the service; SUNDRY_URL, else http://127.0.0.1:8080
  --key sk_test_…    secret key of the account; SUNDRY_KEY
`

// pollPause is the pause of listen after it has read everything.
const pollPause = 500 * time.Millisecond

// receiverTimeout is the time that a receiver has, as that of a webhook.
const receiverTimeout = 15 * time.Second

// listener prints and forwards events.
type listener struct {
	api       *publicAPI
	receiver  *http.Client
	forwardTo string
	types     []string // exact names and family.*; none = all
	secret    []byte
	since     string // "" = from now on
	pause     time.Duration
	out       io.Writer
}

// listedEvent holds the members of an event that listen reads; raw is forwarded.
type listedEvent struct {
	ID   string `json:"id"`
	Type string `json:"type"`
}

func newListener(args []string) (*listener, error) {
	l := &listener{pause: pollPause, receiver: &http.Client{
		Timeout:       receiverTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	flags := flag.NewFlagSet("listen", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	l.api = apiFlags(flags)
	flags.StringVar(&l.forwardTo, "forward-to", "", "")
	types := flags.String("events", "", "")
	secret := flags.String("secret", "", "")
	flags.StringVar(&l.since, "since", "", "")
	if err := flags.Parse(args); err != nil {
		return nil, fmt.Errorf("%w\n\n%s", err, listenUsage)
	}
	if flags.NArg() > 0 {
		return nil, fmt.Errorf("this command takes no %q\n\n%s", flags.Arg(0), listenUsage)
	}
	if l.forwardTo != "" {
		if u, err := url.Parse(l.forwardTo); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return nil, errors.New("--forward-to wants a URL such as http://localhost:3000/webhooks")
		}
	}
	if _, err := l.begin(time.Time{}); err != nil {
		return nil, err
	}
	for filter := range strings.SplitSeq(*types, ",") {
		if filter = strings.TrimSpace(filter); filter == "" {
			continue
		}
		if filter != "*" && !slices.Contains(webhook.Filters(), filter) {
			return nil, fmt.Errorf(`--events: %q names no event type; "invoice.*" is a family and "*" is all.%s`,
				filter, fault.DidYouMean(filter, webhook.Filters()...))
		}
		l.types = append(l.types, filter)
	}
	l.secret = make([]byte, 32)
	_, _ = rand.Read(l.secret) // never fails
	if *secret != "" {
		given, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(*secret, "whsec_"))
		if err != nil || len(given) == 0 {
			return nil, errors.New("--secret wants a signing secret: whsec_ and base64")
		}
		l.secret = given
	}
	return l, l.api.check()
}

// parseListen prints and forwards events until the context ends.
func parseListen(args []string) (action, error) {
	l, err := newListener(args)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, c call) error {
		l.out = c.Out
		return l.run(ctx)
	}, nil
}

// run follows the events until the context ends.
func (l *listener) run(ctx context.Context) error {
	now, err := l.now(ctx)
	if err != nil {
		return err
	}
	since, err := l.begin(now)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(l.out, "Listening to %s", l.api.url) // a broken terminal shows in the events
	if l.forwardTo != "" {
		_, _ = fmt.Fprintf(l.out, ", forwarding to %s\nSigning secret: %s", l.forwardTo, webhook.FormatSecret(l.secret))
	}
	_, _ = fmt.Fprintln(l.out)
	query := url.Values{"order": {"asc"}, "limit": {"100"}, "createdFrom": {apiformat.Instant(since)}}
	for {
		var page struct {
			Data       []json.RawMessage `json:"data"`
			HasMore    bool              `json:"hasMore"`
			NextCursor string            `json:"nextCursor"`
		}
		err := l.api.call(ctx, http.MethodGet, "/v1/events?"+query.Encode(), nil, &page)
		status := refusalStatus(err)
		switch {
		case ctx.Err() != nil:
			return nil //nolint:nilerr // the user ended it
		case status != 0 && status < http.StatusInternalServerError && status != http.StatusTooManyRequests:
			return err
		case err != nil:
			_, _ = fmt.Fprintln(l.out, "cannot read events, trying again:", err)
		}
		for _, raw := range page.Data {
			if err := l.take(ctx, raw); err != nil {
				return err
			}
		}
		if page.NextCursor != "" {
			query.Set("cursor", page.NextCursor)
		}
		if page.HasMore {
			continue
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(l.pause):
		}
	}
}

// begin is the time of the first event to print: --since, or now.
func (l *listener) begin(now time.Time) (time.Time, error) {
	if l.since == "" {
		return now, nil
	}
	if ago, err := time.ParseDuration(l.since); err == nil && ago > 0 {
		return now.Add(-ago), nil
	}
	since, err := time.Parse(time.RFC3339, l.since)
	if err != nil {
		return since, errors.New("--since wants a time such as 2026-11-25T09:00:00Z, or a duration such as 2h")
	}
	return since, nil
}

// now is the time of the account's clock, which in the sandbox may be ahead.
func (l *listener) now(ctx context.Context) (time.Time, error) {
	var clock struct{ Now time.Time }
	err := l.api.call(ctx, http.MethodGet, "/v1/sandbox/clock", nil, &clock)
	if status := refusalStatus(err); status == http.StatusNotFound || status == http.StatusForbidden {
		return time.Now(), nil // live has no such clock, and a key may not have its scope
	}
	return clock.Now, err
}

// take prints an event and forwards it.
func (l *listener) take(ctx context.Context, raw json.RawMessage) error {
	var e listedEvent
	if err := json.Unmarshal(raw, &e); err != nil {
		return err
	}
	if !l.wants(e.Type) {
		return nil
	}
	line := time.Now().Format(time.TimeOnly) + "  " + e.Type + "  " + e.ID
	if l.forwardTo != "" {
		line += "  " + l.forward(ctx, e.ID, raw)
	}
	_, err := fmt.Fprintln(l.out, line)
	return err
}

func (l *listener) wants(eventType string) bool {
	for _, t := range l.types {
		if t == "*" || t == eventType || strings.HasSuffix(t, ".*") &&
			strings.HasPrefix(eventType, strings.TrimSuffix(t, "*")) {
			return true
		}
	}
	return len(l.types) == 0
}

// forward posts an event as a webhook is posted and reports how that went. There is no retry: the listener sees it
// fail.
func (l *listener) forward(ctx context.Context, id string, body []byte) string {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, l.forwardTo, bytes.NewReader(body))
	if err != nil {
		return err.Error()
	}
	request.Header.Set("Content-Type", "application/json")
	for name, value := range webhook.Headers(id, time.Now(), body, l.secret) {
		request.Header.Set(name, value)
	}
	response, err := l.receiver.Do(request)
	if err != nil {
		return "failed: " + err.Error()
	}
	_ = response.Body.Close() // only the status is of interest
	return response.Status
}
