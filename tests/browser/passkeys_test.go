package browser

import (
	"encoding/base32"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"

	"sundry/core/identity"
	"sundry/tests/harness"
	"sundry/tests/testdb"
	"sundry/tests/testenv"
)

// giveAuthenticator plugs a phone with a screen lock into the tab.
func (b *tab) giveAuthenticator() {
	b.t.Helper()
	_, err := chromedp.Call(b.ctx, webauthn.Enable, webauthn.EnableParams{})
	if err == nil {
		_, err = chromedp.Call(b.ctx, webauthn.AddVirtualAuthenticator, webauthn.AddVirtualAuthenticatorParams{
			Options: &webauthn.VirtualAuthenticatorOptions{
				Protocol: webauthn.AuthenticatorProtocolCtap2, Transport: webauthn.AuthenticatorTransportInternal,
				HasResidentKey: true, HasUserVerification: true, IsUserVerified: true, AutomaticPresenceSimulation: true,
			},
		})
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

// Passkeys need a host with a name, so this test has a program of its own at localhost.
func TestPasskeySignsInAloneAndAsSecondStep(t *testing.T) {
	t.Parallel()
	testenv.Need(t, testenv.Chromium)
	app := harness.New(t, testdb.SQLite, map[string]string{"BASE_URL": "http://localhost:0"})
	ada := app.NewAccount(t)
	at := strings.Replace(app.URL, "127.0.0.1", "localhost", 1) + "/dashboard"
	b := newTab(t)
	b.giveAuthenticator()
	password := func() {
		b.open(at + "/sign-in")
		b.fill("#sign-in-email", ada.Email)
		b.fill("#sign-in-password", harness.Password)
		b.click("#sign-in .primary")
	}
	password()
	b.sees("Ada's Workshop")
	b.open(at + "/security/steps")
	b.click(`a[href$="/passkey"]`)
	b.accessible("a new passkey")
	b.fill("#passkey-name", "Phone")
	b.click("#passkey .primary")
	b.sees("The passkey is added.")
	b.sees("Recovery codes")
	b.accessible("recovery codes")

	b.click(`form[action$="/sign-out"] button`)
	b.sees("Your shop, your orders, your money.")
	b.accessible("sign-in with a passkey")
	b.click("#sign-in-passkey .primary")
	b.sees("Ada's Workshop")

	b.click(`form[action$="/sign-out"] button`)
	b.sees("Your shop, your orders, your money.")
	password()
	b.sees("Use your passkey, or enter a recovery code.")
	b.accessible("second step")
	b.click("#second-step-passkey .primary")
	b.sees("Ada's Workshop")

	app.Exec(t, "UPDATE web_sessions SET created_at = created_at - 600000, confirmed_at = confirmed_at - 600000")
	b.open(at + "/keys/new")
	b.fill("#key-name", "Backend")
	b.click("#key .primary")
	b.sees("Confirm that it’s you")
	b.accessible("confirmation with a passkey")
	b.click("#again-passkey .primary")
	b.sees("The key is created.")
	ada.Ask(t, harness.Request{Method: http.MethodPost, Path: "/v1/auth/sign-in", Body: harness.JSON{
		"email": ada.Email, "password": harness.Password,
	}}).Refuses(t, http.StatusUnauthorized, "SECOND_STEP_REQUIRED")
}

func TestAuthenticatorAppIsAddedByKeyboard(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	b := s.atDashboard()
	b.open(s.URL + "/dashboard/security/steps")
	b.sees("This deployment has none.") // an address without a name has no passkeys
	b.follow(`form[action$="/steps/app"] button`, "Scan this with the app")
	b.accessible("a new app")
	secret, err := base32.StdEncoding.DecodeString(eval[string](b, `document.getElementById("app-secret").textContent`))
	if err != nil {
		t.Fatal(err)
	}
	b.fill("#app-code", "000000")
	b.click("#app .primary")
	b.sees("The app shows another code now.")
	b.accessible("a wrong code")
	b.fill("#app-code", identity.TOTPCode(secret, time.Now()))
	b.follow("#app .primary", "The app is added.")
	b.sees("10 of 10")
	b.accessible("two-step sign-in")
}
