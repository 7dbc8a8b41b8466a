package mailtemplate

import (
	"strings"
	"testing"

	"sundry/core/identity"
)

func TestSecondStep_SaysWhatChanged(t *testing.T) {
	t.Parallel()
	for change, want := range map[identity.SecondStepChange]string{
		identity.AppAdded: "a code of your authenticator app beside", identity.AppRemoved: "no longer sign you in",
		identity.PasskeyAdded: "A new passkey", identity.PasskeyRemoved: "One of your passkeys",
		identity.RecoveryMade: "ten new recovery codes", identity.RecoveryUsed: "7 of your codes are left",
		identity.SecondStepLifted: "The operator of Sundry turned off",
	} {
		l := write(t, KindSecondStep, live(), SecondStep{Change: change, Note: "7"})
		for _, part := range []string{want, "If this wasn’t you", "https://pay.example.com/dashboard/security/steps"} {
			if !strings.Contains(l.Text, part) {
				t.Errorf("%s lacks %q:\n%s", change, part, l.Text)
			}
		}
		if strings.Contains(l.Subject+l.Text, "mail.secondstep") {
			t.Errorf("%s has a text that is missing:\n%s", change, l.Text)
		}
	}
}

func TestSecondStep_OneCodeIsLeft(t *testing.T) {
	t.Parallel()
	l := write(t, KindSecondStep, live(), SecondStep{Change: identity.RecoveryUsed, Note: "1"})
	if want := "One of your codes is left."; !strings.Contains(l.Text, want) {
		t.Errorf("lacks %q:\n%s", want, l.Text)
	}
}
