package dashboard

import (
	"testing"

	"sundry/adapters/web/dashboard/ui"
	"sundry/core/locale"
)

func TestASignInLeadsToTheDashboardOnly(t *testing.T) {
	t.Parallel()
	for next, want := range map[string]string{
		"/dashboard": "/dashboard", "/dashboard/orders": "/dashboard/orders",
		"/dashboard/orders?a=b&c=d": "/dashboard/orders?a=b&c=d",
		"":                          base, "/": base, "/c/secret": base, "/dashboardx": base, "//evil.example": base,
		`/\evil.example`: base, "https://evil.example/dashboard": base,
		"/dashboard//evil.example": base, `/dashboard/\evil`: base, "/dashboard/../c/x": base,
		"/dashboard/%2e%2e/c": base, "javascript:alert(1)": base,
		"/dashboard/\t/x": base, "/dashboard\r\nSet-Cookie: a=b": base, "http:/dashboard": base,
		"/dashboard/sign-out": base, "//dashboard": base,
		"/dashboard/%5cevil": "/dashboard/%5cevil",
	} {
		if got := safeNext(next); got != want {
			t.Errorf("%q leads to %q, want %q", next, got, want)
		}
	}
}

func TestANumberAgreesWithItsUnit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		language string
		n        int64
		unit     ui.Words
		want     string
	}{
		{"en", 1, "days", "1 day"}, {"en", 2, "days", "2 days"}, {"en", 1, "hours before", "1 hour before"},
		{"en", 1, "days ahead", "1 day ahead"}, {"en", 5, "minutes", "5 minutes"}, {"de", 1, "minutes", "1 Minute"},
		{"fr", 0, "minutes", "0 minute"}, {"en", 1, "at most", "1 at most"}, {"en", 3, "", "3"},
	} {
		v := visit{reader: locale.Locale{Language: c.language}}
		if got := v.counted(c.n, c.unit); got != c.want {
			t.Errorf("%s: %q, want %q", c.language, got, c.want)
		}
	}
}
