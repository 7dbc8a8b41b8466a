package telemetry

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"golang.org/x/time/rate"
	"google.golang.org/protobuf/proto"
)

const (
	// exportTimeout bounds one batch with its repetitions, as OTEL_EXPORTER_OTLP_TIMEOUT does by default.
	exportTimeout = 10 * time.Second
	// firstPause is the pause before a batch is sent again to a collector that is busy; it doubles.
	firstPause = 500 * time.Millisecond
)

// client sends batches of one signal. It does what otlptracehttp and otlpmetrichttp do without gRPC, which
// these bring with them and which would make the binary 2 MB larger.
type client struct {
	url string
	// signal names what is sent in the log: traces or metrics.
	signal  string
	headers map[string]string
	http    *http.Client
	log     *slog.Logger
	seldom  *rate.Sometimes
}

func newClient(c Config, signal string, log *slog.Logger) *client {
	return &client{
		url: c.URL, signal: signal, headers: c.Headers, http: &http.Client{}, log: log,
		seldom: &rate.Sometimes{First: 1, Interval: time.Minute},
	}
}

// Start implements otlptrace.Client.
func (*client) Start(context.Context) error { return nil }

// Stop implements otlptrace.Client.
func (c *client) Stop(context.Context) error {
	c.http.CloseIdleConnections()
	return nil
}

// UploadTraces implements otlptrace.Client. Spans that the collector does not take are lost, which is logged.
func (c *client) UploadTraces(ctx context.Context, spans []*tracepb.ResourceSpans) error {
	// TracesData and ExportTraceServiceRequest are the same on the wire.
	body, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: spans})
	if err != nil {
		return fmt.Errorf("encode spans: %w", err)
	}
	c.upload(ctx, body)
	return nil
}

// upload sends a batch until the collector has taken it, or exportTimeout is over.
func (c *client) upload(ctx context.Context, body []byte) {
	ctx, cancel := context.WithTimeout(ctx, exportTimeout)
	defer cancel()
	pause := firstPause
	for {
		again, err := c.post(ctx, body)
		if err == nil {
			return
		}
		select {
		case <-time.After(pause):
			pause *= 2
		case <-ctx.Done():
			again = false
		}
		if !again {
			c.seldom.Do(func() {
				c.log.WarnContext(ctx, "telemetry is lost", slog.String("signal", c.signal), slog.Any("error", err))
			})
			return
		}
	}
}

// post sends a batch once. again means that the same batch may be taken later.
func (c *client) post(ctx context.Context, body []byte) (again bool, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return false, err
	}
	request.Header.Set("Content-Type", "application/x-protobuf")
	for name, value := range c.headers {
		request.Header.Set(name, value)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return true, err
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, 64<<10)) // so that the connection is used again
	if err := response.Body.Close(); err != nil {
		return false, err
	}
	switch response.StatusCode {
	case http.StatusOK, http.StatusAccepted, http.StatusNoContent:
		return false, nil
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		again = true
	}
	return again, fmt.Errorf("the collector responded with %d", response.StatusCode)
}
