// Package meetinghosts makes meetings at Zoom and Google Meet, on accounts that their owners have opened to us by OAuth
// 2.0.
package meetinghosts

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"golang.org/x/oauth2"

	"sundry/ports"
)

const (
	// timeout bounds one request to a provider.
	timeout = 15 * time.Second
	// maxResponse is more than any response that is read.
	maxResponse = 1 << 20
)

// Config are the application's credentials at a provider, and its addresses; those left empty are the provider's own.
type Config struct {
	ClientID, ClientSecret string
	// AuthURL is the page on which owners of accounts consent, TokenURL where tokens come from, and APIURL the API.
	AuthURL, TokenURL, APIURL string
}

// account makes requests in the name of the owner of an account.
type account struct {
	app    oauth2.Config
	api    string
	client *http.Client
}

func newAccount(c Config, style oauth2.AuthStyle, scopes ...string) account {
	return account{
		app: oauth2.Config{
			ClientID: c.ClientID, ClientSecret: c.ClientSecret, Scopes: scopes,
			Endpoint: oauth2.Endpoint{AuthURL: c.AuthURL, TokenURL: c.TokenURL, AuthStyle: style},
		},
		api: c.APIURL,
		client: &http.Client{
			Timeout:       timeout,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

// at is the application with the address to which a consent leads.
func (a account) at(redirectURL string) *oauth2.Config {
	app := a.app
	app.RedirectURL = redirectURL
	return &app
}

// connect redeems a code.
func (a account) connect(ctx context.Context, code, redirectURL string) ([]byte, error) {
	token, err := a.at(redirectURL).Exchange(context.WithValue(ctx, oauth2.HTTPClient, a.client), code)
	if err != nil {
		return nil, refusal(err)
	}
	return json.Marshal(token) //nolint:gosec // what opens the account, which is stored encrypted
}

// refusal is ErrMeetingAccess for a code or a token that the provider does not take.
func refusal(err error) error {
	if refused, ok := errors.AsType[*oauth2.RetrieveError](err); ok && refused.Response != nil &&
		refused.Response.StatusCode < http.StatusInternalServerError &&
		refused.Response.StatusCode != http.StatusTooManyRequests {
		return fmt.Errorf("%w: %s", ports.ErrMeetingAccess, refused.ErrorCode)
	}
	return err
}

// call makes a request with the access, renewed where it has expired, and reads the response into out unless that is
// nil.
func (a account) call(ctx context.Context, access *[]byte, method, path string, body, out any) error {
	ctx = context.WithValue(ctx, oauth2.HTTPClient, a.client)
	var token oauth2.Token
	if err := json.Unmarshal(*access, &token); err != nil {
		return fmt.Errorf("read the access: %w", err)
	}
	valid, err := a.app.TokenSource(ctx, &token).Token()
	if err != nil {
		return refusal(err)
	}
	if valid.AccessToken != token.AccessToken {
		if *access, err = json.Marshal(valid); err != nil { //nolint:gosec // as above
			return err
		}
	}
	var payload io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return err
		}
		payload = bytes.NewReader(raw)
	}
	request, err := http.NewRequestWithContext(ctx, method, path, payload)
	if err != nil {
		return err
	}
	valid.SetAuthHeader(request)
	request.Header.Set("Content-Type", "application/json")
	response, err := a.client.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	raw, err := io.ReadAll(io.LimitReader(response.Body, maxResponse))
	if err != nil {
		return err
	}
	switch status := response.StatusCode; {
	case status == http.StatusUnauthorized:
		return fmt.Errorf("%w: %s %s: 401", ports.ErrMeetingAccess, method, request.URL.Path)
	case status == http.StatusNotFound:
		return fmt.Errorf("%w: %s %s", ports.ErrMeetingGone, method, request.URL.Path)
	case status >= http.StatusMultipleChoices:
		return fmt.Errorf("%s %s: %d %.200s", method, request.URL.Path, status, raw)
	case out == nil:
		return nil
	}
	return json.Unmarshal(raw, out)
}
