// Package vies asks the European Commission's register of VAT ids (VIES) over its REST interface.
package vies

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"sundry/core/tax"
	"sundry/ports"
)

// APIBase is the Commission's own address.
const APIBase = "https://ec.europa.eu/taxation_customs/vies/rest-api"

const (
	// timeout bounds one question: a buyer is waiting, and the check of the shape decides without it.
	timeout = 4 * time.Second
	// maxResponse is more than any response of VIES.
	maxResponse = 64 << 10
)

// Config specifies the service to ask and the identity of the requester.
type Config struct {
	// APIBase is its address; "" for the Commission's own.
	APIBase string
	// RequesterVATID is the seller's own id. With it VIES responds with a consultation number, which proves the check; ""
	// for none.
	RequesterVATID string
}

// Register implements ports.VATRegister.
type Register struct {
	config Config
	client *http.Client
	now    func() time.Time
}

var _ ports.VATRegister = (*Register)(nil)

// New returns the register. now is the time of a check whose response has none.
func New(config Config, now func() time.Time) *Register {
	if config.APIBase == "" {
		config.APIBase = APIBase
	}
	return &Register{config: config, now: now, client: &http.Client{
		Timeout:       timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

type question struct {
	CountryCode              string `json:"countryCode"`
	VATNumber                string `json:"vatNumber"`
	RequesterMemberStateCode string `json:"requesterMemberStateCode,omitempty"`
	RequesterNumber          string `json:"requesterNumber,omitempty"`
}

// verdict is the body of a VIES response. Valid is nil in a response that reports a fault instead.
type verdict struct {
	CountryCode       string `json:"countryCode"`
	VATNumber         string `json:"vatNumber"`
	Valid             *bool  `json:"valid"`
	RequestDate       string `json:"requestDate"`
	RequestIdentifier string `json:"requestIdentifier"`
	UserError         string `json:"userError"`
	ErrorWrappers     []struct {
		Error string `json:"error"`
	} `json:"errorWrappers"`
}

// errUndecided reports that VIES did not decide about an id.
var errUndecided = errors.New("VIES did not decide")

// Check implements ports.VATRegister.
func (r *Register) Check(ctx context.Context, country, vatID string) (tax.VATCheck, error) {
	prefix, number := tax.SplitVATID(country, vatID)
	asked := question{CountryCode: prefix, VATNumber: number}
	if own := tax.NormalizeVATID(r.config.RequesterVATID); len(own) > 2 {
		asked.RequesterMemberStateCode, asked.RequesterNumber = own[:2], own[2:]
	}
	got, err := r.ask(ctx, asked)
	if err != nil {
		return tax.VATCheck{}, fmt.Errorf("check VAT id in %s: %w", prefix, err)
	}
	if got.Valid == nil || got.CountryCode != prefix || tax.NormalizeVATID(got.VATNumber) != number {
		return tax.VATCheck{}, fmt.Errorf("check VAT id in %s: %w: %s", prefix, errUndecided, got.fault())
	}
	if fault := got.fault(); fault != "" && fault != "VALID" && fault != "INVALID" {
		return tax.VATCheck{}, fmt.Errorf("check VAT id in %s: %w: %s", prefix, errUndecided, fault)
	}
	return tax.VATCheck{ID: prefix + number, Registered: *got.Valid, CheckedAt: r.dateOf(got),
		Consultation: cut(got.RequestIdentifier)}, nil
}

func (r *Register) ask(ctx context.Context, q question) (verdict, error) {
	body, err := json.Marshal(q)
	if err != nil {
		return verdict{}, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(r.config.APIBase, "/")+
		"/check-vat-number", bytes.NewReader(body))
	if err != nil {
		return verdict{}, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json")
	response, err := r.client.Do(request)
	if err != nil {
		return verdict{}, err
	}
	defer func() { _ = response.Body.Close() }()
	raw, err := io.ReadAll(io.LimitReader(response.Body, maxResponse))
	if err != nil {
		return verdict{}, err
	}
	var got verdict
	if err := json.Unmarshal(raw, &got); err != nil {
		return verdict{}, fmt.Errorf("%w: status %d, and nothing that can be read", errUndecided, response.StatusCode)
	}
	if response.StatusCode != http.StatusOK {
		return verdict{}, fmt.Errorf("%w: status %d %s", errUndecided, response.StatusCode, got.fault())
	}
	return got, nil
}

// fault is VIES's own word for why it did not decide; "" for none. It is cut, because it goes into a log.
func (a verdict) fault() string {
	if len(a.ErrorWrappers) > 0 {
		return cut(a.ErrorWrappers[0].Error)
	}
	return cut(a.UserError)
}

// dateOf returns the time of the check, by VIES's clock where it is named.
func (r *Register) dateOf(a verdict) time.Time {
	if at, err := time.Parse(time.RFC3339Nano, a.RequestDate); err == nil {
		return at.UTC().Truncate(time.Millisecond)
	}
	return r.now().UTC().Truncate(time.Millisecond)
}

// maxWord is more than any word of VIES.
const maxWord = 64

func cut(s string) string { return strings.ToValidUTF8(s[:min(len(s), maxWord)], "") }
