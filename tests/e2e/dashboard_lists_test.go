package e2e_test

import (
	"encoding/csv"
	"fmt"
	"html"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sundry/core/identity"
	"sundry/tests/harness"
)

var nextPage = regexp.MustCompile(`href="([^"]+)" rel="next"`)

func TestListsAreSorted(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		var ascending []string
		for i := range 60 { // three pages, made in another order
			code := fmt.Sprintf("CODE%02d", i*7%60)
			body := JSON{"code": code, "percentOff": 20, "duration": "forever"}
			a.AsCreator(t, post, "/v1/discounts", body).Want(t, 201)
			ascending = append(ascending, code)
		}
		newest := slices.Clone(ascending)
		slices.Reverse(newest)
		slices.Sort(ascending)
		descending := slices.Clone(ascending)
		slices.Reverse(descending)
		v := a.Visit(t)
		code := regexp.MustCompile(`<code>(CODE\d\d)</code>`)
		for sort, want := range map[string][]string{
			"": newest, "code": ascending, "-code": descending, "percentOff": newest, "-": newest, "created": newest,
		} {
			at := "/dashboard/discounts?duration=forever&q=code&sort=" + sort
			var got []string
			for path := at; path != ""; {
				page := v.Open(t, path)
				for _, m := range code.FindAllStringSubmatch(page.Body, -1) {
					got = append(got, m[1])
				}
				if m := nextPage.FindStringSubmatch(page.Body); m != nil {
					path = html.UnescapeString(m[1])
				} else {
					path = ""
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("the pages by %q list %v", sort, got)
			}
			file, err := csv.NewReader(strings.NewReader(v.Open(t, at+"&format=csv").Body)).ReadAll()
			got = nil
			for _, record := range file[1:] {
				got = append(got, record[0])
			}
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("the file by %q lists %v, %v", sort, got, err)
			}
		}
		body := v.Open(t, "/dashboard/discounts?duration=forever&sort=code").Body
		for _, want := range []string{
			`<th scope="col" aria-sort="ascending"><a class="sort" ` +
				`href="/dashboard/discounts?duration=forever&amp;sort=-code">`,
			`<input type="hidden" name="sort" value="code">`, `href="/dashboard/discounts?sort=code">Clear</a>`,
		} {
			if !strings.Contains(body, want) {
				t.Errorf("the page has no %s", want)
			}
		}
		for _, list := range []string{
			"orders?sort=-amount", "orders?sort=created&status=paid", "customers?sort=email&email=x",
			"subscriptions?sort=currentPeriodEnd", "invoices?sort=total",
			"bookings?sort=startsAt&status=confirmed&when=past",
			"listings?sort=title", "listings?sort=-updated", "disputes?sort=respondBy",
			"balance?sort=amount", "links?sort=created",
		} {
			if page := v.Open(t, "/dashboard/"+list); page.Status != 200 {
				t.Errorf("%s is %d", list, page.Status)
			}
		}
	})
}

// savedOn are the names of the saved filters that a page lists.
func savedOn(page *harness.Page) (names []string) {
	_, list, _ := strings.Cut(page.Body, `<ul aria-label="Saved filters">`)
	list, _, _ = strings.Cut(list, "</ul>")
	for _, m := range regexp.MustCompile(`<a href="([^"]+)"[^>]*>([^<]+)</a>`).FindAllStringSubmatch(list, -1) {
		names = append(names, html.UnescapeString(m[2]+" "+m[1]))
	}
	return names
}

