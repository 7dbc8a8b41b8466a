package config_test

import (
	"maps"
	"strings"
	"testing"

	"sundry/config"
)

func TestTracesURL(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		vars map[string]string
		want string
	}{
		"nothing is set": {nil, ""},
		"an endpoint": {map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318/"},
			"http://collector:4318/v1/traces"},
		"an endpoint for traces": {map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318",
			"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "https://traces.example/in"}, "https://traces.example/in"},
		"disabled": {map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318",
			"OTEL_SDK_DISABLED": "true"}, ""},
	} {
		cfg, err := config.FromMap(c.vars)
		if err != nil || cfg.TracesURL() != c.want {
			t.Errorf("%s: %q (%v), want %q", name, cfg.TracesURL(), err, c.want)
		}
	}
}

func TestMetricsURL(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		vars map[string]string
		want string
	}{
		"nothing is set": {nil, ""},
		"an endpoint": {map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318"},
			"http://collector:4318/v1/metrics"},
		"an endpoint for metrics alone": {
			map[string]string{"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": "https://metrics.example/in"},
			"https://metrics.example/in"},
		"an endpoint for traces alone": {
			map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "https://traces.example/in"}, ""},
		"scraped only": {map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318",
			"OTEL_METRICS_EXPORTER": "none"}, ""},
		"disabled": {map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318",
			"OTEL_SDK_DISABLED": "true"}, ""},
	} {
		cfg, err := config.FromMap(c.vars)
		if err != nil || cfg.MetricsURL() != c.want {
			t.Errorf("%s: %q (%v), want %q", name, cfg.MetricsURL(), err, c.want)
		}
	}
}

func TestOTLPHeaders(t *testing.T) {
	t.Parallel()
	cfg, err := config.FromMap(map[string]string{"OTEL_EXPORTER_OTLP_HEADERS": "Authorization=Bearer%20t=, x-team = a,"})
	want := map[string]string{"Authorization": "Bearer t=", "x-team": "a"}
	if got := cfg.OTLPHeaderMap(); err != nil || !maps.Equal(got, want) {
		t.Errorf("read %q (%v), want %q", got, err, want)
	}
}

func TestTelemetryFaults(t *testing.T) {
	t.Parallel()
	_, err := config.FromMap(map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "collector:4317",
		"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "/v1/traces", "OTEL_EXPORTER_OTLP_HEADERS": "hunter2",
		"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": "metrics", "OTEL_METRICS_EXPORTER": "prometheus",
		"OTEL_METRIC_EXPORT_INTERVAL": "0"})
	for _, want := range []string{"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
		"OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "OTEL_METRICS_EXPORTER",
		"OTEL_METRIC_EXPORT_INTERVAL"} {
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%v, want a line for %s without its secret", err, want)
		}
	}
}
