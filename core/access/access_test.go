package access_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sundry/core/access"
	"sundry/core/checkout"
	"sundry/core/fault"
	"sundry/core/money"
	"sundry/core/plan"
	"sundry/core/subscription"
)

func boolean(key string, value bool) plan.Entitlement {
	return plan.Entitlement{Key: key, Type: plan.Boolean, Bool: value}
}

func limit(n int64) plan.Entitlement {
	return plan.Entitlement{Key: "seats", Type: plan.Limit, Limit: n}
}

func text(s string) plan.Entitlement { return plan.Entitlement{Key: "tier", Type: plan.Text, Text: s} }

// given is a running grant by source id.
func given(sourceID string, started, expires time.Time, entitlements ...plan.Entitlement) *access.Grant {
	return access.Restore(access.State{
		ID: "grt_" + sourceID, SourceID: sourceID, Source: access.Purchase, StartedAt: started, ExpiresAt: expires,
		Entitlements: entitlements,
	})
}

func TestEntitlementsCombine(t *testing.T) {
	t.Parallel()
	var never time.Time
	tomorrow, later := noon.Add(24*time.Hour), noon.Add(48*time.Hour)
	for name, c := range map[string]struct {
		grants  []*access.Grant
		value   any
		sources []string
		expires time.Time
	}{
		"one lasting grant never expires": {
			[]*access.Grant{given("a", noon, never, boolean("x", true))}, true, []string{"a"}, never,
		},
		"a false boolean is still listed": {
			[]*access.Grant{given("a", noon, never, boolean("x", false))}, false, []string{"a"}, never,
		},
		"booleans are or-ed, and what is false is no reason": {
			[]*access.Grant{given("a", noon, never, boolean("x", false)), given("b", noon, tomorrow, boolean("x", true))}, true,
			[]string{"b"}, tomorrow,
		},
		"of two that expire the later counts": {
			[]*access.Grant{given("a", noon, later, boolean("x", true)), given("b", noon, tomorrow, boolean("x", true))}, true,
			[]string{"a", "b"}, later,
		},
		"one that lasts outlives one that expires": {
			[]*access.Grant{given("a", noon, later, boolean("x", true)), given("b", noon, never, boolean("x", true))}, true,
			[]string{"a", "b"}, never,
		},
		"booleans are or-ed in any order": {
			[]*access.Grant{given("a", noon, never, boolean("x", true)), given("b", noon, tomorrow, boolean("x", false))}, true,
			[]string{"a"}, never,
		},
		"one that expires does not outlive one that lasts": {
			[]*access.Grant{given("a", noon, never, boolean("x", true)), given("b", noon, later, boolean("x", true))}, true,
			[]string{"a", "b"}, never,
		},
		"sources are sorted whatever came first": {
			[]*access.Grant{given("b", noon, never, boolean("x", true)), given("a", noon.Add(time.Minute), never,
				boolean("x", true))}, true, []string{"a", "b"}, never,
		},
		"the larger limit wins in any order": {
			[]*access.Grant{given("a", noon, never, limit(5)), given("b", noon, tomorrow, limit(3))}, int64(5), []string{"a"},
			never,
		},
		"the larger limit wins and its own end is listed": {
			[]*access.Grant{given("a", noon, never, limit(3)), given("b", noon, tomorrow, limit(5))}, int64(5), []string{"b"},
			tomorrow,
		},
		"the latest text wins": {
			[]*access.Grant{given("b", noon, never, text("gold")), given("a", noon.Add(time.Minute), tomorrow, text("silver"))},
			"silver", []string{"a"}, tomorrow,
		},
		"of two texts of one moment the later id wins": {
			[]*access.Grant{given("b", noon, never, text("gold")), given("a", noon, never, text("silver"))}, "gold",
			[]string{"b"}, never,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := access.Fold(c.grants).Entitlements
			if len(got) != 1 {
				t.Fatalf("%+v, want one entitlement", got)
			}
			if got[0].Value() != c.value || !reflect.DeepEqual(got[0].Sources, c.sources) || !got[0].ExpiresAt.Equal(c.expires) {
				t.Errorf("%v from %v until %v, want %v from %v until %v",
					got[0].Value(), got[0].Sources, got[0].ExpiresAt, c.value, c.sources, c.expires)
			}
		})
	}
}