func TestSavedFilters_AreKeptByEveryRole(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		for _, role := range identity.Roles() {
			m, v, _ := w.join(t, string(role))
			query := url.Values{"status": {"paid"}, "sort": {"-amount"}}.Encode()
			v.Open(t, "/dashboard/orders?"+query)
			saved := v.Send(t, "/dashboard/filters", "list", "/dashboard/orders", "name", "Large & paid",
				"query", query)
			if saved.Path != "/dashboard/orders?"+query || !strings.Contains(saved.Body, "Only you see it.") {
				t.Fatalf("saving as %s led to %d %s", role, saved.Status, saved.Path)
			}
			want := []string{"Large & paid /dashboard/orders?" + query}
			if got := savedOn(saved); !slices.Equal(got, want) {
				t.Errorf("%s keeps %q, want %q", role, got, want)
			}
			if got := savedOn(v.Open(t, "/dashboard/invoices")); got != nil {
				t.Errorf("%s has %q on another list", role, got)
			}
			if got := savedOn(w.Visit(t).Open(t, "/dashboard/orders")); got != nil {
				t.Errorf("the owner has %q of %s", got, role)
			}
			if role == identity.RoleSupport {
				refused := v.Post(t, "/dashboard/filters", "token", v.Token(t), "list", "/dashboard/balance",
					"name", "x", "query", "status=paid")
				n := app.Count(t, "SELECT COUNT(*) FROM saved_filters WHERE user_id = $1", m.ID)
				if n != 1 || refused.Status != 404 {
					t.Errorf("saving a filter of what support may not see is %d, and %d are kept", refused.Status, n)
				}
			}
			v.Open(t, "/dashboard/orders")
			deleted := v.Send(t, "/dashboard/filters/delete", "list", "/dashboard/orders", "name", "Large & paid")
			if got := savedOn(deleted); got != nil || !strings.Contains(deleted.Body, "Deleted.") {
				t.Errorf("%s keeps %q after the deletion", role, got)
			}
			v.Open(t, "/dashboard/orders?"+query)
			v.Send(t, "/dashboard/filters", "list", "/dashboard/orders", "name", "Gone with me", "query", query)
			w.AsCreator(t, "DELETE", "/v1/members/"+m.ID, nil).Want(t, 200)
			if n := app.Count(t, "SELECT COUNT(*) FROM saved_filters WHERE user_id = $1", m.ID); n != 0 {
				t.Errorf("%d filters outlive %s", n, role)
			}
		}
	})
}

func TestSavedFilters_AreRefused(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		v := w.Visit(t)
		count := func() int64 {
			return app.Count(t, "SELECT COUNT(*) FROM saved_filters WHERE creator_id = $1", w.ID)
		}
		token := v.Token(t)
		save := func(list, name, query string) *harness.Page {
			return v.Post(t, "/dashboard/filters", "list", list, "name", name, "query", query, "token", token)
		}
		for name, c := range map[string]struct {
			list, name, query, says string
		}{
			"without a name": {"/dashboard/orders", " ", "status=paid", "Enter a name."},
			"with a long name": {"/dashboard/orders", strings.Repeat("n", 41), "status=paid",
				"at most 40 characters"},
			"with too long a query": {"/dashboard/orders", "n", "q=" + strings.Repeat("q", 4000), "can&#39;t be saved"},
			"of another site":       {"https://example.com/dashboard/orders", "n", "status=paid", ""},
			"of no page":            {"/dashboard/nothing", "n", "status=paid", ""},
			"of one object's page":  {"/dashboard/orders/pay_1", "n", "status=paid", ""},
			"of broken query":       {"/dashboard/orders", "n", "status=%zz", ""},
			"with a control byte":   {"/dashboard/orders\x01", "n", "status=paid", ""},
		} {
			page := save(c.list, c.name, c.query)
			if c.says == "" && page.Status != 404 || !strings.Contains(page.Body, c.says) {
				t.Errorf("a filter %s: %d %s", name, page.Status, page.Path)
			}
		}
		if n := count(); n != 0 {
			t.Errorf("%d refused filters are kept", n)
		}
		for i := range identity.MaxSavedFilters {
			save("/dashboard/orders", fmt.Sprintf("Filter %02d", i), "status=paid")
		}
		if page := save("/dashboard/orders", "One more", "status=paid"); !strings.Contains(page.Body, "Delete one first.") {
			t.Errorf("one too many led to %d %s", page.Status, page.Path)
		}
		save("/dashboard/orders", "Filter 07", "status=refunded") // in place of the one before
		page := save("/dashboard/invoices", "Another list's", "status=paid")
		if n := count(); n != identity.MaxSavedFilters+1 || page.Path != "/dashboard/invoices?status=paid" {
			t.Errorf("%d filters are kept, want %d", n, identity.MaxSavedFilters+1)
		}
		if !slices.Contains(savedOn(v.Open(t, "/dashboard/orders")), "Filter 07 /dashboard/orders?status=refunded") {
			t.Error("a filter of a taken name is not replaced")
		}
	})
}

func TestListsShowTotals(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		for i := range 3 {
			a.AsBackend(t, post, "/v1/customers", JSON{
				"email": fmt.Sprintf("user-%d@example.com", i), "displayName": "User",
				"externalCustomerId": fmt.Sprint("user-", i),
			}).Want(t, 201)
		}
		v := a.Visit(t)
		for query, want := range map[string]string{
			"": "<dt>Customers</dt><dd>3</dd>", "?email=user-1@example.com": "<dt>Customers</dt><dd>1</dd>",
			"?q=user": "", // which the database does not count
		} {
			body := v.Open(t, "/dashboard/customers"+query).Body
			if has := strings.Contains(body, `class="totals"`); has != (want != "") || !strings.Contains(body, want) {
				t.Errorf("customers%s show totals: %t, want %q", query, has, want)
			}
		}
	})
}
