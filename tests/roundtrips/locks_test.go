package roundtrips

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"sundry/tests/harness"
	"sundry/tests/testdb"
)

// lockRules say which rows a statement locks until its transaction ends. of is the table, or else the statement names
// it; the row is that of a parameter.
var lockRules = []struct {
	statement *regexp.Regexp
	of        string
}{
	{regexp.MustCompile(`\bpg_advisory_xact_lock\(\$(?P<row>\d+)\)`), "advisory"},
	{regexp.MustCompile(`\bUPDATE "?(?P<table>\w+)"? SET .* WHERE id = \$(?P<row>\d+)`), ""},
	{regexp.MustCompile(`\bDELETE FROM "?(?P<table>\w+)"? WHERE id = \$(?P<row>\d+)`), ""},
	{regexp.MustCompile(`\bFROM "?(?P<table>\w+)"? WHERE id = \$(?P<row>\d+) .*\bFOR (NO KEY )?(UPDATE|SHARE)`), ""},
	{regexp.MustCompile(`\bINSERT INTO "(?P<table>customers)".* VALUES \(\$(?P<row>\d+)`), ""},
	{regexp.MustCompile(`\bINSERT INTO (?P<table>document_numbers) .* VALUES \(\$(?P<row>\d+), \$(?P<series>\d+)`), ""},
	{regexp.MustCompile(`\bINSERT INTO (?P<table>event_positions) .* VALUES \(\$(?P<row>\d+)`), ""},
	{regexp.MustCompile(`\bFROM payments p .*\bFROM customers .*\bFOR NO KEY UPDATE.* WHERE p.id = \$(?P<row>\d+)`),
		"customer of"},
	{regexp.MustCompile(`\bFROM subscriptions s JOIN payments p .* WHERE p.id = \$(?P<row>\d+) FOR NO KEY UPDATE`),
		"subject of"},
}

// inserted finds rows that nobody else can wait for yet.
var inserted = regexp.MustCompile(`\bINSERT INTO "(\w+)" .* VALUES \(\$1\b`)

// locked lists what a transaction locked, in that order. owner finds the row of a payment that a rule means.
func locked(transaction []bound, owner func(of, paymentID string) string) (locks []string) {
	own := map[string]bool{}
	for _, b := range transaction {
		statement := strings.Join(strings.Fields(b.statement), " ")
		if made := inserted.FindStringSubmatch(statement); made != nil && made[1] != "customers" {
			own[made[1]+" "+b.parameters[0]] = true
		}
		for _, rule := range lockRules {
			match := rule.statement.FindStringSubmatch(statement)
			if match == nil {
				continue
			}
			parameter := func(group string) string {
				n, _ := strconv.Atoi(match[rule.statement.SubexpIndex(group)])
				return b.parameters[n-1]
			}
			lock := rule.of + " " + parameter("row")
			switch rule.of {
			case "":
				lock = match[rule.statement.SubexpIndex("table")] + lock
			case "customer of", "subject of":
				lock = owner(rule.of, parameter("row"))
			}
			if rule.statement.SubexpIndex("series") > 0 {
				lock += "/" + parameter("series")
			}
			if strings.Contains(statement, `INSERT INTO "customers"`) { // so that no row was there to be locked before
				locks = slices.DeleteFunc(locks, func(earlier string) bool { return earlier == lock })
			}
			if lock != "" && !own[lock] && !slices.Contains(locks, lock) {
				locks = append(locks, lock)
			}
			break
		}
	}
	return locks
}

// crossed returns two transactions that lock the same two rows, each another one first, and would wait for each other
// if they ran at once. Rows that both have locked before keep them from that.
func crossed(transactions [][]string) (faults []string) {
	type pair struct{ first, second string }
	seen := map[pair][]string{}
	for _, locks := range transactions {
		for i, first := range locks {
			for j, second := range locks[i+1:] {
				other, known := seen[pair{second, first}]
				gated := known && slices.ContainsFunc(locks[:i], func(lock string) bool {
					return slices.Contains(other[:slices.Index(other, second)], lock)
				})
				if known && !gated {
					faults = append(faults, fmt.Sprintf("%s\n  %s\n  %s", pair{first, second},
						strings.Join(other[:slices.Index(other, first)+1], " > "), strings.Join(locks[:i+j+2], " > ")))
				}
				if _, known := seen[pair{first, second}]; !known {
					seen[pair{first, second}] = locks
				}
			}
		}
	}
	slices.Sort(faults)
	return slices.Compact(faults)
}