func TestTheNextEndIsTheSoonest(t *testing.T) {
	t.Parallel()
	var never time.Time
	soon, later := noon.Add(time.Hour), noon.Add(2*time.Hour)
	for name, c := range map[string]struct {
		ends []time.Time
		want time.Time
	}{
		"none":                     {nil, never},
		"one that lasts":           {[]time.Time{never}, never},
		"the sooner one first":     {[]time.Time{soon, later}, soon},
		"the sooner one last":      {[]time.Time{later, soon}, soon},
		"one that lasts among two": {[]time.Time{later, never, soon, never}, soon},
	} {
		var grants []*access.Grant
		for i, end := range c.ends {
			grants = append(grants, given(string(rune('a'+i)), noon, end))
		}
		d, _, _, err := access.Empty("crt_1", "ada", false).Next(access.Fold(grants), false, access.Cause{}, noon)
		if err != nil || !d.NextEnd.Equal(c.want) {
			t.Errorf("%s: %v, %v", name, d.NextEnd, err)
		}
	}
}

func TestPlansAreListedByKeyAndSource(t *testing.T) {
	t.Parallel()
	var grants []*access.Grant
	for i, s := range []access.State{
		{SourceID: "b", Source: access.Purchase, Plan: &access.Plan{Key: "pro"}}, {SourceID: "a", Source: access.Subscription,
			Plan: &access.Plan{Key: "pro"}},
		{SourceID: "a", Source: access.Purchase, Plan: &access.Plan{Key: "pro"}},
		{SourceID: "z", Source: access.Manual, Plan: &access.Plan{Key: "basic"}},
	} {
		s.ID, s.StartedAt = "grt_"+string(rune('a'+i)), noon
		grants = append(grants, access.Restore(s))
	}
	var got []string
	for _, p := range access.Fold(grants).ActivePlans {
		got = append(got, p.Key+" "+p.SourceID+" "+string(p.Source))
	}
	if want := []string{"basic z grant", "pro a purchase", "pro a subscription", "pro b purchase"}; !reflect.DeepEqual(got,
		want) {
		t.Errorf("%q", got)
	}
}

func TestADocumentMatchesOnlyWhatItsGrantsGive(t *testing.T) {
	t.Parallel()
	s := access.Fold([]*access.Grant{given("a", noon, noon.Add(time.Hour), boolean("x", true))})
	d, changed, ok, err := access.Empty("crt_1", "ada", false).Next(s, false, access.Cause{}, noon)
	if err != nil || !ok || changed.Version != 1 || len(d.ETag) != 26 || !d.Matches(s, false) {
		t.Fatalf("%v, %v: %+v", ok, err, d)
	}
	ended, tagged, empty := d, d, d
	ended.NextEnd, tagged.ETag, empty.Body = noon, `"other"`, access.Empty("crt_1", "ada", false).Body
	for name, other := range map[string]access.Document{"another end": ended, "another tag": tagged,
		"another body": empty} {
		if other.Matches(s, false) {
			t.Errorf("%s matches", name)
		}
	}
	if d.Matches(access.Fold(nil), false) || d.Matches(s, true) {
		t.Error("other grants match, or another environment")
	}
}

func TestADocumentThatCannotBeReadIsAnError(t *testing.T) {
	t.Parallel()
	broken := access.Document{CreatorID: "crt_1", ExternalCustomerID: "ada", Body: []byte("{"), Version: 3}
	if d, _, ok, err := broken.Next(access.Fold(nil), false, access.Cause{}, noon); err == nil || ok || d.Version != 3 {
		t.Errorf("%v, %v, %+v", ok, err, d)
	}
	if d, changed, err := broken.WithMeters([]access.Meter{{Key: "calls"}}); err == nil || changed ||
		string(d.Body) != "{" {
		t.Errorf("%v, %v, %s", changed, err, d.Body)
	}
	if _, changed, err := (access.Document{}).WithMeters(nil); err != nil || changed {
		t.Errorf("no meters of no document: %v, %v", changed, err)
	}
}

func TestCancelingSubscriptionExpiresWithItsPeriod(t *testing.T) {
	t.Parallel()
	end := noon.Add(time.Hour)
	g := access.Restore(access.State{
		ID: "grt_1", SourceID: "sub_1", Plan: &access.Plan{Key: "pro", CurrentPeriodEnd: end, CancelAtPeriodEnd: true},
		Entitlements: []plan.Entitlement{boolean("x", true)},
	})
	if got := access.Fold([]*access.Grant{g}); !got.Entitlements[0].ExpiresAt.Equal(end) || !got.NextEnd.IsZero() {
		t.Errorf("expires %v (want %v), next end %v (want none: the subscription ends it)", got.Entitlements[0].ExpiresAt,
			end, got.NextEnd)
	}
}

