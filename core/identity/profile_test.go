package identity_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"sundry/core/fault/faulttest"
	"sundry/core/identity"
	"sundry/core/payout"
)

func TestAProfileIsRefusedWithEveryFault(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		edit identity.ProfileEdit
		want []string
	}{
		"nothing": {identity.ProfileEdit{}, nil},
		"all cleared": {identity.ProfileEdit{LogoURL: new(""), AccentColor: new(""), SupportEmail: new(""),
			RefundPolicy: new("")}, nil},
		"all of it good": {identity.ProfileEdit{DisplayName: new("Ada"), LogoURL: new("https://a.example/l.png?v=2"),
			AccentColor: new("#4F46E5"), SupportEmail: new("Help@a.example"), RefundPolicy: new("14 days.\nNo questions.")},
			nil},
		"all of it wrong": {
			identity.ProfileEdit{DisplayName: new(" "), LogoURL: new("http://a.example/l.png"), AccentColor: new("red"),
				SupportEmail: new("help"), RefundPolicy: new("a\x00b")},
			[]string{"displayName REQUIRED", "logoUrl INVALID", "accentColor INVALID", "supportEmail INVALID",
				"refundPolicy INVALID"},
		},
		"a logo with a password": {identity.ProfileEdit{LogoURL: new("https://a:b@a.example/l.png")},
			[]string{"logoUrl INVALID"}},
		"a logo of this machine": {identity.ProfileEdit{LogoURL: new("https://127.0.0.1/l.png")},
			[]string{"logoUrl NOT_ALLOWED"}},
		"a logo of this machine, in hex": {identity.ProfileEdit{LogoURL: new("https://0x7f000001/l.png")},
			[]string{"logoUrl NOT_ALLOWED"}},
		"a logo of this machine, IPv6": {identity.ProfileEdit{LogoURL: new("https://[::1]/l.png")},
			[]string{"logoUrl NOT_ALLOWED"}},
		"a logo of localhost": {identity.ProfileEdit{LogoURL: new("https://localhost/l.png")},
			[]string{"logoUrl NOT_ALLOWED"}},
		"a logo of a cloud's metadata": {identity.ProfileEdit{LogoURL: new("https://169.254.169.254/l.png")},
			[]string{"logoUrl NOT_ALLOWED"}},
		"a logo of a private network": {identity.ProfileEdit{LogoURL: new("https://10.0.0.1/l.png")},
			[]string{"logoUrl NOT_ALLOWED"}},
		"a logo without a host": {identity.ProfileEdit{LogoURL: new("https:///l.png")}, []string{"logoUrl INVALID"}},
		"a logo of script": {identity.ProfileEdit{LogoURL: new("javascript:alert(1)")},
			[]string{"logoUrl INVALID"}},
		"a logo with a space": {identity.ProfileEdit{LogoURL: new("https://a.example/my logo.png")},
			[]string{"logoUrl INVALID"}},
		"a logo with an escape of none": {identity.ProfileEdit{LogoURL: new("https://a.example/%zz.png")},
			[]string{"logoUrl INVALID"}},
		"a logo with a backslash": {identity.ProfileEdit{LogoURL: new(`https://a.example/a\b.png`)},
			[]string{"logoUrl INVALID"}},
		"a logo with a no-break space": {identity.ProfileEdit{LogoURL: new("https://a.example/my\u00a0logo.png")},
			[]string{"logoUrl INVALID"}},
		"a logo with a control": {identity.ProfileEdit{LogoURL: new("https://a.example/\u0081.png")},
			[]string{"logoUrl INVALID"}},
		"a logo's URL of 2,048 bytes": {identity.ProfileEdit{LogoURL: new("https://a.example/" +
			strings.Repeat("a", 2030))}, nil},
		"a schedule of payouts": {identity.ProfileEdit{PayoutSchedule: new(payout.Daily)}, nil},
		"a schedule that nobody has": {identity.ProfileEdit{PayoutSchedule: new(payout.Schedule("hourly"))},
			[]string{"payoutSchedule NOT_ALLOWED"}},
		"a logo's URL is bounded": {identity.ProfileEdit{LogoURL: new("https://a.example/" +
			strings.Repeat("a", 2031))}, []string{"logoUrl TOO_LONG"}},
		"a color of three digits": {identity.ProfileEdit{AccentColor: new("#f00")}, []string{"accentColor INVALID"}},
		"a color that ends a style": {identity.ProfileEdit{AccentColor: new("#ffffff}")},
			[]string{"accentColor INVALID"}},
		"a site of the web": {identity.ProfileEdit{EmbedOrigins: &[]string{"https://a.example", "a.example"}},
			[]string{"embedOrigins[1] INVALID"}},
		"5,000 characters of policy": {identity.ProfileEdit{RefundPolicy: new(strings.Repeat("é", 5000))}, nil},
		"5,001 characters are too many": {identity.ProfileEdit{RefundPolicy: new(strings.Repeat("é", 5001))},
			[]string{"refundPolicy TOO_LONG"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			creator := identity.Register("crt_1", identity.Registration{Email: "ada@example.com", DisplayName: "Before"}, "",
				time.Unix(0, 0))
			before := creator.State()
			changed, err := creator.EditProfile(c.edit)
			if got := faulttest.Lines(t, err); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if err != nil && (changed || creator.State() != before) {
				t.Errorf("a refused edit left %+v", creator.State())
			}
		})
	}
}

