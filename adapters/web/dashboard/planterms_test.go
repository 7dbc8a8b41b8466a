package dashboard

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"sundry/core/plan"
)

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