func credited(sourceID string, expires time.Time, granted, used int64) *access.Grant {
	return access.Restore(access.State{
		ID: "grt_" + sourceID, SourceID: sourceID, StartedAt: noon, ExpiresAt: expires, Revision: 1,
		Credits: []access.CreditBlock{{Key: "images", Unit: "image", Granted: granted, Used: used}},
	})
}

func used(g *access.Grant) int64 { return g.State().Credits[0].Used }

func TestCreditsAreDrawnFromWhatExpiresFirst(t *testing.T) {
	t.Parallel()
	lasting, soon, later := credited("a", time.Time{}, 10, 0), credited("b", noon.Add(time.Hour), 4, 1), credited("c",
		noon.Add(2*time.Hour), 5, 0)
	grants := []*access.Grant{lasting, later, soon, credited("e", noon.Add(time.Minute), 3, 3)}
	if got := access.Fold(grants).Credits[0]; got.Granted != 22 || got.Used != 4 || got.Balance() != 18 ||
		!got.ExpiresAt.Equal(noon.Add(time.Hour)) {
		t.Fatalf("before: %+v", got)
	}
	changed, unit, err := access.Consume(grants, access.ConsumeRequest{Key: "images", Amount: 6})
	if err != nil || unit != "image" || len(changed) != 2 {
		t.Fatalf("changed %d grants of unit %q: %v", len(changed), unit, err)
	}
	if used(soon) != 4 || used(later) != 3 || used(lasting) != 0 {
		t.Errorf("used %d, %d, %d; want 4 of the soonest, 3 of the next, none of the lasting", used(soon), used(later),
			used(lasting))
	}
	for _, g := range changed {
		if g.State().Revision != 2 {
			t.Errorf("grant %s has revision %d, want 2", g.State().ID, g.State().Revision)
		}
	}
	if got := access.Fold(grants).Credits[0]; !got.ExpiresAt.Equal(noon.Add(2 * time.Hour)) {
		t.Errorf("expires %v, want that of the soonest with a balance", got.ExpiresAt)
	}
}

// TestTheOrderOfGrantsDoesNotMatter draws one unit from any list of grants: it is of the one that expires first, of the
// oldest among equals, and nothing that lasts is drawn from while something else expires.
func TestTheOrderOfGrantsDoesNotMatter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		ends := []time.Time{noon.Add(time.Hour), noon.Add(2 * time.Hour), {}}
		ranks, grants := map[*access.Grant]int{}, []*access.Grant{}
		for i := range rapid.IntRange(2, 5).Draw(t, "grants") {
			end, age := rapid.IntRange(0, 2).Draw(t, "end"), rapid.IntRange(0, 1).Draw(t, "age")
			g := access.Restore(access.State{
				ID: "grt_" + string(rune('a'+i)), StartedAt: noon.Add(time.Duration(age) * time.Minute), ExpiresAt: ends[end],
				Credits: []access.CreditBlock{{Key: "images", Unit: "image", Granted: 1}},
			})
			ranks[g], grants = 100*end+10*age+i, append(grants, g)
		}
		first := slices.MinFunc(grants, func(a, b *access.Grant) int { return ranks[a] - ranks[b] })
		changed, _, err := access.Consume(rapid.Permutation(grants).Draw(t, "order"),
			access.ConsumeRequest{Key: "images", Amount: 1})
		if err != nil || len(changed) != 1 || changed[0] != first {
			t.Fatalf("%v, drawn from %+v, want %+v", err, changed, first.State())
		}
	})
}

