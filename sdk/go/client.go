// Package sundry is the client of a Sundry service for Go programs. It sends every request with a secret key, retries
// what failed on the way with the idempotency key of the first attempt, and returns the service's refusals as *Error.
//
// It needs the standard library only. Members that it does not name are in the service's /openapi.yaml; Client.Do sends
// any other request with the same retries.
package sundry

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// Config says which service to call, and how.
type Config struct {
	// BaseURL is the address of the service, such as https://pay.example.com.
	BaseURL string
	// Key is a secret key: sk_test_… or sk_live_….
	Key string
	// HTTPClient sends the requests; nil for one that gives up after 60 seconds. Redirects are not followed: the service
	// makes none, and a POST would arrive elsewhere as a GET.
	HTTPClient *http.Client
	// Retries is the number of times that a failed request is sent again; 0 means 3, and a negative number none.
	Retries int
	// Pause is the wait before the first retry, which doubles with each one; 0 for 500 ms. A Retry-After counts before it;
	// one of more than a minute ends the retries.
	Pause time.Duration
}

// Client calls a service. It is safe for concurrent use.
type Client struct{ config Config }

// New returns a client. It connects to nothing.
func New(config Config) *Client {
	config.BaseURL = strings.TrimRight(config.BaseURL, "/")
	if config.HTTPClient == nil {
		config.HTTPClient = &http.Client{Timeout: time.Minute}
	}
	own := *config.HTTPClient
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	config.HTTPClient = &own
	if config.Retries == 0 {
		config.Retries = 3
	}
	if config.Pause == 0 {
		config.Pause = 500 * time.Millisecond
	}
	return &Client{config}
}

type keyOfContext struct{}

// WithIdempotencyKey gives the POST that is made with the context a key of your own, such as your order's number: for
// 24 hours the same key has one effect, also when your program starts again in between. Without it each call has a new
// key, which its retries share.
func WithIdempotencyKey(ctx context.Context, key string) context.Context {
	return context.WithValue(ctx, keyOfContext{}, key)
}

func idempotencyKey(ctx context.Context) string {
	if key, ok := ctx.Value(keyOfContext{}).(string); ok && key != "" {
		return key
	}
	return rand.Text()
}

// maxBody bounds what is read of a response, in bytes.
const maxBody = 32 << 20

// Do sends a request with body as JSON, unless it is nil, and reads the response into out, unless that is nil. It sends
// it again after a lost connection, a 429, a 5xx and while the first attempt is still under way. *Error.
func (c *Client) Do(ctx context.Context, method, path string, body, out any) error {
	_, err := c.send(ctx, method, path, body, out, nil)
	return err
}

// send is Do with further headers. It returns the headers of the response.
func (c *Client) send(
	ctx context.Context, method, path string, body, out any, header http.Header,
) (*http.Response, error) {
	// It may come from a variable of the environment that is not set.
	if !strings.HasPrefix(c.config.BaseURL, "https://") && !strings.HasPrefix(c.config.BaseURL, "http://") {
		return nil, errBaseURL
	}
	var raw []byte
	if body != nil {
		var err error
		if raw, err = json.Marshal(body); err != nil {
			return nil, err
		}
	}
	key := ""
	if method == http.MethodPost {
		key = idempotencyKey(ctx)
	}
	for attempt := 0; ; attempt++ {
		response, text, err := c.attempt(ctx, method, path, key, raw, header)
		if err == nil {
			return response, decode(text, out)
		}
		wait, again := retryAfter(err, c.config.Pause<<attempt)
		if !again || attempt >= c.config.Retries || ctx.Err() != nil {
			return response, err
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return response, err
		case <-timer.C:
		}
	}
}

func decode(text []byte, out any) error {
	if out == nil || len(text) == 0 {
		return nil
	}
	return json.Unmarshal(text, out)
}

// attempt sends the request once.
func (c *Client) attempt(
	ctx context.Context, method, path, key string, body []byte, header http.Header,
) (*http.Response, []byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, c.config.BaseURL+path, bytes.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	for name, values := range header {
		request.Header[name] = values
	}
	request.Header.Set("Authorization", "Bearer "+c.config.Key)
	request.Header.Set("Accept", "application/json")
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if key != "" {
		request.Header.Set("Idempotency-Key", key)
	}
	response, err := c.config.HTTPClient.Do(request)
	if err != nil {
		return nil, nil, fmt.Errorf("%s %s: %w", method, path, err)
	}
	text, err := io.ReadAll(io.LimitReader(response.Body, maxBody+1))
	_ = response.Body.Close() // it was read, or cannot be
	if err == nil && len(text) > maxBody {
		err = ErrTooLong
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%s %s: %w", method, path, err)
	}
	if response.StatusCode >= http.StatusMultipleChoices && response.StatusCode != http.StatusNotModified {
		return response, nil, newError(response, text)
	}
	return response, text, nil
}
