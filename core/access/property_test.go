package access_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sundry/core/access"
	"sundry/core/fault"
	"sundry/core/plan"
)

var noon = time.Date(2026, 3, 8, 12, 0, 0, 0, time.UTC)

// instants are few, so that ties happen.
func instant() *rapid.Generator[time.Time] {
	return rapid.Custom(func(t *rapid.T) time.Time {
		return noon.Add(time.Duration(rapid.IntRange(0, 3).Draw(t, "hours")) * time.Hour)
	})
}

func maybe(t *rapid.T, label string, g *rapid.Generator[time.Time]) time.Time {
	if rapid.Bool().Draw(t, label+" is set") {
		return g.Draw(t, label)
	}
	return time.Time{}
}

func entitlements() *rapid.Generator[[]plan.Entitlement] {
	one := rapid.Custom(func(t *rapid.T) plan.Entitlement {
		e := plan.Entitlement{
			Key:  rapid.SampledFrom([]string{"export", "seats", "tier"}).Draw(t, "key"),
			Type: rapid.SampledFrom([]plan.EntitlementType{plan.Boolean, plan.Limit, plan.Text}).Draw(t, "type"),
		}
		switch e.Type {
		case plan.Boolean:
			e.Bool = rapid.Bool().Draw(t, "value")
		case plan.Limit:
			e.Limit = rapid.Int64Range(0, 3).Draw(t, "value")
		case plan.Text:
			e.Text = rapid.SampledFrom([]string{"gold", "silver"}).Draw(t, "value")
		}
		return e
	})
	return rapid.SliceOfN(one, 0, 3)
}

func blocks() *rapid.Generator[[]access.CreditBlock] {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) access.CreditBlock {
		granted := rapid.Int64Range(1, 10).Draw(t, "granted")
		return access.CreditBlock{
			Key:     rapid.SampledFrom([]string{"images", "minutes"}).Draw(t, "credit"),
			Unit:    "piece",
			Granted: granted, Used: rapid.Int64Range(0, granted).Draw(t, "used"),
			Renews: rapid.Bool().Draw(t, "renews"),
		}
	}), 0, 2)
}

// grantStates generates grants of one customer with ids in the order of the list.
func grantStates() *rapid.Generator[[]access.State] {
	return rapid.Custom(func(t *rapid.T) []access.State {
		states := make([]access.State, rapid.IntRange(0, 6).Draw(t, "grants"))
		for i := range states {
			s := access.State{
				ID: fmt.Sprintf("grt_%d", i), CreatorID: "crt_1", ExternalCustomerID: "ada", Source: access.Purchase,
				SourceID: fmt.Sprintf("pay_%d", i), StartedAt: instant().Draw(t, "started"), Revision: 1,
				Entitlements: entitlements().Draw(t, "entitlements"), Credits: blocks().Draw(t, "credits"),
				ExpiresAt: maybe(t, "expires", instant()),
			}
			if rapid.Bool().Draw(t, "has a plan") {
				s.Plan = &access.Plan{
					Key: rapid.SampledFrom([]string{"basic", "pro"}).Draw(t, "plan"), ListingKey: "studio", Status: access.Active,
					CurrentPeriodEnd: maybe(t, "period end", instant()), CancelAtPeriodEnd: rapid.Bool().Draw(t, "cancels"),
				}
			}
			if rapid.IntRange(0, 3).Draw(t, "ended") == 0 {
				s.EndReason, s.EndedAt = access.Revoked, noon
			}
			states[i] = s
		}
		return states
	})
}

func restore(states []access.State) []*access.Grant {
	grants := make([]*access.Grant, len(states))
	for i, s := range states {
		grants[i] = access.Restore(s)
	}
	return grants
}

func document(t *rapid.T, s access.Snapshot) access.Document {
	d, _, _, err := access.Empty("crt_1", "ada", false).Next(s, false, access.Cause{}, noon)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestFoldDoesNotDependOnTheOrderOfGrants(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		states := grantStates().Draw(t, "states")
		one := document(t, access.Fold(restore(states)))
		other := document(t, access.Fold(restore(rapid.Permutation(states).Draw(t, "order"))))
		if !bytes.Equal(one.Body, other.Body) || one.ETag != other.ETag {
			t.Fatalf("the same grants in another order:\n%s\n%s", one.Body, other.Body)
		}
	})
}

func TestVersionRisesByOneExactlyWhenTheBodyChanges(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := access.Empty("crt_1", "ada", true)
		for range rapid.IntRange(1, 4).Draw(t, "steps") {
			s := access.Fold(restore(grantStates().Draw(t, "states")))
			next, changed, ok, err := d.Next(s, true, access.Cause{}, noon)
			if err != nil {
				t.Fatal(err)
			}
			same := withoutVersion(d) == withoutVersion(next)
			switch {
			case ok == same:
				t.Fatalf("changed is %v from\n%s\nto\n%s", ok, d.Body, next.Body)
			case ok && (next.Version != d.Version+1 || changed.PreviousVersion != d.Version || changed.Version != next.Version):
				t.Fatalf("version %d follows %d", next.Version, d.Version)
			case ok != (next.ETag != d.ETag), ok != (len(changed.Changed) > 0):
				t.Fatalf("tag and members must change with the body: %v, %v", next.ETag, changed.Changed)
			case !next.Matches(s, true):
				t.Fatal("the document does not match what it was made of")
			}
			d = next
		}
	})
}

func withoutVersion(d access.Document) string {
	return strings.TrimSuffix(string(d.Body), fmt.Sprintf(`"version":%d}`, d.Version))
}

func TestCreditsAreConservedAndNeverNegative(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		grants := restore(grantStates().Draw(t, "states"))
		before := map[string]int64{}
		for _, c := range access.Fold(grants).Credits {
			before[c.Key] = c.Used
		}
		consumed := map[string]int64{}
		for range rapid.IntRange(1, 6).Draw(t, "uses") {
			draw := access.ConsumeRequest{
				Key:    rapid.SampledFrom([]string{"images", "minutes"}).Draw(t, "key"),
				Amount: rapid.Int64Range(1, 12).Draw(t, "amount"),
			}
			was := document(t, access.Fold(grants))
			balance := balanceOf(grants, draw.Key)
			_, _, err := access.Consume(grants, draw)
			switch {
			case err == nil && draw.Amount > balance:
				t.Fatalf("%d of %d were consumed", draw.Amount, balance)
			case err == nil:
				consumed[draw.Key] += draw.Amount
			case !fault.Is(err, fault.InsufficientBalance) || draw.Amount <= balance:
				t.Fatalf("%d of %d: %v", draw.Amount, balance, err)
			case !bytes.Equal(was.Body, document(t, access.Fold(grants)).Body):
				t.Fatal("a refused use changed the credits")
			}
		}
		for _, c := range access.Fold(grants).Credits {
			if c.Balance() < 0 || c.Used != before[c.Key]+consumed[c.Key] {
				t.Fatalf("%+v after %d were used and %d more consumed", c, before[c.Key], consumed[c.Key])
			}
		}
	})
}

func balanceOf(grants []*access.Grant, key string) (balance int64) {
	for _, c := range access.Fold(grants).Credits {
		if c.Key == key {
			balance += c.Balance()
		}
	}
	return balance
}
