package ui

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"

	"sundry/core/fault"
	"sundry/ports"
)

func TestAViolationFindsItsField(t *testing.T) {
	t.Parallel()
	f := Form{
		Fields: []Field{
			{Name: "title"}, {Name: "price", Also: []string{"priceInCents"}}, Hidden("type", "DIGITAL"),
			{Name: "metadata.downloadUrl"},
		},
	}
	detail := func(path string) fault.Detail { return fault.Detail{Field: path, Message: "About " + path + "."} }
	if !f.Refuse(fault.Invalid(detail("title"), detail("priceInCents"), detail("metadata.downloadUrl"),
		detail("title[0].x"), detail("type"))) {
		t.Fatal("a refusal is not shown")
	}
	got := [][]Words{f.Fields[0].Errors, f.Fields[1].Errors, f.Fields[3].Errors}
	want := [][]Words{{"About title.", "About title[0].x."}, {"About priceInCents."}, {"About metadata.downloadUrl."}}
	if !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("got %q, want %q", got, want)
	}
	if want := []Problem{{"type", "About type."}}; !slices.Equal(f.Problems, want) {
		t.Errorf("got %q, want %q", f.Problems, want)
	}
	if f.Refuse(context.Canceled) {
		t.Error("an outage is shown as the sender's fault")
	}
}

// numbers is a list of n … 1, of which the filter q lets through what contains it.
func numbers(n int, reads *int) *List[int] {
	return &List[int]{
		Path: "/numbers", Filters: []Filter{{Name: "q"}},
		Columns: []Column[int]{{Label: "Number", Cell: func(i int) Cell { return Text(strconv.Itoa(i)) }}},
		Read: func(_ context.Context, _ Query, page ports.Page) (some ports.List[int], err error) {
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
		Match: func(q Query, i int) bool { return q.Has("q", strconv.Itoa(i)) },
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
		page, err := l.ReadPage(t.Context(), Query{"q": "77"}, after)
		if err != nil {
			t.Fatal(err)
		}
		if all = append(all, page.Items...); reads-before > scanPages {
			t.Errorf("one page read %d times", reads-before)
		}
		if after = readCursor(writeCursor(page.Next)); page.Next == (ports.Cursor{}) {
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

func TestAnEmptyPageSaysThatThereIsMoreToSearch(t *testing.T) {
	t.Parallel()
	for searched, want := range map[string]Words{"599": "", "77777": "Nothing matches so far"} {
		got, app := Words(""), fiber.New()
		app.Get("/numbers", func(c *fiber.Ctx) error {
			part, err := numbers(600, new(int)).Part(c, "Numbers")
			if err != nil {
				return err
			}
			if nothing := part.Data.(listView).Table.Empty; nothing != nil {
				got = nothing.Title
			}
			return nil
		})
		asked := httptest.NewRequestWithContext(t.Context(), fiber.MethodGet, "/numbers?q="+searched, http.NoBody)
		response, err := app.Test(asked)
		if err != nil || response.StatusCode != fiber.StatusOK {
			t.Fatalf("%+v, %v", response, err)
		}
		_ = response.Body.Close()
		if got != want {
			t.Errorf("searched for %s, the first page says %q, want %q", searched, got, want)
		}
	}
}

func TestAFileThatIsCutSaysSoByItsName(t *testing.T) {
	t.Parallel()
	for lines, want := range map[int]string{
		maxExport: `filename="numbers.csv"`, maxExport + 1: `filename="numbers-first-10000.csv"`,
	} {
		app := fiber.New()
		app.Get("/numbers", func(c *fiber.Ctx) error {
			l := numbers(lines, new(int))
			l.FileName = "numbers"
			return l.Export(c)
		})
		asked := httptest.NewRequestWithContext(t.Context(), fiber.MethodGet, "/numbers?format=csv", http.NoBody)
		response, err := app.Test(asked)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if got := response.Header.Get(fiber.HeaderContentDisposition); !strings.HasSuffix(got, want) {
			t.Errorf("%d lines are sent as %s, want %s", lines, got, want)
		}
	}
}

func TestHeadsSortAndTurnTheOrder(t *testing.T) {
	t.Parallel()
	l := &List[int]{Path: "/numbers", Columns: []Column[int]{
		{Label: "Only in files"},
		{Label: "Name", Sort: "name", Cell: func(int) Cell { return Cell{} }},
		{Label: "State", Cell: func(int) Cell { return Cell{} }},
		{Label: "Amount", Sort: "-amount", Cell: func(int) Cell { return Cell{} }},
		{Label: "Date", Sort: "-created", Cell: func(int) Cell { return Cell{} }},
	}}
	for as, want := range map[string][]string{
		"":        {"name", "", "-amount", "created descending"},
		"created": {"name", "", "-amount", "-created ascending"},
		"name":    {"-name ascending", "", "-amount", "-created"},
		"-amount": {"name", "", "amount descending", "-created"},
	} {
		q := Query{"q": "7"}
		if as != "" {
			q[sortField] = as
		}
		heads := l.TableOf(nil).Heads
		l.sortHeads(q, heads)
		for i, head := range heads {
			href, sorted, _ := strings.Cut(want[i], " ")
			if href != "" {
				href = "/numbers?q=7&sort=" + href
			}
			if head.Href != href || head.Sorted != sorted {
				t.Errorf("sorted by %q, %s leads to %q and is %q; want %q and %q", as, head.Label, head.Href, head.Sorted,
					href, sorted)
			}
		}
	}
	for as, want := range map[string]ports.Sort{
		"": {}, "name": {By: "name", Ascending: true}, "-amount": {By: "amount"},
	} {
		if got := (Query{sortField: as}).sort(); got != want {
			t.Errorf("%q is %+v", as, got)
		}
	}
	for _, unknown := range []string{"state", "-", "", "id; DROP TABLE tasks", "--name"} {
		if l.sorts(unknown) {
			t.Errorf("it can be sorted by %q", unknown)
		}
	}
}

func TestACursorKeepsATextValue(t *testing.T) {
	t.Parallel()
	for _, at := range []ports.Cursor{
		{ID: "pay_1"}, {Value: -5, ID: "pay_1"}, {Text: "ü. ?&\x00", ID: "cus_1"},
	} {
		if got := readCursor(writeCursor(at)); got != at {
			t.Errorf("got %+v, want %+v", got, at)
		}
	}
}

func TestACursorThatIsNoneIsTheBeginning(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "x", "!.id", "." + strings.Repeat("a", 3000), "1.a.!"} {
		if got := readCursor(text); got != (ports.Cursor{}) {
			t.Errorf("%q is %+v", text, got)
		}
	}
}