func TestCreditsOfThePresentPlanAreShown(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		block access.CreditBlock
		shown bool
	}{
		"granted":                     {access.CreditBlock{Granted: 1}, true},
		"of a day's share of nothing": {access.CreditBlock{Amount: 1}, true},
		"used under an earlier plan":  {access.CreditBlock{Used: 3, Spent: 3}, false},
	} {
		g := access.Restore(access.State{ID: "grt_1", Credits: []access.CreditBlock{c.block}})
		if got := access.Fold([]*access.Grant{g}).Credits; (len(got) == 1) != c.shown {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestAGrantOfTwoBlocksIsChangedOnce(t *testing.T) {
	t.Parallel()
	s := credited("a", time.Time{}, 2, 0).State()
	s.Credits = append(s.Credits, s.Credits[0])
	g := access.Restore(s)
	handedOut := g.State()
	changed, _, err := access.Consume([]*access.Grant{g}, access.ConsumeRequest{Key: "images", Amount: 3})
	if err != nil || len(changed) != 1 || g.State().Revision != 2 || g.State().Credits[0].Used != 2 ||
		g.State().Credits[1].Used != 1 {
		t.Errorf("%v: %+v", err, g.State())
	}
	handedOut.Credits[0].Used = 9
	if s.Credits[0].Used != 0 || g.State().Credits[0].Used != 2 {
		t.Errorf("what was given and what was handed out is shared: %+v, %+v", s.Credits, g.State().Credits)
	}
}

func TestTheUnitIsAskedForOnlyWhereThereAreSeveral(t *testing.T) {
	t.Parallel()
	images := credited("a", time.Time{}, 3, 0)
	hours := access.Restore(access.State{ID: "grt_h",
		Credits: []access.CreditBlock{{Key: "images", Unit: "hour", Granted: 100}}})
	ended := access.Restore(access.State{ID: "grt_e", EndReason: access.Expired,
		Credits: []access.CreditBlock{{Key: "images", Unit: "hour", Granted: 100}}})
	others := access.Restore(access.State{ID: "grt_o",
		Credits: []access.CreditBlock{{Key: "videos", Unit: "hour", Granted: 100}}})
	former := access.Restore(access.State{ID: "grt_f",
		Credits: []access.CreditBlock{{Key: "images", Unit: "hour", Used: 5}}})
	for name, grants := range map[string][]*access.Grant{"of another key": {images, others},
		"of an ended grant": {ended, images}, "of an earlier plan": {former, images}} {
		if _, unit, err := access.Consume(grants, access.ConsumeRequest{Key: "images", Amount: 1}); err != nil ||
			unit != "image" {
			t.Errorf("another unit %s: %q, %v", name, unit, err)
		}
	}
	if _, unit, err := access.Consume([]*access.Grant{images, hours}, access.ConsumeRequest{Key: "images", Unit: "hour",
		Amount: 1}); err != nil || unit != "hour" {
		t.Errorf("named: %q, %v", unit, err)
	}
	for _, grants := range [][]*access.Grant{{images, hours}, {hours, images}} {
		var refused *fault.Error
		_, _, err := access.Consume(grants, access.ConsumeRequest{Key: "images", Amount: 1})
		if !errors.As(err, &refused) || len(refused.Details) != 1 ||
			!strings.HasSuffix(refused.Details[0].Message, "hour, image.") {
			t.Errorf("%v", err)
		}
	}
}

func TestConsumeRefusals(t *testing.T) {
	t.Parallel()
	hours := access.Restore(access.State{ID: "grt_h",
		Credits: []access.CreditBlock{{Key: "images", Unit: "hour", Granted: 100}}})
	over := credited("z", time.Time{}, 100, 0).State()
	over.EndReason, over.EndedAt = access.SourceEnded, noon
	ended := access.Restore(over)
	for name, c := range map[string]struct {
		grants []*access.Grant
		draw   access.ConsumeRequest
		code   fault.Code
	}{
		"nobody has any": {nil, access.ConsumeRequest{Key: "images", Amount: 1}, fault.InsufficientBalance},
		"one too many": {[]*access.Grant{credited("a", noon, 3, 1), credited("b", noon, 3, 0)},
			access.ConsumeRequest{Key: "images", Amount: 6}, fault.InsufficientBalance},
		"another key has enough": {[]*access.Grant{credited("a", noon, 3, 0)},
			access.ConsumeRequest{Key: "videos", Amount: 1}, fault.InsufficientBalance},
		"an ended grant has enough": {[]*access.Grant{ended}, access.ConsumeRequest{Key: "images", Amount: 1},
			fault.InsufficientBalance},
		"another unit has enough": {[]*access.Grant{credited("a", noon, 3, 0), hours},
			access.ConsumeRequest{Key: "images", Unit: "image", Amount: 4}, fault.InsufficientBalance},
		"two units and none of them named": {[]*access.Grant{credited("a", noon, 3, 0), hours},
			access.ConsumeRequest{Key: "images", Amount: 1}, fault.ValidationFailed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := access.Fold(c.grants)
			changed, _, err := access.Consume(c.grants, c.draw)
			if !fault.Is(err, c.code) || len(changed) != 0 {
				t.Errorf("changed %v: %v, want %s", changed, err, c.code)
			}
			if after := access.Fold(c.grants); !reflect.DeepEqual(before, after) {
				t.Errorf("a refusal changed %+v to %+v", before, after)
			}
		})
	}
}

func TestGrantTransitions(t *testing.T) {
	t.Parallel()
	state := func(source access.Source, end access.EndReason) access.State {
		s := access.State{ID: "grt_1", Source: source, SourceID: "x", ExpiresAt: noon, Revision: 1, EndReason: end}
		if end != access.NotEnded {
			s.EndedAt = noon.Add(-time.Minute)
		}
		return s
	}
	revoke := func(g *access.Grant) error {
		running := g.Active()
		changed, err := g.Revoke(noon)
		if changed != (running && err == nil) {
			t.Errorf("%+v: changed %v, %v", g.State(), changed, err)
		}
		return err
	}
	cancel := func(g *access.Grant) error { return g.EndWithAppointments(noon) }
	erase := func(g *access.Grant) error {
		running := g.Active() || g.Suspended()
		if changed := g.EndErased(noon); changed != running {
			t.Errorf("%+v: erased %v", g.State(), changed)
		}
		return nil
	}
	expire := func(g *access.Grant) error { return g.Expire(noon.Add(time.Hour)) }
	early := func(g *access.Grant) error { return g.Expire(noon.Add(-time.Millisecond)) }
	for name, c := range map[string]struct {
		from    access.State
		trigger func(*access.Grant) error
		to      access.EndReason
		refused bool
	}{
		"a manual grant is revoked":          {state(access.Manual, access.NotEnded), revoke, access.Revoked, false},
		"a revoked grant stays revoked":      {state(access.Manual, access.Revoked), revoke, access.Revoked, false},
		"an expired grant cannot be revoked": {state(access.Manual, access.Expired), revoke, access.Expired, true},
		"a purchase cannot be revoked":       {state(access.Purchase, access.NotEnded), revoke, access.NotEnded, true},
		"a subscription cannot be revoked": {state(access.Subscription, access.NotEnded), revoke, access.NotEnded,
			true},
		"an ended subscription cannot be revoked": {state(access.Subscription, access.SourceEnded), revoke,
			access.SourceEnded, true},
		"a grant expires when its time is over": {state(access.Manual, access.NotEnded), expire, access.Expired, false},
		"a grant ends with its appointments": {state(access.Appointment, access.NotEnded), cancel, access.SourceEnded,
			false},
		"a purchase ends with its erased buyer":  {state(access.Purchase, access.NotEnded), erase, access.Revoked, false},
		"what ended before stays as it ended":    {state(access.Purchase, access.Expired), erase, access.Expired, false},
		"an ended one does not":                  {state(access.Appointment, access.Expired), cancel, access.Expired, true},
		"a grant does not expire before":         {state(access.Manual, access.NotEnded), early, access.NotEnded, true},
		"a revoked grant does not expire":        {state(access.Manual, access.Revoked), expire, access.Revoked, true},
		"an expired grant does not expire again": {state(access.Manual, access.Expired), expire, access.Expired, true},
		"an ended subscription's grant stays ended": {state(access.Subscription, access.SourceEnded), expire,
			access.SourceEnded, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := access.Restore(c.from)
			err := c.trigger(g)
			if c.refused != fault.Is(err, fault.StateConflict) || !c.refused && err != nil {
				t.Fatalf("refused: %v, want %v", err, c.refused)
			}
			after := g.State()
			if after.EndReason != c.to {
				t.Errorf("ended as %q, want %q", after.EndReason, c.to)
			}
			if after.EndReason == c.from.EndReason && !reflect.DeepEqual(after, c.from) {
				t.Errorf("nothing happened, yet %+v became %+v", c.from, after)
			}
			if after.EndReason != c.from.EndReason && (after.Revision != 2 || !after.EndedAt.Equal(noon)) {
				t.Errorf("revision %d, ended at %v", after.Revision, after.EndedAt)
			}
		})
	}
}

