package dashboard

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sundry/core/fault"
	"sundry/ports"
)

func TestASignInLeadsToTheDashboardOnly(t *testing.T) {
	t.Parallel()
	for next, want := range map[string]string{
		"/dashboard": "/dashboard", "/dashboard/orders": "/dashboard/orders", "/dashboard/orders?a=b&c=d": "/dashboard/orders?a=b&c=d",
		"": base, "/": base, "/c/secret": base, "/dashboardx": base, "//evil.example": base, `/\evil.example`: base, "https://evil.example/dashboard": base,
		"/dashboard//evil.example": base, `/dashboard/\evil`: base, "/dashboard/../c/x": base, "/dashboard/%2e%2e/c": base, "javascript:alert(1)": base,
		"/dashboard/\t/x": base, "/dashboard\r\nSet-Cookie: a=b": base, "http:/dashboard": base, "/dashboard/sign-out": base, "//dashboard": base,
		"/dashboard/%5cevil": "/dashboard/%5cevil",
	} {
		if got := safeNext(next); got != want {
			t.Errorf("%q leads to %q, want %q", next, got, want)
		}
	}
}

func TestAViolationFindsItsField(t *testing.T) {
	t.Parallel()
	f := form{Fields: []field{{Name: "title"}, {Name: "price", Also: []string{"priceInCents"}}, hidden("type", "DIGITAL"), {Name: "metadata.downloadUrl"}}}
	detail := func(path string) fault.Detail { return fault.Detail{Field: path, Message: "About " + path + "."} }
	if !f.refuse(fault.Invalid(detail("title"), detail("priceInCents"), detail("metadata.downloadUrl"), detail("title[0].x"), detail("type"))) {
		t.Fatal("a refusal is not shown")
	}
	got := []string{f.Fields[0].Error, f.Fields[1].Error, f.Fields[3].Error, strings.Join(f.Problems, "|")}
	if want := []string{"About title. About title[0].x.", "About priceInCents.", "About metadata.downloadUrl.", "type: About type."}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if f.refuse(context.Canceled) {
		t.Error("an outage is shown as the sender's fault")
	}
}

// numbers is a list of n … 1, of which the filter q lets through what contains it.
func numbers(n int, reads *int) *list[int] {
	return &list[int]{
		path: "/numbers", filters: []filter{{Name: "q"}},
		columns: []column[int]{{label: "Number", cell: func(i int) cell { return text(strconv.Itoa(i)) }}},
		read: func(_ context.Context, _ query, page ports.Page) (some ports.List[int], err error) {
			*reads++
			from := n
			if page.After.ID != "" {
				from = int(page.After.Value) - 1
			}
			for i := from; i > 0 && len(some.Items) < page.Limit; i-- {
				some.Items = append(some.Items, i)
			}
			if last := from - page.Limit; last > 0 {
				some.Next = ports.Cursor{Value: int64(last + 1), ID: "x"}
			}
			return some, nil
		},
		match: func(q query, i int) bool { return q.has("q", strconv.Itoa(i)) },
	}
}

func TestAFilteredListMissesNothingAndReadsABoundedPart(t *testing.T) {
	t.Parallel()
	reads := 0
	l := numbers(3000, &reads)
	var all []int
	pages := 0
	for after := (ports.Cursor{}); ; pages++ {
		before := reads
		found, next, err := l.page(t.Context(), query{"q": "77"}, after)
		if err != nil {
			t.Fatal(err)
		}
		if all = append(all, found...); reads-before > scanPages {
			t.Errorf("one page read %d times", reads-before)
		}
		if after = readCursor(writeCursor(next)); next == (ports.Cursor{}) {
			break
		}
	}
	want := 0
	for i := range 3001 {
		if strings.Contains(strconv.Itoa(i), "77") {
			want++
		}
	}
	if len(all) != want || !slices.IsSortedFunc(all, func(a, b int) int { return b - a }) || pages == 0 {
		t.Errorf("%d numbers on %d pages, want %d", len(all), pages+1, want)
	}
}

func TestACursorThatIsNoneIsTheBeginning(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "x", "!.id", "." + strings.Repeat("a", 300)} {
		if got := readCursor(text); got != (ports.Cursor{}) {
			t.Errorf("%q is %+v", text, got)
		}
	}
}