func TestCrossed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		transactions [][]string
		faults       int
	}{
		"in one order":           {[][]string{{"a", "b", "c"}, {"a", "c"}, {"b", "c"}}, 0},
		"in two orders":          {[][]string{{"a", "b"}, {"b", "a"}}, 1},
		"with others in between": {[][]string{{"x", "a", "y", "b"}, {"b", "z", "a"}}, 1},
		"behind the same row":    {[][]string{{"x", "a", "b"}, {"y", "x", "b", "a"}}, 0},
		"before the same row":    {[][]string{{"a", "b", "x"}, {"b", "a", "x"}}, 1},
	} {
		if got := crossed(c.transactions); len(got) != c.faults {
			t.Errorf("%s: %q, want %d", name, got, c.faults)
		}
	}
}

// TestLocksAreTakenInOneOrder does what customers and their sellers do, one after another, and looks at what each
// transaction locked: two that lock the same rows in different orders would wait for each other, if they came at once,
// until PostgreSQL ends one of them.
func TestLocksAreTakenInOneOrder(t *testing.T) {
	t.Parallel()
	p, via := newTap(t, testdb.Postgres.URL(t))
	app := harness.New(t, testdb.Postgres, map[string]string{"DATABASE_URL": via})
	liveALittle(t, app)

	owners := map[string]map[string]string{"customer of": {}, "subject of": {}}
	for _, row := range app.Rows(t, "SELECT id, customer_id, subject_id FROM payments WHERE customer_id <> ''") {
		fields := strings.Fields(row)
		owners["customer of"][fields[0]], owners["subject of"][fields[0]] = "customers "+fields[1], "subscriptions "+fields[2]
	}
	var all [][]string
	kinds := map[string]bool{}
	for _, transaction := range p.committed() {
		locks := locked(transaction, func(of, paymentID string) string { return owners[of][paymentID] })
		for _, lock := range locks {
			kind, _, _ := strings.Cut(lock, " ")
			kinds[kind] = true
		}
		all = append(all, locks)
	}
	for _, kind := range []string{
		"advisory", "customers", "discounts", "document_numbers", "event_positions", "payments", "refunds", "sales",
		"sessions", "subscriptions", "tasks", "usage_billing_plans", "webhook_endpoints",
	} {
		if !kinds[kind] {
			t.Errorf("no lock of %s was seen", kind)
		}
	}
	for _, fault := range crossed(all) {
		t.Errorf("locked in two orders: %s", fault)
	}
}

