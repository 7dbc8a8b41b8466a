package fault_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"sundry/core/fault"
)

func TestCodesListsEveryConstantOnce(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(), "code.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var declared []fault.Code
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || spec.Type == nil {
			return true
		}
		value, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		declared = append(declared, fault.Code(value))
		return true
	})
	if got := fault.Codes(); !reflect.DeepEqual(got, declared) {
		t.Fatalf("Codes() = %v\ndeclared  %v", got, declared)
	}
	seen := map[fault.Code]bool{}
	for _, c := range declared {
		if seen[c] || string(c) != strings.ToUpper(string(c)) {
			t.Errorf("code %q is doubled or not upper-case", c)
		}
		seen[c] = true
	}
	if len(declared) != 45 {
		t.Errorf("%d codes, want 45: update this number with a new code", len(declared))
	}
}

func TestCodeOf(t *testing.T) {
	t.Parallel()
	taken := fault.New(fault.SlugTaken, "This slug is taken.")
	for name, c := range map[string]struct {
		err  error
		want fault.Code
	}{
		"no error has no code":            {nil, ""},
		"a fault keeps its code":          {taken, fault.SlugTaken},
		"a wrapped fault keeps its code":  {fmt.Errorf("create listing: %w", taken), fault.SlugTaken},
		"a foreign error is internal":     {io.ErrUnexpectedEOF, fault.Internal},
		"the outer of two faults decides": {fault.Wrap(fault.StateConflict, "x", taken), fault.StateConflict},
		"a joined fault is found":         {errors.Join(io.EOF, taken), fault.SlugTaken},
		"a fault that wraps a driver's keeps its own": {fault.Wrap(fault.ProcessorUnavailable, "x", io.EOF),
			fault.ProcessorUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := fault.CodeOf(c.err); got != c.want {
				t.Errorf("CodeOf = %q, want %q", got, c.want)
			}
			if c.want != "" && !fault.Is(c.err, c.want) {
				t.Errorf("Is(%v, %q) = false", c.err, c.want)
			}
			if fault.Is(c.err, fault.RateLimited) || fault.Is(c.err, "") {
				t.Error("Is accepts a code the error does not carry")
			}
		})
	}
}

func TestErrorTextIsForTheLogAndMessageForTheClient(t *testing.T) {
	t.Parallel()
	err := fault.Wrap(fault.ProcessorUnavailable, "The card processor cannot be reached.", os.ErrDeadlineExceeded)
	if !strings.Contains(err.Error(), os.ErrDeadlineExceeded.Error()) ||
		!strings.Contains(err.Error(), "PROCESSOR_UNAVAILABLE") {
		t.Errorf("log text lacks code or cause: %v", err)
	}
	if strings.Contains(err.Message, os.ErrDeadlineExceeded.Error()) {
		t.Errorf("the message shows the cause: %q", err.Message)
	}
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("the cause cannot be found")
	}
	if got := fault.NotFound("listing").Message; got != "No such listing." {
		t.Errorf("NotFound message %q", got)
	}
	if got := fault.Newf(fault.Forbidden, "Listing %s is not yours.",
		"lst_1").Error(); got != "FORBIDDEN: Listing lst_1 is not yours." {
		t.Errorf("Newf text %q", got)
	}
}

func TestClientsAreToldWhenToTryAgain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		code fault.Code
		wait time.Duration
		want int
	}{
		"nothing is known":                        {fault.RateLimited, 0, 0},
		"a whole number of seconds":               {fault.RateLimited, 2 * time.Second, 2},
		"a part of a second counts as one":        {fault.RateLimited, 2*time.Second + time.Nanosecond, 3},
		"almost a second":                         {fault.RateLimited, time.Nanosecond, 1},
		"the processor, when it says nothing":     {fault.ProcessorUnavailable, 0, 5},
		"the processor, when it says":             {fault.ProcessorUnavailable, 30 * time.Second, 30},
		"the processor, when it says right away":  {fault.ProcessorUnavailable, time.Nanosecond, 1},
		"the database, which never says":          {fault.DatabaseBusy, 0, 5},
		"what has nothing to do with being ready": {fault.StateConflict, 0, 0},
	} {
		if got := (&fault.Error{Code: c.code, RetryAfter: c.wait}).RetrySeconds(); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

func TestAPathIsJoinedFromItsParts(t *testing.T) {
	t.Parallel()
	for _, c := range [][3]string{
		{"", "", ""}, {"", "title", "title"}, {"", "[0]", "[0]"}, {"prices", "", "prices"}, {"prices", "[0]", "prices[0]"},
		{"prices[0]", "currency", "prices[0].currency"},
	} {
		if got := fault.Join(c[0], c[1]); got != c[2] {
			t.Errorf("%q and %q make %q, want %q", c[0], c[1], got, c[2])
		}
	}
}

func TestInvalidCountsTheFaultsAndQuotesTheFirst(t *testing.T) {
	t.Parallel()
	one := fault.Detail{Field: "slug", Code: fault.DetailRequired, Message: "A slug is required."}
	for name, c := range map[string]struct {
		details []fault.Detail
		want    string
	}{
		"none":             {nil, "The request is not valid."},
		"one with a field": {[]fault.Detail{one}, "The request is not valid. slug: A slug is required."},
		"one without":      {[]fault.Detail{{Message: "Too much."}}, "The request is not valid. Too much."},
		"several are counted": {[]fault.Detail{one, one, one}, "The request has 3 faults. The first: slug: A slug is " +
			"required."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := fault.Invalid(c.details...)
			if err.Message != c.want || err.Code != fault.ValidationFailed || len(err.Details) != len(c.details) {
				t.Errorf("%+v, want message %q", err, c.want)
			}
		})
	}
}

