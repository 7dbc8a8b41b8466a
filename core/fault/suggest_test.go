package fault_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"sundry/core/fault"
)

func TestAValueThatIsNotAllowedIsToldWhatIs(t *testing.T) {
	t.Parallel()
	var f fault.Violations
	if !f.OneOf("interval", "month", "day", "month", "year") || f.OneOf("interval", "moth", "day", "month", "year") ||
		f.OneOf("mode", "x", "hosted") {
		t.Error("OneOf does not return whether the value is allowed")
	}
	e, _ := errors.AsType[*fault.Error](f.Err())
	want := []fault.Detail{
		{Field: "interval", Code: fault.DetailNotAllowed, Message: `Expected day, month or year. Did you mean "month"?`},
		{Field: "mode", Code: fault.DetailNotAllowed, Message: "Expected hosted."},
	}
	if !slices.Equal(e.Details, want) {
		t.Errorf("%+v", e.Details)
	}
}

func TestTheNearestNameIsSuggested(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("name", 16)
	known := []string{"externalCustomerId", "customerId", "status", "pro", "id", "planb", "plana", "planc", long, long +
		"s"}
	for name, c := range map[string]struct{ given, want string }{
		"a letter too few":                   {"statu", "status"},
		"two letters swapped":                {"stauts", "status"},
		"letter case":                        {"ExternalCustomerID", "externalCustomerId"},
		"three letters off is another name":  {"stxxxs", ""},
		"two letters too many in front":      {"xxstatus", "status"},
		"of equally near ones the first":     {"plans", "plana"},
		"64 bytes":                           {strings.Replace(long, "n", "m", 1), long},
		"65 bytes":                           {strings.Replace(long, "n", "m", 1) + "s", ""},
		"a short name is no typo of another": {"xy", ""},
		"nothing like it":                    {"cursor", ""},
		"a name beyond every length":         {strings.Repeat("status", 100), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := fault.Nearest(c.given, known...); got != c.want {
				t.Errorf("nearest to %s: %q, want %q", c.given, got, c.want)
			}
			if sentence := fault.DidYouMean(c.given, known...); (sentence != "") != (c.want != "") ||
				!strings.Contains(sentence, c.want) {
				t.Errorf("sentence %q", sentence)
			}
		})
	}
}