// liveALittle does to one customer what changes the most rows.
func liveALittle(t *testing.T, app *harness.App) {
	t.Helper()
	a := app.NewAccount(t)
	ask := func(method, path string, body any) harness.JSON {
		t.Helper()
		response := a.AsBackend(t, method, path, body)
		if response.Status >= 300 {
			t.Fatalf("%s %s: %d %s", method, path, response.Status, response.Body)
		}
		return response.Map(t)
	}
	advance := func(days int) {
		t.Helper()
		for moved := time.Duration(0); moved < time.Duration(days)*24*time.Hour; moved += 24 * time.Hour {
			ask(http.MethodPost, "/v1/sandbox/clock/advance", harness.JSON{"seconds": 24 * 3600})
		}
	}
	ask(http.MethodPost, "/v1/webhook-endpoints", harness.JSON{
		"url": "https://receiver.example/", "events": []string{"*"},
	})
	a.AsCreator(t, http.MethodPost, "/v1/discounts", harness.JSON{"code": "TEN", "percentOff": 10, "duration": "once"}).
		Want(t, http.StatusCreated)
	club := a.NewListing(t, harness.JSON{
		"type": "SUBSCRIPTION", "title": "Club", "metadata": harness.JSON{"interval": "month", "intervalCount": 1},
	})
	for key, cents := range map[string]int{"basic": 1000, "studio": 3100} {
		a.AsCreator(t, http.MethodPut, "/v1/listings/"+club.ID+"/plans/"+key, harness.JSON{
			"name": key, "isDefault": key == "basic", "trialDays": 14, "meters": []harness.JSON{}, "credits": []harness.JSON{},
			"entitlements": []harness.JSON{{"key": key, "type": "boolean", "value": true}},
			"prices": []harness.JSON{
				{"interval": "month", "intervalCount": 1, "currency": "eur", "amountInCents": cents},
			},
		}).Want(t, http.StatusOK)
	}
	club, poster := a.Publish(t, club), a.Published(t, nil)
	subscribed := a.NewSession(t, club, "basic", "ada", nil)
	a.Pay(t, subscribed, harness.CardSucceeds).Want(t, http.StatusOK)
	receipt := a.Receipt(t, subscribed)
	subscription, customer := "/v1/subscriptions/"+fmt.Sprint(receipt["subscriptionId"]), fmt.Sprint(receipt["customerId"])
	bought := a.NewSession(t, poster, "default", "ada", harness.JSON{"discountCode": "TEN"})
	a.Pay(t, bought, harness.CardDeclined)
	a.Pay(t, bought, harness.CardSucceeds).Want(t, http.StatusOK)
	abandoned := a.NewSession(t, poster, "default", "ada", harness.JSON{"discountCode": "TEN"})
	a.Pay(t, abandoned, harness.CardDeclined)
	advance(16) // over the trial's end

	meter := ask(http.MethodPost, "/v1/usage/meters", harness.JSON{
		"name": "Calls", "eventName": "calls", "aggregation": "SUM",
	})
	product := ask(http.MethodPost, "/v1/usage/products", harness.JSON{"name": "Calls", "type": "SERVICE"})
	price := ask(http.MethodPost, "/v1/usage/prices", harness.JSON{
		"productId": product["id"], "billingScheme": "usage_based", "currency": "eur",
		"recurring": harness.JSON{"interval": "day"}, "tiers": []harness.JSON{{"upTo": nil, "unitAmountDecimal": "100"}},
	})
	billed := ask(http.MethodPost, "/v1/usage/billing-plans", harness.JSON{
		"subscriptionId": receipt["subscriptionId"], "meterId": meter["id"], "priceId": price["id"], "billingInterval": "day",
	})
	ask(http.MethodPost, "/v1/usage/events", harness.JSON{
		"subscriptionId": receipt["subscriptionId"], "meter": "calls", "quantity": 5, "idempotencyKey": "calls-1",
	})
	advance(2)
	ask(http.MethodPost, subscription+"/change", harness.JSON{
		"plan": "studio", "interval": "month", "prorationMode": "charge_now",
	})
	ask(http.MethodPost, subscription+"/cancel", harness.JSON{"atPeriodEnd": true})
	ask(http.MethodPost, subscription+"/resume", nil)
	ask(http.MethodPatch, "/v1/customers/"+customer, harness.JSON{
		"externalCustomerId": "lovelace", "email": "ada@example.org",
	})
	const grants = "/v1/customer-access/lovelace/grants"
	granted := ask(http.MethodPost, grants, harness.JSON{
		"entitlements": []harness.JSON{{"key": "beta", "type": "boolean", "value": true}},
	})
	ask(http.MethodDelete, grants+"/"+fmt.Sprint(granted["id"]), nil)
	advance(30) // a renewal
	ask(http.MethodPost, "/v1/usage/billing-plans/"+fmt.Sprint(billed["id"])+"/end", nil)
	ask(http.MethodPost, "/v1/refunds", harness.JSON{"checkoutId": bought.ID, "amountInCents": 100, "reason": "a favor"})
	var payments struct{ Data []struct{ ID string } }
	a.AsBackend(t, http.MethodGet, "/v1/payments?subscriptionId="+fmt.Sprint(receipt["subscriptionId"]), nil).Want(t,
		http.StatusOK).Into(t, &payments)
	ask(http.MethodPost, "/v1/refunds", harness.JSON{
		"paymentId": payments.Data[0].ID, "reason": "a favor", "subscription": "cancel_now",
	})
	disputed := a.NewSession(t, poster, "default", "lovelace", nil)
	a.Pay(t, disputed, harness.CardDisputed).Want(t, http.StatusOK)
	advance(3)
}