func TestAProfileIsNormalizedAndOnlyWhatIsGivenChanges(t *testing.T) {
	t.Parallel()
	creator := identity.Register("crt_1", identity.Registration{Email: "ada@example.com", DisplayName: "Ada"}, "",
		time.Unix(0, 0))
	changed, err := creator.EditProfile(identity.ProfileEdit{
		LogoURL: new("https://a.example/l.png"), AccentColor: new("#4F46E5"), SupportEmail: new(" Help@A.example "),
		RefundPolicy: new(" 14 days.\r\nNo questions. "), EmbedOrigins: &[]string{"https://A.example/", "http://localhost"},
	})
	want := identity.Profile{LogoURL: "https://a.example/l.png", AccentColor: "#4f46e5", SupportEmail: "help@a.example",
		RefundPolicy: "14 days.\nNo questions.", EmbedOrigins: "https://a.example http://localhost"}
	if s := creator.State(); err != nil || !changed || s.Profile != want || s.DisplayName != "Ada" || s.Revision != 2 {
		t.Fatalf("got %+v, %v, %v", s, changed, err)
	}
	if changed, err = creator.EditProfile(identity.ProfileEdit{AccentColor: new("#4f46e5")}); err != nil || changed ||
		creator.State().Revision != 2 {
		t.Errorf("the same color again: changed %v, %v, revision %d", changed, err, creator.State().Revision)
	}
	if _, err = creator.EditProfile(identity.ProfileEdit{LogoURL: new(""), DisplayName: new(" Ada Ltd ")}); err != nil ||
		creator.State().Profile.LogoURL != "" || creator.State().DisplayName != "Ada Ltd" {
		t.Errorf("cleared: %+v, %v", creator.State(), err)
	}
	if changed, err = creator.EditProfile(identity.ProfileEdit{PayoutSchedule: new(payout.Daily)}); err != nil ||
		!changed || creator.State().PayoutSchedule != payout.Daily {
		t.Errorf("paid out daily: %+v, %v, %v", creator.State(), changed, err)
	}
	for name, edit := range map[string]identity.ProfileEdit{
		"no mail of payouts": {NotifyPayouts: new(false)}, "no mail of orders": {NotifyOrders: new(false)},
	} {
		creator := identity.Register("crt_1", identity.Registration{Email: "ada@example.com"}, "", time.Unix(0, 0))
		changed, err := creator.EditProfile(edit)
		want := identity.Notifications{Orders: edit.NotifyOrders == nil, Payouts: edit.NotifyPayouts == nil}
		if got := creator.State().Notifications; err != nil || !changed || got != want {
			t.Errorf("%s: %+v, want %+v, %v", name, got, want, err)
		}
	}
}
