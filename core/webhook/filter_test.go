package webhook_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"sundry/core/fault"
	"sundry/core/fault/faulttest"
	"sundry/core/webhook"
)

func TestFiltersTakeTheExactTypeAFamilyOrEverything(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		filters []string
		kind    string
		want    bool
	}{
		{"the exact type", []string{"payment.completed"}, "payment.completed", true},
		{"another type", []string{"payment.completed"}, "subscription.created", false},
		{"a longer type than the filter", []string{"payment.completed"}, "payment.completed.twice", false},
		{"a family", []string{"subscription.*"}, "subscription.created", true},
		{"another family", []string{"subscription.*"}, "payment.completed", false},
		{"a family whose name begins alike", []string{"subscription.*"}, "subscriptions.created", false},
		{"everything", []string{"*"}, "customer.access_changed", true},
		{"the second of two filters", []string{"invoice.*", "payment.completed"}, "payment.completed", true},
		{"no filter at all", nil, "payment.completed", false},
		{"a star in the middle is no pattern", []string{"pay*.completed"}, "payment.completed", false},
		{"a star without its dot is no family", []string{"payment*"}, "payment.completed", false},
		{"a family without its star", []string{"payment."}, "payment.completed", false},
		{"letters in another case", []string{"Payment.Completed"}, "payment.completed", false},
	} {
		if got := webhook.Wants(c.filters, c.kind); got != c.want {
			t.Errorf("%s: Wants(%q, %q) = %v, want %v", c.name, c.filters, c.kind, got, c.want)
		}
	}
}

func checkEdit(events []string) error {
	var f fault.Violations
	webhook.EndpointEdit{Events: &events}.Check(false, webhook.Policy{}, &f)
	return f.Err()
}

func TestFilterMatchesEveryTypeAndItsFamily(t *testing.T) {
	t.Parallel()
	for _, kind := range webhook.EventTypes() {
		family, _, _ := strings.Cut(kind, ".")
		for _, filter := range []string{kind, family + ".*"} {
			if err := checkEdit([]string{filter}); err != nil {
				t.Errorf("%s: %v", filter, err)
			}
			if !webhook.Wants([]string{filter}, kind) {
				t.Errorf("%s does not take %s", filter, kind)
			}
		}
	}
}

func TestMatching_ListsWhatAFilterTakes(t *testing.T) {
	t.Parallel()
	all := webhook.EventTypes()
	var invoices []string
	for _, name := range all {
		if strings.HasPrefix(name, "invoice.") {
			invoices = append(invoices, name)
		}
	}
	for filter, want := range map[string][]string{
		"*": all, "invoice.*": invoices, "payment.completed": {"payment.completed"}, "payment": nil,
	} {
		var got []string
		for _, kind := range webhook.Matching(filter) {
			got = append(got, string(kind))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s takes %q, want %q", filter, got, want)
		}
	}
	if len(invoices) < 4 {
		t.Errorf("the events of an invoice are %q", invoices)
	}
}

func TestAllBadFiltersAreToldAtOnce(t *testing.T) {
	t.Parallel()
	err := checkEdit([]string{"*", "", "payment", "pay*", "**", "*.completed", "nothing.*", "payment.completed",
		"payment.completed"})
	var e *fault.Error
	if !errors.As(err, &e) || len(e.Details) != 7 {
		t.Fatalf("%+v, want seven faults", err)
	}
	if err := checkEdit(nil); err == nil {
		t.Error("an endpoint without a filter hears nothing and was taken")
	}
	for count, want := range map[int]bool{50: false, 51: true} {
		var got string
		if err := checkEdit(make([]string, count)); err != nil {
			got = strings.Join(faulttest.Lines(t, err), ", ")
		}
		if strings.Contains(got, "events TOO_LONG") != want {
			t.Errorf("%d filters: %s", count, got)
		}
	}
	if err := checkEdit([]string{"paymnt.*"}); !errors.As(err, &e) ||
		!strings.Contains(e.Details[0].Message, `payment.*`) {
		t.Errorf("a family with a typing error: %+v", e)
	}
}

func TestAStoredFilterOutlivesItsEventType(t *testing.T) {
	t.Parallel()
	stored := []string{"payment.gone"}
	for filter, want := range map[string]string{"payment.gone": "", "payment.other": "events[1] NOT_ALLOWED"} {
		var f fault.Violations
		edit := webhook.EndpointEdit{Events: &[]string{"refund.*", filter}, Stored: stored}
		edit.Check(false, webhook.Policy{}, &f)
		var got string
		if err := f.Err(); err != nil {
			got = strings.Join(faulttest.Lines(t, err), ", ")
		}
		if got != want {
			t.Errorf("%s: %q, want %q", filter, got, want)
		}
	}
}

func FuzzAFilterThatIsTakenMatchesOnlyWhatItNames(f *testing.F) {
	for _, filter := range []string{"*", "payment.*", "payment.completed", "", ".*", "*.*", "pay*", "payment.**",
		"payment.\x00*"} {
		f.Add(filter, "payment.completed")
	}
	f.Fuzz(func(t *testing.T, filter, kind string) {
		wanted := webhook.Wants([]string{filter}, kind)
		family, star := strings.CutSuffix(filter, ".*")
		may := filter == "*" || filter == kind || star && strings.HasPrefix(kind, family+".")
		if wanted != may {
			t.Errorf("Wants(%q, %q) = %v", filter, kind, wanted)
		}
		if checkEdit([]string{filter}) == nil && filter != "*" && strings.Count(filter, "*") > 1 {
			t.Errorf("%q was taken as a filter", filter)
		}
	})
}
