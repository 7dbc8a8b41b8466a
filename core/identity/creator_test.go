package identity_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"sundry/core/fault/faulttest"
	"sundry/core/identity"
	"sundry/core/payout"
)

func TestRegistrationListsEveryFault(t *testing.T) {
	t.Parallel()
	good := identity.Registration{Email: "ada@example.com", Password: "ten chars!", DisplayName: "Ada"}
	cases := map[string]struct {
		change func(*identity.Registration)
		want   []string
	}{
		"a good one has none": {func(*identity.Registration) {}, nil},
		"an empty one has three": {func(r *identity.Registration) {
			*r = identity.Registration{}
		}, []string{"email REQUIRED", "password REQUIRED", "displayName REQUIRED"}},
		"everything may be wrong at once": {func(r *identity.Registration) {
			*r = identity.Registration{Email: "x", Password: "short", DisplayName: "a\x00b"}
		}, []string{"email INVALID", "password TOO_SHORT", "displayName INVALID"}},
		"an e-mail address has at most 254 bytes": {func(r *identity.Registration) {
			r.Email = strings.Repeat("a", 250) + "@b.c" + "d"
		}, []string{"email TOO_LONG"}},
		"254 bytes are not too many": {func(r *identity.Registration) { r.Email = longest }, nil},
		"nine characters are too few": {func(r *identity.Registration) {
			r.Password = "nine char"
		}, []string{"password TOO_SHORT"}},
		"ten characters count, not bytes": {func(r *identity.Registration) {
			r.Password = "ééééééééé"
		}, []string{"password TOO_SHORT"}},
		"200 characters are not too many": {func(r *identity.Registration) {
			r.Password = strings.Repeat("é", 200)
		}, nil},
		"201 characters are": {func(r *identity.Registration) {
			r.Password = strings.Repeat("é", 201)
		}, []string{"password TOO_LONG"}},
		"the password is not the address": {func(r *identity.Registration) {
			r.Password = "ada@example.com"
		}, []string{"password NOT_ALLOWED"}},
		"nor the address in capitals": {func(r *identity.Registration) {
			r.Password = " ADA@example.com"
		}, []string{"password NOT_ALLOWED"}},
		"a name of spaces is none": {func(r *identity.Registration) {
			r.DisplayName = " \t "
		}, []string{"displayName REQUIRED"}},
		"a name has at most 100 characters": {func(r *identity.Registration) {
			r.DisplayName = strings.Repeat("é", 101)
		}, []string{"displayName TOO_LONG"}},
		"a name of 100 characters may be of any sort": {func(r *identity.Registration) {
			r.DisplayName = strings.Repeat("名", 100)
		}, nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := good
			c.change(&r)
			_, err := r.Clean()
			if got := faulttest.Lines(t, err); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestWhatIsNewHoldsWhatItIsMadeOf(t *testing.T) {
	t.Parallel()
	by := identity.User{CreatorID: "crt_1", MemberID: "mem_1"}
	from := identity.Client{Address: "192.0.2.1", UserAgent: "Firefox"}
	order := identity.NewKeyRequest{Name: "Shop", Scopes: identity.RestoreScopes("read"), ExpiresAt: noon.Add(day)}
	registered := identity.Registration{Email: "ada@example.com", DisplayName: "Ada"}
	for name, c := range map[string]struct{ got, want any }{
		"a creator": {identity.Register("crt_1", registered, "hash", noon).State(), identity.CreatorState{
			ID: "crt_1", Email: "ada@example.com", DisplayName: "Ada", PasswordHash: "hash", PayoutSchedule: payout.Manual,
			Notifications: identity.Notifications{Orders: true, Payouts: true}, CreatedAt: noon, Revision: 1,
		}},
		"a key": {
			identity.IssueKey("key_1", "crt_1", order, "sk_test_0123456789", []byte("hash"), noon).State(),
			identity.APIKeyState{
				ID: "key_1", CreatorID: "crt_1", Name: "Shop", Hash: []byte("hash"), Prefix: "sk_test_", Last4: "6789",
				Scopes: order.Scopes, CreatedAt: noon, ExpiresAt: order.ExpiresAt, Revision: 1,
			},
		},
		"a sign-in": {identity.BeginWebSession("wse_1", by, from, noon).State(), identity.WebSessionState{
			ID: "wse_1", CreatorID: "crt_1", MemberID: "mem_1", Client: from, CreatedAt: noon, LastSeenAt: noon,
			ExpiresAt: noon.Add(14 * day), Revision: 1,
		}},
		"a second step": {identity.NewSecondStep(by).State(), identity.SecondStepState{UserID: "mem_1", CreatorID: "crt_1"}},
	} {
		if !reflect.DeepEqual(c.got, c.want) {
			t.Errorf("%s: %+v, want %+v", name, c.got, c.want)
		}
	}
	if s := identity.BeginFamily("rtf_1", by, noon).State(); !s.RotatedAt.Equal(noon) {
		t.Errorf("the token of a new family was exchanged at %v", s.RotatedAt)
	}
}

func TestWhatIsStoredIsRestored(t *testing.T) {
	t.Parallel()
	member := identity.MemberState{ID: "mem_1", Revision: 3}
	if got := identity.RestoreMember(member).State(); got != member {
		t.Errorf("the member is %+v, want %+v", got, member)
	}
	family := identity.RefreshFamilyState{ID: "rtf_1", Generation: 7}
	if got := identity.RestoreFamily(family).State(); got != family {
		t.Errorf("the family is %+v, want %+v", got, family)
	}
	session := identity.WebSessionState{ID: "wse_1", Revision: 3}
	if got := identity.RestoreWebSession(session).State(); got != session {
		t.Errorf("the sign-in is %+v, want %+v", got, session)
	}
}

func TestLinksAndCodesLastAsLongAsTheirMailsSay(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ got, want any }{
		"a link that confirms an address": {identity.ConfirmationLifetime, 7 * day},
		"an invitation":                   {identity.InvitationLifetime, 14 * day},
		"a passkey's form":                {identity.CeremonyLifetime, 10 * time.Minute},
		"recovery codes":                  {identity.RecoveryCodes, 10},
		"an app's secret, in bytes":       {identity.TOTPEntropy, 20},
		"saved filters of a list":         {identity.MaxSavedFilters, 20},
	} {
		if c.got != c.want {
			t.Errorf("%s: %v, want %v", name, c.got, c.want)
		}
	}
}

func TestRegistrationIsNormalisedButThePasswordIsNot(t *testing.T) {
	t.Parallel()
	r, err := identity.Registration{Email: " Ada@Example.com ", Password: "  spaces count  ",
		DisplayName: "  Ada "}.Clean()
	want := identity.Registration{Email: "ada@example.com", Password: "  spaces count  ", DisplayName: "Ada"}
	if err != nil || r != want {
		t.Errorf("got %+v, %v; want %+v", r, err, want)
	}
}

// longest is an address of 254 bytes.
var longest = strings.Repeat("a", 64) + "@" + strings.Repeat(strings.Repeat("b", 62)+".", 2) + strings.Repeat("c", 59) +
	".com"

func TestASignInIsByTheNormalizedAddress(t *testing.T) {
	t.Parallel()
	if got, err := identity.CheckCredentials(" ADA@Example.com ", "x"); err != nil || got != "ada@example.com" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestANewPasswordIsAnotherRevision(t *testing.T) {
	t.Parallel()
	creator := identity.Register("crt_1", identity.Registration{Email: "ada@example.com", DisplayName: "Ada"}, "old", noon)
	creator.SetPassword("new")
	if s := creator.State(); s.PasswordHash != "new" || s.Revision != 2 {
		t.Errorf("%+v", s)
	}
}

func TestGuessingIsSlowedDown(t *testing.T) {
	t.Parallel()
	want := identity.Limits{
		SignInPerAccount: identity.Limit{Attempts: 10, Window: time.Minute}, SignInPerAddress: identity.Limit{Attempts: 30,
			Window: time.Minute},
		SignUpPerAddress: identity.Limit{Attempts: 600, Window: time.Minute}, ResetPerAccount: identity.Limit{Attempts: 3,
			Window: time.Hour},
		ResetPerAddress:       identity.Limit{Attempts: 20, Window: time.Hour},
		InvitationsPerAccount: identity.Limit{Attempts: 60, Window: time.Hour},
		SecondStepPerAccount:  identity.Limit{Attempts: 10, Window: time.Hour},
	}
	if got := identity.LimitsFor(false); got != want {
		t.Errorf("in the sandbox %+v", got)
	}
	want.SignUpPerAddress = identity.Limit{Attempts: 20, Window: time.Hour}
	if got := identity.LimitsFor(true); got != want {
		t.Errorf("live %+v", got)
	}
}

func TestTheAccessLogGoesBackHalfAYear(t *testing.T) {
	t.Parallel()
	if identity.AccountEventRetention != 180*day {
		t.Errorf("%v", identity.AccountEventRetention)
	}
}

func TestEventsHaveTheirNames(t *testing.T) {
	t.Parallel()
	for want, e := range map[string]interface{ EventName() string }{
		"identity.password_reset_asked":     identity.PasswordResetAsked{},
		"identity.email_confirmation_asked": identity.EmailConfirmationAsked{},
		"identity.payout_schedule_changed":  identity.PayoutScheduleChanged{},
	} {
		if e.EventName() != want {
			t.Errorf("%s, want %s", e.EventName(), want)
		}
	}
}

func TestSignInChecksPresenceOnly(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		address, password string
		want              []string
	}{
		"both of the largest": {longest, strings.Repeat("é", 200), nil},
		"both missing":        {"", "", []string{"email REQUIRED", "password REQUIRED"}},
		"both huge": {strings.Repeat("a", 255), strings.Repeat("a", 201),
			[]string{"email TOO_LONG", "password TOO_LONG"}},
		"a shape that no account has":      {"nobody", "x", nil},
		"an address in another spelling":   {" ADA@example.com", "x", nil},
		"a password shorter than any real": {"ada@example.com", "x", nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := identity.CheckCredentials(c.address, c.password)
			if got := faulttest.Lines(t, err); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
