package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/template"
	"github.com/prometheus/prometheus/util/annotations"
	"go.yaml.in/yaml/v3"
)

// rule is an alert of a file of rules.
type rule struct {
	Alert, Expr string
	For         model.Duration
	Labels      map[string]string
	Annotations map[string]string
}

// ruleTests is a file of tests as `promtool test rules` reads it, as far as alerts need it.
type ruleTests struct {
	RuleFiles          []string       `yaml:"rule_files"`
	EvaluationInterval model.Duration `yaml:"evaluation_interval"`
	Tests              []ruleTest
}

type ruleTest struct {
	Name        string
	Interval    model.Duration
	InputSeries []struct{ Series, Values string } `yaml:"input_series"`
	AlertTests  []alertTest                       `yaml:"alert_rule_test"`
}

type alertTest struct {
	EvalTime  model.Duration `yaml:"eval_time"`
	Alertname string
	Expected  []alert `yaml:"exp_alerts"`
}

// alert is one that fires.
type alert struct {
	Labels      map[string]string `yaml:"exp_labels"`
	Annotations map[string]string `yaml:"exp_annotations"`
}

// testRules runs a file of tests with Prometheus' own engine and templates. Each alert of its rules has to fire in one
// test and not in another.
func testRules(ctx context.Context, file string) error {
	var tests ruleTests
	if err := readStrictly(file, &tests); err != nil {
		return err
	}
	rules := map[string]rule{}
	for _, name := range tests.RuleFiles {
		var groups struct {
			Groups []struct {
				Name  string
				Rules []rule
			}
		}
		if err := readStrictly(filepath.Join(filepath.Dir(file), name), &groups); err != nil {
			return err
		}
		for _, group := range groups.Groups {
			for _, r := range group.Rules {
				rules[r.Alert] = r
			}
		}
	}
	var faults []error
	fired, silent := map[string]bool{}, map[string]bool{}
	for _, test := range tests.Tests {
		data, err := test.storage()
		if err != nil {
			return fmt.Errorf("%s: %w", test.Name, err)
		}
		for _, expected := range test.AlertTests {
			r, ok := rules[expected.Alertname]
			if !ok {
				return fmt.Errorf("%s: no alert %s", test.Name, expected.Alertname)
			}
			firing, err := r.firing(ctx, data, time.Duration(tests.EvaluationInterval), time.Duration(expected.EvalTime))
			if err != nil {
				return fmt.Errorf("%s: %s: %w", test.Name, r.Alert, err)
			}
			if got, want := listed(firing), listed(expected.Expected); got != want {
				faults = append(faults, fmt.Errorf("%s: %s at %s:\n\tgot  %s\n\twant %s", test.Name, r.Alert, expected.EvalTime,
					got, want))
			}
			fired[r.Alert] = fired[r.Alert] || len(expected.Expected) > 0
			silent[r.Alert] = silent[r.Alert] || len(expected.Expected) == 0
		}
	}
	for _, name := range slices.Sorted(maps.Keys(rules)) {
		if !fired[name] || !silent[name] {
			faults = append(faults, fmt.Errorf("%s: no test in which it fires, or none in which it does not", name))
		}
	}
	return errors.Join(faults...)
}

func readStrictly(file string, into any) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	strict := yaml.NewDecoder(bytes.NewReader(content))
	strict.KnownFields(true)
	if err := strict.Decode(into); err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(file), err)
	}
	return nil
}

// listed shows alerts in one order, without the name, which is that of the rule.
func listed(alerts []alert) string {
	lines := make([]string, len(alerts))
	for i, a := range alerts {
		lines[i] = fmt.Sprintf("%v %v", a.Labels, a.Annotations)
	}
	slices.Sort(lines)
	return "[" + strings.Join(lines, " | ") + "]"
}

// storage returns the test's series, the first value of each at 0.
func (t ruleTest) storage() (storage.Queryable, error) {
	series := parser.NewParser(parser.Options{})
	var all []storage.Series
	for _, input := range t.InputSeries {
		of, values, err := series.ParseSeriesDesc(input.Series + " " + input.Values)
		if err != nil {
			return nil, err
		}
		var points []promql.FPoint
		for i, value := range values {
			if !value.Omitted {
				points = append(points, promql.FPoint{T: int64(i) * time.Duration(t.Interval).Milliseconds(), F: value.Value})
			}
		}
		all = append(all, promql.NewStorageSeries(promql.Series{Metric: of, Floats: points}))
	}
	return &storage.MockQueryable{MockQuerier: &storage.MockQuerier{
		SelectMockFunction: func(_ bool, _ *storage.SelectHints, matchers ...*labels.Matcher) storage.SeriesSet {
			return &found{all: slices.DeleteFunc(slices.Clone(all), func(s storage.Series) bool {
				return slices.ContainsFunc(matchers, func(m *labels.Matcher) bool { return !m.Matches(s.Labels().Get(m.Name)) })
			})}
		},
	}}, nil
}

// found is the storage.SeriesSet of a list.
type found struct {
	all []storage.Series
	n   int
}

// Next implements storage.SeriesSet.
func (f *found) Next() bool { f.n++; return f.n <= len(f.all) }

// At implements storage.SeriesSet.
func (f *found) At() storage.Series { return f.all[f.n-1] }

// Err implements storage.SeriesSet.
func (*found) Err() error { return nil }

// Warnings implements storage.SeriesSet.
func (*found) Warnings() annotations.Annotations { return nil }

// firing evaluates the rule every interval until a time, and returns what then fires: what has been true for as long as
// the rule says.
func (r rule) firing(ctx context.Context, data storage.Queryable, interval, until time.Duration) ([]alert, error) {
	queries := promql.NewEngine(promql.EngineOpts{
		MaxSamples: 1 << 20, Timeout: time.Minute, Parser: parser.NewParser(parser.Options{}),
	})
	since := map[string]time.Duration{}
	var firing []alert
	for at := time.Duration(0); at <= until; at += interval {
		query, err := queries.NewInstantQuery(ctx, data, nil, r.Expr, time.UnixMilli(at.Milliseconds()))
		if err != nil {
			return nil, err
		}
		result, err := query.Exec(ctx).Vector()
		if err != nil {
			return nil, err
		}
		firing = nil
		still := map[string]time.Duration{}
		for _, sample := range result {
			key := sample.Metric.String()
			still[key] = at
			if before, ok := since[key]; ok {
				still[key] = before
			}
			if at-still[key] >= time.Duration(r.For) {
				a, err := r.alert(ctx, sample)
				if err != nil {
					return nil, err
				}
				firing = append(firing, a)
			}
		}
		since = still
		query.Close()
	}
	return firing, nil
}

// alert returns the alert that Prometheus sends for a series.
func (r rule) alert(ctx context.Context, sample promql.Sample) (alert, error) {
	a := alert{map[string]string{}, map[string]string{}}
	sample.Metric.Range(func(l labels.Label) {
		if l.Name != labels.MetricName {
			a.Labels[l.Name] = l.Value
		}
	})
	data := template.AlertTemplateData(maps.Clone(a.Labels), nil, "", sample)
	for texts, into := range map[*map[string]string]map[string]string{&r.Labels: a.Labels, &r.Annotations: a.Annotations} {
		for name, text := range *texts {
			expanded, err := template.NewTemplateExpander(ctx, "{{$labels := .Labels}}{{$value := .Value}}"+text, name, data,
				model.Time(sample.T), nil, nil, nil).Expand()
			if err != nil {
				return a, err
			}
			into[name] = expanded
		}
	}
	return a, nil
}