func TestFaultsCollectsUnderMemberPaths(t *testing.T) {
	t.Parallel()
	var f fault.Violations
	if err := f.Err(); err != nil {
		t.Fatalf("nothing recorded, yet %v", err)
	}
	if !f.Check(true, "title", fault.DetailRequired, "never") ||
		f.Check(false, "title", fault.DetailRequired, "A title is required.") {
		t.Error("Check does not return its condition")
	}
	price := f.Item("prices", 0)
	price.Add("currency", fault.DetailInvalid, "c")
	price.Add("", fault.DetailInvalid, "whole")
	price.Nest("recurring").Addf("interval", fault.DetailNotAllowed, "%d", 7)
	price.Item("tiers", 2).Item("", 1).Add("upTo", fault.DetailOutOfRange, "u")

	err := f.Err()
	var e *fault.Error
	if !errors.As(err, &e) || e.Code != fault.ValidationFailed {
		t.Fatalf("Err() = %v", err)
	}
	want := []string{"title", "prices[0].currency", "prices[0]", "prices[0].recurring.interval",
		"prices[0].tiers[2][1].upTo"}
	var got []string
	for _, d := range e.Details {
		got = append(got, d.Field)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("fields %v, want %v", got, want)
	}
	if e.Details[3].Message != "7" {
		t.Errorf("Addf message %q", e.Details[3].Message)
	}
	if price.Err() == nil {
		t.Error("a nested collector does not speak for the outermost")
	}
	f.Add("late", fault.DetailInvalid, "l")
	if len(e.Details) != len(want) {
		t.Error("an error returned earlier grew afterwards")
	}
}

func TestMergeTakesOverValidationFaultsOnly(t *testing.T) {
	t.Parallel()
	var f fault.Violations
	for _, foreign := range []error{io.EOF, fault.New(fault.SlugTaken, "x")} {
		if got := f.Merge(foreign); !errors.Is(got, foreign) {
			t.Errorf("Merge(%v) = %v", foreign, got)
		}
	}
	if f.Merge(nil) != nil || f.Err() != nil {
		t.Fatal("a foreign error left a fault behind")
	}
	inner := fault.Invalid(fault.Detail{Field: "startsAt", Code: "A", Message: "a"},
		fault.Detail{Field: "timezone", Code: "B", Message: "b"})
	if err := f.Item("appointmentSlots", 1).Merge(fmt.Errorf("slot: %w", inner)); err != nil {
		t.Fatal(err)
	}
	if err := f.Nest("note").Merge(fault.New(fault.ValidationFailed, "Bare.")); err != nil {
		t.Fatal(err)
	}
	var e *fault.Error
	if !errors.As(f.Err(), &e) {
		t.Fatal("no error")
	}
	want := []fault.Detail{
		{Field: "appointmentSlots[1].startsAt", Code: "A", Message: "a"},
		{Field: "appointmentSlots[1].timezone", Code: "B", Message: "b"},
		{Field: "note", Code: fault.DetailInvalid, Message: "Bare."},
	}
	if !reflect.DeepEqual(e.Details, want) {
		t.Errorf("details %+v", e.Details)
	}
}

func TestFirstIsWhatAPersonReads(t *testing.T) {
	t.Parallel()
	if got := fault.New(fault.StateConflict, "It is paid.").First(); got != "It is paid." {
		t.Errorf("without details: %q", got)
	}
	refused := fault.Invalid(fault.Detail{Field: "taxId", Message: "Not a VAT ID."},
		fault.Detail{Field: "city", Message: "Too long."})
	if got := refused.First(); got != "Not a VAT ID." {
		t.Errorf("with details: %q", got)
	}
}
