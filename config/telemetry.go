package config

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// TracesURL is the address that receives traces; "" where nothing is traced.
func (c Config) TracesURL() string {
	switch {
	case c.OTelDisabled:
		return ""
	case c.OTLPTracesEndpoint != "":
		return c.OTLPTracesEndpoint
	case c.OTLPEndpoint != "":
		return strings.TrimRight(c.OTLPEndpoint, "/") + "/v1/traces"
	}
	return ""
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

// telemetryFaults checks where traces go.
func (c Config) telemetryFaults() []error {
	var all []error
	for name, endpoint := range map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT": c.OTLPEndpoint, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": c.OTLPTracesEndpoint,
	} {
		u, err := url.Parse(endpoint)
		if endpoint != "" && (err != nil || u.Host == "" || !oneOf(u.Scheme, "http", "https")) {
			all = append(all, fmt.Errorf("%s must be http://… or https://…", name))
		}
	}
	if _, err := parseOTLPHeaders(c.OTLPHeaders); err != nil {
		all = append(all, err)
	}
	return all
}
