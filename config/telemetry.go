package config

import (
	"errors"
	"net/url"
	"strings"
	"time"
)

// TracesURL returns the address that receives traces; "" where nothing is traced.
func (c Config) TracesURL() string { return c.signalURL(c.OTLPTracesEndpoint, "/v1/traces") }

// MetricsURL returns the address that receives metrics; "" where they are not sent.
func (c Config) MetricsURL() string {
	if c.OTelMetricsExporter == "none" {
		return ""
	}
	return c.signalURL(c.OTLPMetricsEndpoint, "/v1/metrics")
}

// signalURL is the endpoint of a signal, or the path below that of all signals.
func (c Config) signalURL(endpoint, path string) string {
	switch {
	case c.OTelDisabled:
		return ""
	case endpoint != "":
		return endpoint
	case c.OTLPEndpoint != "":
		return strings.TrimRight(c.OTLPEndpoint, "/") + path
	}
	return ""
}

// MetricInterval returns the time between two exports of the metrics.
func (c Config) MetricInterval() time.Duration {
	return time.Duration(c.OTelMetricInterval) * time.Millisecond
}

// OTLPHeaderMap contains the headers of OTLPHeaders.
func (c Config) OTLPHeaderMap() map[string]string {
	headers, _ := parseOTLPHeaders(c.OTLPHeaders)
	return headers
}

// errOTLPHeaders does not quote the value, which may hold a token.
var errOTLPHeaders = errors.New("OTEL_EXPORTER_OTLP_HEADERS must be name=value, separated by commas")

func parseOTLPHeaders(list string) (map[string]string, error) {
	headers := map[string]string{}
	for pair := range strings.SplitSeq(list, ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		name, encoded, ok := strings.Cut(pair, "=")
		value, err := url.PathUnescape(strings.TrimSpace(encoded))
		if name = strings.TrimSpace(name); !ok || err != nil || name == "" {
			return nil, errOTLPHeaders
		}
		headers[name] = value
	}
	return headers, nil
}

// telemetryFaults checks where traces and metrics go.
func (c Config) telemetryFaults() (all faultList) {
	for name, endpoint := range map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT": c.OTLPEndpoint, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": c.OTLPTracesEndpoint,
		"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": c.OTLPMetricsEndpoint,
	} {
		u, err := url.Parse(endpoint)
		all.require(endpoint == "" || err == nil && u.Host != "" && oneOf(u.Scheme, "http", "https"),
			"%s must be http://… or https://…", name)
	}
	all.require(oneOf(c.OTelMetricsExporter, "otlp", "none"), "OTEL_METRICS_EXPORTER must be otlp or none")
	all.require(c.OTelMetricInterval >= 1, "OTEL_METRIC_EXPORT_INTERVAL must be a number of milliseconds above 0")
	if _, err := parseOTLPHeaders(c.OTLPHeaders); err != nil {
		all = append(all, err)
	}
	return all
}