func TestOnlyARunningGrantWithAnEndIsDueToEnd(t *testing.T) {
	t.Parallel()
	ended := given("a", noon, noon).State()
	ended.EndReason = access.Revoked
	for name, c := range map[string]struct {
		grant *access.Grant
		want  bool
	}{
		"its time is over":  {given("a", noon, noon), true},
		"its time is to be": {given("a", noon, noon.Add(1)), false},
		"it lasts":          {given("a", noon, time.Time{}), false},
		"it has ended":      {access.Restore(ended), false},
	} {
		if got := c.grant.DueToEnd(noon); got != c.want {
			t.Errorf("%s: due %v", name, got)
		}
	}
}

func TestAManualGrantGivesItsOwnTermsOrThoseOfAPlan(t *testing.T) {
	t.Parallel()
	own := plan.Terms{Entitlements: []plan.Entitlement{limit(3)},
		Credits: []plan.Credit{{Key: "renders", Unit: "render", Amount: 7}}}
	end := noon.Add(time.Hour)
	for name, c := range map[string]struct {
		grant   access.ManualGrant
		terms   plan.Terms
		planKey string
	}{
		"of its own": {access.ManualGrant{Terms: own, ExpiresAt: end, Note: "sorry"}, own, ""},
		"of a plan":  {access.ManualGrant{Offer: &offer, ExpiresAt: end, Note: "sorry"}, offer.Terms, "pro"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := access.NewManual("grt_1", "crt_1", "ada", c.grant, noon)
			s := g.State()
			if s.ID != "grt_1" || s.SourceID != "grt_1" || s.Source != access.Manual || s.CreatorID != "crt_1" ||
				s.ExternalCustomerID != "ada" || s.Revision != 1 ||
				!s.StartedAt.Equal(noon) || !s.ExpiresAt.Equal(end) || s.Note != "sorry" {
				t.Errorf("%+v", s)
			}
			if !reflect.DeepEqual(s.Entitlements, c.terms.Entitlements) || len(s.Credits) != 1 ||
				s.Credits[0].Granted != c.terms.Credits[0].Amount || s.Credits[0].Renews {
				t.Errorf("gives %+v, %+v", s.Entitlements, s.Credits)
			}
			if (s.Plan == nil) != (c.planKey == "") || s.Plan != nil && s.Plan.Key != c.planKey {
				t.Errorf("of plan %+v", s.Plan)
			}
			if seats := access.NewManual("grt_2", "crt_1", "ada", access.ManualGrant{Terms: plan.Terms{
				Entitlements: []plan.Entitlement{{Key: "seats", Type: plan.Limit, Limit: 3, PerSeat: true}},
			}}, noon).State().Entitlements; !reflect.DeepEqual(seats, []plan.Entitlement{limit(3)}) {
				t.Errorf("per seat it gives %+v, want those of one", seats)
			}
			if g.Rename("grace"); g.State().ExternalCustomerID != "grace" || g.State().Revision != 2 {
				t.Errorf("renamed %+v", g.State())
			}
		})
	}
}

