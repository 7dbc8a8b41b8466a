// Package webhookhttp posts to addresses that untrusted parties chose, so it trusts nothing about them: every address
// that a name resolves to is checked at the moment of dialling, no redirect is followed, no proxy of the environment is
// used, and headers, bodies and time are bounded.
package webhookhttp

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"
	"unicode/utf8"

	"sundry/core/webhook"
	"sundry/ports"
)

const (
	// timeout bounds a whole attempt.
	timeout = 15 * time.Second
	// maxResponse bounds the part of a response that is read and logged.
	maxResponse = 16 << 10
	// maxHeader bounds the response's header.
	maxHeader = 32 << 10
	userAgent = "Sundry-Webhooks/1"
)

// Sender implements ports.Sender.
type Sender struct {
	client    *http.Client
	transport *http.Transport
	timeout   time.Duration
	metrics   metrics
}

var _ ports.Sender = (*Sender)(nil)

// errRefused reports that a name led to an address that is not public.
var errRefused = errors.New("the address is not public")

// New returns a sender. The policy determines what it may dial beside public addresses.
func New(policy webhook.Policy) *Sender {
	return over(guarded(policy), timeout)
}

func guarded(policy webhook.Policy) *net.Dialer {
	return &net.Dialer{Timeout: 5 * time.Second, KeepAlive: 30 * time.Second, Control: guard(policy)}
}

func over(dialer *net.Dialer, timeout time.Duration) *Sender {
	transport := &http.Transport{
		Proxy:                  nil, // one from the environment would dial for us, past the guard
		DialContext:            dialer.DialContext,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    5 * time.Second,
		ResponseHeaderTimeout:  timeout,
		MaxResponseHeaderBytes: maxHeader,
		DisableCompression:     true, // a small response must not unfold into a big one
		MaxIdleConns:           256,
		MaxIdleConnsPerHost:    64, // a host may have several endpoints
		// endpoints share hosts: a limit here would let one wait for another; each has its own limit
		MaxConnsPerHost:   0,
		IdleConnTimeout:   30 * time.Second,
		ForceAttemptHTTP2: true,
	}
	return &Sender{metrics: newMetrics(), timeout: timeout, transport: transport, client: &http.Client{
		Timeout:       timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport:     transport,
	}}
}

// guard sees the address that a name has just resolved to, so that a response that changes after a check changes
// nothing.
func guard(policy webhook.Policy) func(network, address string, c syscall.RawConn) error {
	return func(_, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err != nil || webhook.IsBlockedAddr(to.Addr(), policy) {
			return errRefused
		}
		return nil
	}
}

// Send implements ports.Sender.
func (s *Sender) Send(ctx context.Context, r ports.OutboundRequest) (ports.OutboundResponse, error) {
	begin := time.Now()
	res, err := s.post(ctx, r)
	s.metrics.note(res, err, time.Since(begin))
	return res, err
}

func (s *Sender) post(ctx context.Context, r ports.OutboundRequest) (ports.OutboundResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, r.URL, bytes.NewReader(r.Body))
	if err != nil {
		return ports.OutboundResponse{}, errors.New("the URL cannot be used")
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", userAgent)
	for name, value := range r.Headers {
		request.Header.Set(name, value)
	}
	response, err := s.client.Do(request)
	if err != nil {
		return ports.OutboundResponse{}, s.plain(err)
	}
	defer func() { _ = response.Body.Close() }() // what is beyond the bound is not read: the connection goes with it
	body, err := io.ReadAll(io.LimitReader(response.Body, maxResponse))
	res := ports.OutboundResponse{StatusCode: response.StatusCode, RetryAfter: response.Header.Get("Retry-After"),
		Body: text(body)}
	if err != nil && response.StatusCode >= 300 {
		return res, nil // the status is enough
	}
	if err != nil {
		return ports.OutboundResponse{}, s.plain(err)
	}
	return res, nil
}

// plain describes what went wrong in a few words for the endpoint's owner, without the URL, which may hold a token.
func (s *Sender) plain(err error) error {
	var timeoutErr net.Error
	var dns *net.DNSError
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.Is(err, errRefused):
		return errRefused
	case errors.As(err, &timeoutErr) && timeoutErr.Timeout():
		return fmt.Errorf("no response within %s", s.timeout)
	case errors.As(err, &dns):
		return errors.New("the host name cannot be resolved")
	case errors.As(err, &certificate):
		return errors.New("the host's certificate is not valid")
	case errors.Is(err, syscall.ECONNREFUSED):
		return errors.New("the connection was refused")
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return errors.New("the connection was closed before a response came")
	}
	return errors.New("the request could not be made")
}

// text keeps a response storable: valid UTF-8 without NUL, and within the bound although a byte that is replaced grows.
func text(body []byte) string {
	clean := bytes.ReplaceAll(bytes.ToValidUTF8(body, []byte("\uFFFD")), []byte{0}, []byte("\uFFFD"))
	if len(clean) > maxResponse {
		end := maxResponse
		for !utf8.RuneStart(clean[end]) {
			end--
		}
		clean = clean[:end]
	}
	return string(clean)
}
