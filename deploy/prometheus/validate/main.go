// Command validate reads files of Prometheus' alert rules (.yaml) and dashboards of Grafana (.json) as Prometheus itself
// does. It prints each metric that they ask for, with the labels that they select it by.
//
//	go run -C deploy/prometheus/validate . ../alerts.yaml ../../grafana/operations.json
//
// With -test it runs a file of tests of alert rules, in the format of promtool, by Prometheus' engine.
//
//	go run -C deploy/prometheus/validate . -test ../alerts_test.yaml
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
	"go.yaml.in/yaml/v3"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: validate FILE...\n       validate -test FILE")
		os.Exit(2)
	}
	run := func() error { return validate(os.Args[1:], os.Stdout) }
	if len(os.Args) == 3 && os.Args[1] == "-test" {
		run = func() error { return testRules(context.Background(), os.Args[2]) }
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "validate:", err)
		os.Exit(1)
	}
}

func validate(files []string, out io.Writer) error {
	queries := parser.NewParser(parser.Options{})
	asked := map[string]bool{}
	var faults []error
	for _, file := range files {
		expressions, err := expressionsOf(file)
		if err == nil && len(expressions) == 0 {
			err = errors.New("no expression")
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", filepath.Base(file), err))
		}
		for _, expression := range expressions {
			// Grafana replaces it by a duration that fits the panel.
			parsed, err := queries.ParseExpr(strings.ReplaceAll(expression, "$__rate_interval", "5m"))
			if err != nil {
				faults = append(faults, fmt.Errorf("%s: %s: %w", filepath.Base(file), expression, err))
				continue
			}
			parser.Inspect(parsed, func(node parser.Node, _ []parser.Node) error {
				if selector, ok := node.(*parser.VectorSelector); ok {
					asked[selected(selector)] = true
				}
				return nil
			})
		}
	}
	for _, line := range slices.Sorted(maps.Keys(asked)) {
		if _, err := fmt.Fprintln(out, line); err != nil {
			return err
		}
	}
	return errors.Join(faults...)
}

// selected is a selector's metric and labels.
func selected(selector *parser.VectorSelector) string {
	words := []string{selector.Name}
	for _, matcher := range selector.LabelMatchers {
		if matcher.Name != labels.MetricName {
			words = append(words, matcher.Name)
		}
	}
	return strings.Join(words, " ")
}

// expressionsOf reads the expressions of a file.
func expressionsOf(file string) ([]string, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var all []string
	if filepath.Ext(file) == ".yaml" {
		var rules struct {
			Groups []struct{ Rules []struct{ Expr string } }
		}
		err := yaml.Unmarshal(content, &rules)
		for _, group := range rules.Groups {
			for _, rule := range group.Rules {
				all = append(all, rule.Expr)
			}
		}
		return all, err
	}
	var dashboard struct {
		Panels []struct {
			Title, Type string
			Targets     []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(content, &dashboard); err != nil {
		return nil, err
	}
	for _, panel := range dashboard.Panels {
		if panel.Type == "row" {
			continue
		}
		if panel.Title == "" || len(panel.Targets) == 0 {
			return nil, fmt.Errorf("the panel %q has no title or asks for nothing", panel.Title)
		}
		for _, target := range panel.Targets {
			all = append(all, target.Expr)
		}
	}
	return all, nil
}
