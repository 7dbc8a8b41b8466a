package dashboard

import "testing"

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
