package webhookhttp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"sundry/core/fault"
	"sundry/core/webhook"
	"sundry/ports"
)

const (
	// fetchTimeout bounds a whole fetch, redirects included.
	fetchTimeout = 10 * time.Second
	// maxFetched is the largest calendar that is read.
	maxFetched = 5 << 20
	// maxRedirects bounds the redirects of a fetch.
	maxRedirects = 3
)

// Fetcher implements ports.Fetcher.
type Fetcher struct{ over *Sender }

var _ ports.Fetcher = (*Fetcher)(nil)

// errRedirect reports that an address led somewhere that it may not lead to, or nowhere.
var errRedirect = errors.New("the address redirects to one that is not allowed, or too often")

// NewFetcher returns a fetcher behind the same guard as webhooks. The policy determines what it may dial beside public
// addresses.
func NewFetcher(policy webhook.Policy) *Fetcher {
	s := over(guarded(policy), fetchTimeout)
	s.client.CheckRedirect = func(r *http.Request, via []*http.Request) error {
		var f fault.Violations
		webhook.CheckURL("", r.URL.String(), policy, &f)
		if len(via) > maxRedirects || f.Err() != nil {
			return errRedirect
		}
		return nil
	}
	return &Fetcher{s}
}

// Fetch implements ports.Fetcher.
func (f *Fetcher) Fetch(ctx context.Context, url string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, errors.New("the URL cannot be used")
	}
	request.Header.Set("Accept", "text/calendar, */*;q=0.1")
	request.Header.Set("User-Agent", "Sundry-Calendars/1")
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
	body, err := io.ReadAll(io.LimitReader(response.Body, maxFetched+1))
	if err != nil {
		return nil, f.over.plain(err)
	}
	if len(body) > maxFetched {
		return nil, errors.New("the response is larger than 5 MiB")
	}
	return body, nil
}
