package metadata_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"sundry/core/fault"
	"sundry/core/metadata"
)

func TestMergeReplacesAndRemoves(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ before, change, want map[string]string }{
		"nothing to nothing":   {nil, nil, map[string]string{}},
		"a first pair":         {nil, map[string]string{"a": "1"}, map[string]string{"a": "1"}},
		"another beside it":    {map[string]string{"a": "1"}, map[string]string{"b": "2"}, map[string]string{"a": "1", "b": "2"}},
		"another value":        {map[string]string{"a": "1"}, map[string]string{"a": "2"}, map[string]string{"a": "2"}},
		"an empty one removes": {map[string]string{"a": "1", "b": "2"}, map[string]string{"a": ""}, map[string]string{"b": "2"}},
		"the last one removed": {map[string]string{"a": "1"}, map[string]string{"a": "", "x": ""}, map[string]string{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := metadata.New(c.before)
			got := before.Merge(c.change)
			if !maps.Equal(got.Map(), c.want) || got != metadata.New(c.want) {
				t.Errorf("got %v, want %v", got.Map(), c.want)
			}
			if before != metadata.New(c.before) {
				t.Errorf("the pairs before became %v", before.Map())
			}
			if metadata.Restore(got.Text()) != got {
				t.Errorf("stored as %q, read back as %v", got.Text(), metadata.Restore(got.Text()).Map())
			}
		})
	}
}

func TestAChangeIsAppliedWithinTheLimits(t *testing.T) {
	t.Parallel()
	full := map[string]string{}
	for i := range 20 {
		full[fmt.Sprint("k", i)] = "v"
	}
	before := metadata.New(full)
	after, err := metadata.Change{Pairs: map[string]string{"one more": "v"}}.Apply(before)
	if !fault.Is(err, fault.ValidationFailed) || after != before {
		t.Errorf("one more than twenty: %v, %v", after.Map(), err)
	}
	after, err = metadata.Change{Pairs: map[string]string{"one": "1"}, Clear: true}.Apply(before)
	if err != nil || after != metadata.New(map[string]string{"one": "1"}) {
		t.Errorf("cleared first: %v, %v", after.Map(), err)
	}
	if after, err = (metadata.Change{}).Apply(before); err != nil || after != before {
		t.Errorf("no change: %v, %v", after.Map(), err)
	}
}

func TestCheckKeepsTheLimits(t *testing.T) {
	t.Parallel()
	many := func(n int) map[string]string {
		pairs := map[string]string{}
		for i := range n {
			pairs[fmt.Sprint("k", i)] = "v"
		}
		return pairs
	}
	for name, c := range map[string]struct {
		pairs map[string]string
		wrong string // the field; "-" for none
	}{
		"twenty pairs":           {many(20), "-"},
		"one more":               {many(21), "metadata"},
		"a key of 40 characters": {map[string]string{strings.Repeat("é", 40): "v"}, "-"},
		"a key of 41":            {map[string]string{strings.Repeat("é", 41): "v"}, "metadata." + strings.Repeat("é", 41)},
		"an empty key":           {map[string]string{"": "v"}, "metadata"},
		"a value of 500":         {map[string]string{"k": strings.Repeat("é", 500)}, "-"},
		"a value of 501":         {map[string]string{"k": strings.Repeat("é", 501)}, "metadata.k"},
		"a control character":    {map[string]string{"k": "a\x00"}, "metadata.k"},
		"lines and tabs":         {map[string]string{"k": "a\n\tb"}, "-"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var f fault.Violations
			metadata.Check(c.pairs, f.Nest("metadata"))
			err := f.Err()
			if c.wrong == "-" {
				if err != nil {
					t.Errorf("refused: %v", err)
				}
				return
			}
			if refusal, ok := err.(*fault.Error); !ok || len(refusal.Details) != 1 || refusal.Details[0].Field != c.wrong { //nolint:errorlint // it is not wrapped
				t.Errorf("got %v, want a fault at %s", err, c.wrong)
			}
		})
	}
}