func TestCreditsThatDoNotRenewOutlastThePeriod(t *testing.T) {
	t.Parallel()
	end, grace := noon.Add(time.Hour), noon.Add(8*time.Hour)
	s := access.State{Plan: &access.Plan{CurrentPeriodEnd: end}}
	for name, c := range map[string]struct {
		renews, canceled bool
		expires, want    time.Time
	}{
		"renewing":                           {true, false, time.Time{}, end},
		"renewing, in the grace":             {true, false, grace, grace},
		"once":                               {false, false, time.Time{}, time.Time{}},
		"once, to be canceled":               {false, true, time.Time{}, end},
		"once, to be canceled, in the grace": {false, true, grace, grace},
		"once, of a grant that is to expire": {false, false, grace, grace},
		"renewing, of a plan to be canceled": {true, true, time.Time{}, end},
	} {
		s.Plan.CancelAtPeriodEnd, s.ExpiresAt = c.canceled, c.expires
		if got := access.Restore(s).CreditExpiry(access.CreditBlock{Renews: c.renews}); !got.Equal(c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

var offer = plan.Offer{
	CreatorID: "crt_1", ListingID: "lst_1", ListingKey: "studio", ListingType: "SUBSCRIPTION", PlanKey: "pro",
	Price: money.Amount{Minor: 900, Currency: "eur"},
	Terms: plan.Terms{
		Entitlements: []plan.Entitlement{boolean("export", true), limit(5), text("gold <&>")},
		Credits:      []plan.Credit{{Key: "renders", Unit: "render", Amount: 50, Renews: true}},
	},
}

func TestTheBodyIsTheContracts(t *testing.T) {
	t.Parallel()
	recurring := offer
	recurring.Interval, recurring.IntervalCount, recurring.TrialDays = "month", 1, 14
	sub := subscription.New(subscription.Order{ID: "sub_1", CreatorID: "crt_1", ExternalCustomerID: "ada",
		Offer: recurring}, noon)
	if _, err := sub.Activate(noon); err != nil {
		t.Fatal(err)
	}
	d, changed, ok, err := access.Empty("crt_1", "ada", false).Next(
		access.Fold([]*access.Grant{access.NewForSubscription("grt_1", sub.State(), noon)}), false, access.Cause{}, noon)
	if err != nil || !ok {
		t.Fatalf("no change: %v", err)
	}
	want := `{"externalCustomerId":"ada","livemode":false,` +
		`"activePlans":[{"key":"pro","listingKey":"studio","listingId":"lst_1","interval":"month","status":"trialing",` +
		`"source":"subscription","sourceId":"sub_1","startedAt":"2026-03-08T12:00:00.000Z",` +
		`"currentPeriodStart":"2026-03-08T12:00:00.000Z","currentPeriodEnd":"2026-03-22T12:00:00.000Z",` +
		`"trialEndsAt":"2026-03-22T12:00:00.000Z","cancelAtPeriodEnd":false,"graceEndsAt":null}],` +
		`"entitlements":[{"key":"export","type":"boolean","value":true,"sources":["sub_1"],"expiresAt":null},` +
		`{"key":"seats","type":"limit","value":5,"sources":["sub_1"],"expiresAt":null},` +
		`{"key":"tier","type":"text","value":"gold <&>","sources":["sub_1"],"expiresAt":null}],` +
		`"credits":[{"key":"renders","unit":"render","granted":50,"used":0,"balance":50,` +
		`"expiresAt":"2026-03-22T12:00:00.000Z"}],` +
		`"meters":[],"version":1}`
	if string(d.Body) != want {
		t.Errorf("body\n%s\nwant\n%s", d.Body, want)
	}
	if !reflect.DeepEqual(changed.Changed, []string{"activePlans", "entitlements", "credits"}) {
		t.Errorf("changed %v", changed.Changed)
	}
}

func TestEmptyDocumentHasEveryMember(t *testing.T) {
	t.Parallel()
	d := access.Empty("crt_1", `a"b/ü`, true)
	want := `{"externalCustomerId":"a\"b/ü","livemode":true,"activePlans":[],"entitlements":[],"credits":[],` +
		`"meters":[],"version":0}`
	if string(d.Body) != want || d.Version != 0 || !json.Valid(d.Body) {
		t.Errorf("body %s, want %s", d.Body, want)
	}
}

func TestPurchaseGrants(t *testing.T) {
	t.Parallel()
	paid := checkout.Paid{CheckoutID: "cs_1", PaymentID: "pay_1", CreatorID: "crt_1", ExternalCustomerID: "ada",
		Offer: offer, At: noon}
	free, booked := paid, paid
	free.PaymentID = ""
	booked.Offer.ListingType = "APPOINTMENT"
	for name, c := range map[string]struct {
		paid     checkout.Paid
		source   access.Source
		sourceID string
	}{
		"a purchase by its payment":                  {paid, access.Purchase, "pay_1"},
		"a free purchase by its checkout":            {free, access.Purchase, "cs_1"},
		"an appointment is distinguished from goods": {booked, access.Appointment, "pay_1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := access.NewForPurchase("grt_1", c.paid).State()
			if s.Source != c.source || s.SourceID != c.sourceID || s.CheckoutID != "cs_1" || !s.ExpiresAt.IsZero() {
				t.Errorf("%+v", s)
			}
			if s.Revision != 1 || !reflect.DeepEqual(s.Entitlements, offer.Terms.Entitlements) {
				t.Errorf("%+v", s)
			}
			if s.Plan.Interval != "" || s.Plan.Status != access.Active || s.Credits[0].Renews || s.Credits[0].Granted != 50 {
				t.Errorf("plan %+v, credits %+v: a purchase has no periods, so nothing renews", s.Plan, s.Credits)
			}
		})
	}
}
