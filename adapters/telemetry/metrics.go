package telemetry

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	"google.golang.org/protobuf/proto"
)

// Metrics sends what a registry shows to a collector, under the names that a scrape has.
type Metrics struct {
	client   *client
	from     prometheus.Gatherer
	every    time.Duration
	resource *resourcepb.Resource
	started  time.Time
	log      *slog.Logger
}

// NewMetrics prepares to send the metrics of a registry every so often. Run begins.
func NewMetrics(ctx context.Context, c Config, every time.Duration, from prometheus.Gatherer,
	log *slog.Logger) (*Metrics, error) {
	described, err := c.resource(ctx)
	if err != nil {
		return nil, err
	}
	m := &Metrics{
		client: newClient(c, "metrics", log), from: from, every: every, resource: &resourcepb.Resource{},
		started: time.Now(), log: log,
	}
	for _, a := range described.Attributes() {
		m.resource.Attributes = append(m.resource.Attributes, pair(string(a.Key), a.Value.String()))
	}
	return m, nil
}

// Run sends them until stopping is closed, and once more then.
func (m *Metrics) Run(stopping <-chan struct{}) {
	every := time.NewTicker(m.every)
	defer every.Stop()
	for {
		select {
		case <-every.C:
			m.send(exportTimeout)
		case <-stopping:
			m.send(shutdownTimeout)
			return
		}
	}
}

func (m *Metrics) send(timeout time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	body, err := m.encode(time.Now())
	if err != nil {
		m.log.WarnContext(ctx, "metrics are not sent", slog.Any("error", err))
		return
	}
	m.client.upload(ctx, body)
}

// encode returns what the registry shows now as MetricsData, which on the wire is ExportMetricsServiceRequest.
func (m *Metrics) encode(now time.Time) ([]byte, error) {
	families, err := m.from.Gather()
	if err != nil {
		return nil, fmt.Errorf("gather metrics: %w", err)
	}
	at := window{nanoseconds(m.started), nanoseconds(now)}
	scope := &metricspb.ScopeMetrics{Scope: &commonpb.InstrumentationScope{Name: "sundry"}}
	for _, family := range families {
		scope.Metrics = append(scope.Metrics, at.metric(family))
	}
	body, err := proto.Marshal(&metricspb.MetricsData{ResourceMetrics: []*metricspb.ResourceMetrics{
		{Resource: m.resource, ScopeMetrics: []*metricspb.ScopeMetrics{scope}},
	}})
	if err != nil {
		return nil, fmt.Errorf("encode metrics: %w", err)
	}
	return body, nil
}

func nanoseconds(t time.Time) uint64 { return uint64(t.UnixNano()) } //nolint:gosec // it is after 1970

// window is the time that what was counted belongs to.
type window struct{ start, end uint64 }

// metric is a metric of Prometheus as OTLP has it: counters are cumulative sums, everything without a kind is a gauge.
func (w window) metric(family *dto.MetricFamily) *metricspb.Metric {
	m := &metricspb.Metric{Name: family.GetName(), Description: family.GetHelp()}
	switch family.GetType() {
	case dto.MetricType_COUNTER:
		m.Data = &metricspb.Metric_Sum{Sum: &metricspb.Sum{
			AggregationTemporality: metricspb.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE, IsMonotonic: true,
			DataPoints: w.numbers(family, func(p *dto.Metric) float64 { return p.GetCounter().GetValue() }),
		}}
	case dto.MetricType_HISTOGRAM:
		data := &metricspb.Histogram{
			AggregationTemporality: metricspb.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE,
		}
		for _, p := range family.GetMetric() {
			data.DataPoints = append(data.DataPoints, w.histogram(p))
		}
		m.Data = &metricspb.Metric_Histogram{Histogram: data}
	case dto.MetricType_SUMMARY:
		data := &metricspb.Summary{}
		for _, p := range family.GetMetric() {
			data.DataPoints = append(data.DataPoints, w.summary(p))
		}
		m.Data = &metricspb.Metric_Summary{Summary: data}
	default:
		m.Data = &metricspb.Metric_Gauge{Gauge: &metricspb.Gauge{
			DataPoints: w.numbers(family, func(p *dto.Metric) float64 {
				return p.GetGauge().GetValue() + p.GetUntyped().GetValue()
			}),
		}}
	}
	return m
}

func (w window) numbers(family *dto.MetricFamily, value func(*dto.Metric) float64) []*metricspb.NumberDataPoint {
	var points []*metricspb.NumberDataPoint
	for _, p := range family.GetMetric() {
		points = append(points, &metricspb.NumberDataPoint{
			Attributes: labels(p), StartTimeUnixNano: w.start, TimeUnixNano: w.end,
			Value: &metricspb.NumberDataPoint_AsDouble{AsDouble: value(p)},
		})
	}
	return points
}

// histogram has the count of each bucket alone, and of what is above the last bound; Prometheus adds those below.
func (w window) histogram(p *dto.Metric) *metricspb.HistogramDataPoint {
	h := p.GetHistogram()
	point := &metricspb.HistogramDataPoint{
		Attributes: labels(p), StartTimeUnixNano: w.start, TimeUnixNano: w.end, Count: h.GetSampleCount(),
		Sum: new(h.GetSampleSum()),
	}
	var below uint64
	for _, bucket := range h.GetBucket() {
		point.ExplicitBounds = append(point.ExplicitBounds, bucket.GetUpperBound())
		point.BucketCounts = append(point.BucketCounts, bucket.GetCumulativeCount()-below)
		below = bucket.GetCumulativeCount()
	}
	point.BucketCounts = append(point.BucketCounts, h.GetSampleCount()-below)
	return point
}

func (w window) summary(p *dto.Metric) *metricspb.SummaryDataPoint {
	s := p.GetSummary()
	point := &metricspb.SummaryDataPoint{
		Attributes: labels(p), StartTimeUnixNano: w.start, TimeUnixNano: w.end, Count: s.GetSampleCount(),
		Sum: s.GetSampleSum(),
	}
	for _, q := range s.GetQuantile() {
		point.QuantileValues = append(point.QuantileValues, &metricspb.SummaryDataPoint_ValueAtQuantile{
			Quantile: q.GetQuantile(), Value: q.GetValue(),
		})
	}
	return point
}

func labels(p *dto.Metric) []*commonpb.KeyValue {
	var all []*commonpb.KeyValue
	for _, label := range p.GetLabel() {
		all = append(all, pair(label.GetName(), label.GetValue()))
	}
	return all
}

func pair(key, value string) *commonpb.KeyValue {
	return &commonpb.KeyValue{
		Key: key, Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: value}},
	}
}
