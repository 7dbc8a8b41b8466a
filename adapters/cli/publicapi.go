package cli

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

// publicAPI is the API as an integrator calls it: listen and trigger know nothing else of the service.
type publicAPI struct {
	url, key string
	client   *http.Client
}

// apiFlags adds what both commands need, with the environment as the default.
func apiFlags(flags *flag.FlagSet) *publicAPI {
	api := &publicAPI{client: &http.Client{Timeout: time.Minute}}
	address := os.Getenv("SUNDRY_URL")
	if address == "" {
		address = "http://127.0.0.1:8080"
	}
	flags.StringVar(&api.url, "api", address, "address of the service (SUNDRY_URL)")
	flags.StringVar(&api.key, "key", os.Getenv("SUNDRY_KEY"), "secret key (SUNDRY_KEY)")
	return api
}

func (a *publicAPI) check() error {
	if a.key == "" {
		return errors.New("a secret key is needed: --key sk_test_… or SUNDRY_KEY")
	}
	a.url = strings.TrimRight(a.url, "/")
	if u, err := url.Parse(a.url); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return errors.New("--api, or SUNDRY_URL, wants a URL such as http://127.0.0.1:8080")
	}
	return nil
}

// apiError is a refusal by the API.
type apiError struct {
	status  int
	Code    string `json:"code"`
	Message string `json:"message"`
}

func (e *apiError) Error() string {
	return fmt.Sprintf("the API responded with %d %s: %s", e.status, e.Code, e.Message)
}

// refusalStatus returns the status of a response that refused a request; 0 for any other error and for none.
func refusalStatus(err error) int {
	if refused, ok := errors.AsType[*apiError](err); ok {
		return refused.status
	}
	return 0
}

// refusalOf reads the error of a response, which may be a proxy's.
func refusalOf(status int, body []byte) *apiError {
	refused := &apiError{status: status}
	if json.Unmarshal(body, refused) != nil {
		refused.Message = http.StatusText(status)
	}
	return refused
}

// call sends a request and reads the response into out, which may be nil.
func (a *publicAPI) call(ctx context.Context, method, path string, body, out any) error {
	var reader io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return err
		}
		reader = bytes.NewReader(raw)
	}
	request, err := http.NewRequestWithContext(ctx, method, a.url+path, reader)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+a.key)
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Idempotency-Key", rand.Text())
	}
	response, err := a.client.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }() // it was read, or the request failed already
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode >= http.StatusBadRequest {
		return refusalOf(response.StatusCode, raw)
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(raw, out)
}
