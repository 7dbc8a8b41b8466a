package sundry

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Event is a change in your account. GET /v1/event-types lists the types with the members of Data.
type Event struct {
	ID        string          `json:"id"`
	Type      string          `json:"type"`
	CreatedAt time.Time       `json:"createdAt"`
	Livemode  bool            `json:"livemode"`
	Data      json.RawMessage `json:"data"`
}

// Events returns the pages of events behind a cursor, oldest first; "" begins with the first event. It ends when all
// were read; ask again later with the last page's NextCursor. Filters are those of GET /v1/events, such as type.
func (c *Client) Events(ctx context.Context, cursor string, filters url.Values) iter.Seq2[EventPage, error] {
	return func(yield func(EventPage, error) bool) {
		query := url.Values{"order": {"asc"}, "limit": {"100"}}
		maps.Copy(query, filters)
		for next := cursor; ; {
			if next != "" {
				query.Set("cursor", next)
			}
			var page EventPage
			err := c.Do(ctx, http.MethodGet, "/v1/events?"+query.Encode(), nil, &page)
			if !yield(page, err) || err != nil || !page.HasMore {
				return
			}
			next = page.NextCursor
		}
	}
}

// EventPage is a page of events. Keep NextCursor with what you did with them, and no event is missed or done twice.
type EventPage struct {
	Data       []Event `json:"data"`
	HasMore    bool    `json:"hasMore"`
	NextCursor string  `json:"nextCursor"`
}

// List returns every object of a list route, such as /v1/invoices, newest first, page by page.
func List[T any](ctx context.Context, c *Client, path string, filters url.Values) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		query := url.Values{"limit": {"100"}}
		maps.Copy(query, filters)
		for {
			var page struct {
				Data       []T     `json:"data"`
				HasMore    bool    `json:"hasMore"`
				NextCursor *string `json:"nextCursor"`
			}
			if err := c.Do(ctx, http.MethodGet, path+"?"+query.Encode(), nil, &page); err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, item := range page.Data {
				if !yield(item, nil) {
					return
				}
			}
			if !page.HasMore || page.NextCursor == nil {
				return
			}
			query.Set("cursor", *page.NextCursor)
		}
	}
}

// ErrSignature is the refusal of a webhook message that the service did not sign, or signed too long ago.
var ErrSignature = errors.New("sundry: the webhook message has no valid signature")

// signatureLifetime is the largest accepted difference between a message's time and now: an older message could be a
// replay.
const signatureLifetime = 5 * time.Minute

// VerifyWebhook checks a message with the secret of its endpoint (whsec_…) and returns its event. Pass the body as it
// arrived. ErrSignature. The same event may come twice: its ID tells.
func VerifyWebhook(secret string, header http.Header, body []byte) (*Event, error) {
	return verifyAt(time.Now(), secret, header, body)
}

func verifyAt(now time.Time, secret string, header http.Header, body []byte) (*Event, error) {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil || len(key) == 0 {
		return nil, errors.New("sundry: the secret of an endpoint reads whsec_ and base64")
	}
	id, stamp := header.Get("Webhook-Id"), header.Get("Webhook-Timestamp")
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil || id == "" {
		return nil, fmt.Errorf("%w: it lacks the header Webhook-Id or Webhook-Timestamp", ErrSignature)
	}
	if signed := time.Unix(seconds, 0); now.Sub(signed).Abs() > signatureLifetime {
		return nil, fmt.Errorf("%w: it was signed at %s, and it is %s here", ErrSignature,
			signed.UTC().Format(time.RFC3339), now.UTC().Format(time.RFC3339))
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + stamp + "."))
	mac.Write(body)
	want := mac.Sum(nil)
	for signature := range strings.FieldsSeq(header.Get("Webhook-Signature")) {
		version, text, _ := strings.Cut(signature, ",")
		got, err := base64.StdEncoding.DecodeString(text)
		if version == "v1" && err == nil && hmac.Equal(got, want) {
			event := &Event{}
			return event, json.Unmarshal(body, event)
		}
	}
	return nil, ErrSignature
}
