package webhookhttp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"sundry/core/fault"
	"sundry/core/webhook"
	"sundry/ports"
)

const (
	// fetchTimeout bounds a whole fetch, redirects included.
	fetchTimeout = 10 * time.Second
	// imageTimeout bounds the fetch of a picture, which a page waits for; imageStep bounds each of its steps: to
	// connect, and to get the response's header.
	imageTimeout = 5 * time.Second
	imageStep    = 2 * time.Second
	// maxCalendar and maxPicture are the largest files that are read, in MiB.
	maxCalendar = 5
	maxPicture  = 2
	// maxRedirects bounds the redirects of a fetch.
	maxRedirects = 3
)

// Fetcher implements ports.Fetcher.
type Fetcher struct {
	over              *Sender
	max               int64 // MiB
	accept, userAgent string
}

var _ ports.Fetcher = (*Fetcher)(nil)

// errRedirect reports that an address led somewhere that it may not lead to, or nowhere.
var errRedirect = errors.New("the address redirects to one that is not allowed, or too often")

// NewFetcher returns a fetcher of calendars behind the same guard as webhooks. The policy determines what it may dial
// beside public addresses.
func NewFetcher(policy webhook.Policy) *Fetcher {
	return &Fetcher{
		over: fetching(guarded(policy), policy, fetchTimeout), max: maxCalendar,
		accept: "text/calendar, */*;q=0.1", userAgent: "Sundry-Calendars/1",
	}
}

// NewImageFetcher returns a fetcher of pictures behind the same guard. It gives a host little time, because a page
// waits for it.
func NewImageFetcher(policy webhook.Policy) *Fetcher {
	return imageFetcher(policy, imageStep)
}

func imageFetcher(policy webhook.Policy, step time.Duration) *Fetcher {
	dialer := guarded(policy)
	dialer.Timeout = step
	s := fetching(dialer, policy, imageTimeout)
	s.transport.TLSHandshakeTimeout, s.transport.ResponseHeaderTimeout = step, step
	return &Fetcher{over: s, max: maxPicture, accept: "image/*, */*;q=0.1", userAgent: "Sundry-Images/1"}
}

// fetching returns a sender that follows a few redirects, to addresses that the policy allows.
func fetching(dialer *net.Dialer, policy webhook.Policy, timeout time.Duration) *Sender {
	s := over(dialer, timeout)
	s.client.CheckRedirect = func(r *http.Request, via []*http.Request) error {
		var f fault.Violations
		webhook.CheckURL("", r.URL.String(), policy, &f)
		if len(via) > maxRedirects || f.Err() != nil {
			return errRedirect
		}
		return nil
	}
	return s
}

// Fetch implements ports.Fetcher.
func (f *Fetcher) Fetch(ctx context.Context, url string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, f.over.timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, errors.New("the URL cannot be used")
	}
	request.Header.Set("Accept", f.accept)
	request.Header.Set("User-Agent", f.userAgent)
	response, err := f.over.client.Do(request)
	if errors.Is(err, errRedirect) {
		return nil, errRedirect
	}
	if err != nil {
		return nil, f.over.plain(err)
	}
	defer func() { _ = response.Body.Close() }() // what is beyond the bound is not read
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the response was %d", response.StatusCode)
	}
	limit := f.max << 20
	body, err := io.ReadAll(io.LimitReader(response.Body, limit+1))
	if err != nil {
		return nil, f.over.plain(err)
	}
	if int64(len(body)) > limit {
		return nil, fmt.Errorf("the response is larger than %d MiB", f.max)
	}
	return body, nil
}
