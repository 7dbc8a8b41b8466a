package dashboard

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"sundry/core/locale"
	"sundry/core/plan"
)

func TestWhatAPlanGivesIsInTheReadersLanguage(t *testing.T) {
	t.Parallel()
	p := plan.State{Terms: plan.Terms{
		Entitlements: []plan.Entitlement{{Key: "projects", Type: plan.Limit, Limit: 10, PerSeat: true}},
		Credits:      []plan.Credit{{Key: "renders", Amount: 100, Unit: "render", Renews: true}},
		UsageCredits: []plan.UsageCredit{
			{AmountInCents: 5000, Currency: "eur", ExpiresInDays: 90}, {AmountInCents: 500, Currency: "eur", ExpiresInDays: 1},
		},
	}}
	for language, want := range map[string][]string{
		"en": {"projects: 10 per seat", "renders: 100 render, renews", "50.00 eur, 90 days", "5.00 eur, 1 day"},
		"de": {"projects: 10 pro Platz", "renders: 100 render, erneuert sich", "50.00 eur, 90 Tage", "5.00 eur, 1 Tag"},
		"fr": {"projects: 10 par place", "renders: 100 render, renouvelé", "50.00 eur, 90 jours", "5.00 eur, 1 jour"},
	} {
		v := &visit{reader: locale.ParseTag(language)}
		got := strings.Split(v.planGives(p), "\n")
		for i, line := range want {
			if i >= len(got) || !strings.HasSuffix(got[i], line) {
				t.Errorf("%s: %q, want each to end with %q", language, got, want)
			}
		}
	}
}

// typed returns a value as a browser sends it: one line, whose ends Input.Text trims.
func typed(value string) string {
	return strings.TrimSpace(strings.NewReplacer("\r", "", "\n", "").Replace(value))
}

func TestEntitlementsStayAsTheyAreShown(t *testing.T) {
	t.Parallel()
	for _, e := range []plan.Entitlement{
		{Type: plan.Boolean, Bool: true}, {Type: plan.Boolean}, {Type: plan.Limit, Limit: 10}, {Type: plan.Limit},
	} {
		want := e.Value()
		if n, ok := want.(int64); ok {
			want = json.Number(strconv.FormatInt(n, 10))
		}
		shown := entitlementValue(e)
		if got := entitlementDraft("a", typed(shown), false); got.Type != string(e.Type) || got.Value != want {
			t.Errorf("%s %v is shown as %q and read as %s %v", e.Type, want, shown, got.Type, got.Value)
		}
	}
	for text, want := range map[string]string{
		"gold": "gold", "": `""`, "No": `"No"`, "yes": `"yes"`, "10": `"10"`, " a": `" a"`, "one\ntwo": `"one\ntwo"`,
		`"a"`: `"\"a\""`, `'a'`: `'a'`, "`a`": "`a`", `a\b`: `a\b`, `"`: `"`, "größe": "größe",
	} {
		shown := entitlementValue(plan.Entitlement{Type: plan.Text, Text: text})
		if shown != want {
			t.Errorf("the text %q is shown as %s, want %s", text, shown, want)
		}
		if got := entitlementDraft("a", typed(shown), false); got.Type != string(plan.Text) || got.Value != text {
			t.Errorf("the text %q is shown as %s and read as %s %q", text, shown, got.Type, got.Value)
		}
	}
}
