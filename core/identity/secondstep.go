package identity

import (
	"bytes"
	"crypto/subtle"
	"encoding/base32"
	"slices"
	"strings"
	"time"

	"sundry/core/fault"
	"sundry/core/id"
)

const (
	// RecoveryCodes is the number of recovery codes that are made at once.
	RecoveryCodes = 10
	// RecoveryEntropy is the number of random bytes in each.
	RecoveryEntropy = 10
	// newAppLifetime is the time in which a new app has to show its first code.
	newAppLifetime = time.Hour
	// PendingSignInLifetime is the time in which the second step follows the password.
	PendingSignInLifetime = 10 * time.Minute
	// maxPasskeys bounds the passkeys of a user.
	maxPasskeys = 10
)

// PasskeyPrefix names a passkey.
const PasskeyPrefix id.Prefix = "psk"

// Passkey is a key of a user's device or password manager, registered by WebAuthn.
type Passkey struct {
	ID string `json:"id"`
	// Name is the user's own, such as "Phone".
	Name string `json:"name"`
	// CredentialID is the authenticator's name for it.
	CredentialID []byte `json:"credentialId"`
	// Credential is the public key with its counter, as ports.Passkeys writes it.
	Credential []byte    `json:"credential"`
	CreatedAt  time.Time `json:"createdAt"`
	LastUsedAt time.Time `json:"lastUsedAt"` // zero until then
}

// SecondStepState is the data of a user's second step.
type SecondStepState struct {
	UserID    string
	CreatorID string
	// AppSecret is the secret of the authenticator app, encrypted; empty for none.
	AppSecret  []byte
	AppAddedAt time.Time
	// LastStep is the time step of the last code that was accepted: it and those before are used.
	LastStep int64
	// NewAppSecret is the encrypted secret of an app that has not shown a code yet.
	NewAppSecret []byte
	NewAppAt     time.Time
	// Recovery are the MACs of the recovery codes that are unused.
	Recovery       [][]byte
	RecoveryMadeAt time.Time
	Passkeys       []Passkey
	Revision       int64
}

// On reports whether signing in with the password takes a second step.
func (s SecondStepState) On() bool { return len(s.AppSecret) > 0 || len(s.Passkeys) > 0 }

// SecondStep holds a user's means of two-step sign-in: an authenticator app, passkeys, and recovery codes that replace
// them when they are lost.
type SecondStep struct {
	s       SecondStepState
	changed bool
}

// NewSecondStep returns the second step of a user who has none yet.
func NewSecondStep(u User) *SecondStep {
	return &SecondStep{s: SecondStepState{UserID: u.ID(), CreatorID: u.CreatorID}}
}

// RestoreSecondStep rebuilds a second step from the stored state.
func RestoreSecondStep(s SecondStepState) *SecondStep { return &SecondStep{s: s} }

// State returns a copy of the data.
func (s *SecondStep) State() SecondStepState { return s.s }

// IsNew reports whether it has not been stored before.
func (s *SecondStep) IsNew() bool { return s.s.Revision == 1 && s.changed }

// touch raises the revision by one, however much is changed before it is saved.
func (s *SecondStep) touch() {
	if !s.changed {
		s.s.Revision++
	}
	s.changed = true
}

// BeginApp keeps the encrypted secret of a new app until it has shown a code. An app from before stays until then.
func (s *SecondStep) BeginApp(encrypted []byte, now time.Time) {
	s.s.NewAppSecret, s.s.NewAppAt = encrypted, now
	s.touch()
}

// NewApp returns the encrypted secret of the app that is being added; nil for none.
func (s SecondStepState) NewApp(now time.Time) []byte {
	if !now.Before(s.NewAppAt.Add(newAppLifetime)) {
		return nil
	}
	return s.NewAppSecret
}

// ConfirmApp adds the new app once it shows the right code. secret is NewApp, decrypted. VALIDATION_FAILED.
func (s *SecondStep) ConfirmApp(secret []byte, code string, now time.Time) error {
	step, ok := totpStepOf(secret, digits(code), now)
	if !ok {
		return fault.Invalid(fault.Detail{
			Field: "code", Code: fault.DetailInvalid,
			Message: "The app shows another code now. Check that your phone sets its clock by itself.",
		})
	}
	s.s.AppSecret, s.s.AppAddedAt, s.s.LastStep = s.s.NewAppSecret, now, step
	s.s.NewAppSecret, s.s.NewAppAt = nil, time.Time{}
	s.touch()
	return nil
}

// UseCode accepts a code of the app, each once. secret is AppSecret, decrypted.
func (s *SecondStep) UseCode(secret []byte, code string, now time.Time) bool {
	step, ok := totpStepOf(secret, digits(code), now)
	if len(secret) == 0 || !ok || step <= s.s.LastStep {
		return false
	}
	s.s.LastStep = step
	s.touch()
	return true
}

// RemoveApp forgets the app; changed is false when there is none.
func (s *SecondStep) RemoveApp() (changed bool) {
	if len(s.s.AppSecret) == 0 {
		return false
	}
	s.s.AppSecret, s.s.AppAddedAt = nil, time.Time{}
	s.removed()
	return true
}

// removed drops the recovery codes of a second step that is off: they are made with the next one.
func (s *SecondStep) removed() {
	if !s.s.On() {
		s.s.Recovery, s.s.RecoveryMadeAt = nil, time.Time{}
	}
	s.touch()
}

// SetRecovery replaces the recovery codes by those with the given MACs.
func (s *SecondStep) SetRecovery(macs [][]byte, now time.Time) {
	s.s.Recovery, s.s.RecoveryMadeAt = macs, now
	s.touch()
}

// UseRecovery accepts the recovery code with a MAC, once.
func (s *SecondStep) UseRecovery(mac []byte) bool {
	found := -1
	for i, known := range s.s.Recovery {
		if subtle.ConstantTimeCompare(known, mac) == 1 {
			found = i
		}
	}
	if found < 0 {
		return false
	}
	s.s.Recovery = slices.Delete(slices.Clone(s.s.Recovery), found, found+1)
	s.touch()
	return true
}

// AddPasskey adds a passkey under a name. VALIDATION_FAILED, LIMIT_REACHED.
func (s *SecondStep) AddPasskey(p Passkey) error {
	var f fault.Violations
	p.Name = checkName(&f, "name", p.Name)
	if err := f.Err(); err != nil {
		return err
	}
	if len(s.s.Passkeys) == maxPasskeys {
		return fault.Newf(fault.LimitReached, "You can have %d passkeys. Remove one first.", maxPasskeys)
	}
	s.s.Passkeys = append(slices.Clone(s.s.Passkeys), p)
	s.touch()
	return nil
}

// UsePasskey records the use of a passkey, with the credential as it is since; ok is false for one that was removed.
func (s *SecondStep) UsePasskey(used Passkey, now time.Time) (ok bool) {
	i := slices.IndexFunc(s.s.Passkeys, func(p Passkey) bool { return bytes.Equal(p.CredentialID, used.CredentialID) })
	if i < 0 {
		return false
	}
	s.s.Passkeys = slices.Clone(s.s.Passkeys)
	s.s.Passkeys[i].Credential, s.s.Passkeys[i].LastUsedAt = used.Credential, now
	s.touch()
	return true
}

// RemovePasskey forgets a passkey and returns its name; ok is false when there is none with the id.
func (s *SecondStep) RemovePasskey(passkeyID string) (name string, ok bool) {
	i := slices.IndexFunc(s.s.Passkeys, func(p Passkey) bool { return p.ID == passkeyID })
	if i < 0 {
		return "", false
	}
	name = s.s.Passkeys[i].Name
	s.s.Passkeys = slices.Delete(slices.Clone(s.s.Passkeys), i, i+1)
	s.removed()
	return name, true
}

// digits returns a code as it is compared: apps show it with a blank in the middle.
func digits(code string) string {
	return strings.NewReplacer(" ", "", "\u00a0", "", "\t", "").Replace(code)
}

var recoveryText = base32.NewEncoding("abcdefghijkmnpqrstuvwxyz23456789").WithPadding(base32.NoPadding)

// RecoveryCode writes random bytes as a code that can be read from paper: abcd-efgh-ijkm-npqr.
func RecoveryCode(entropy []byte) string {
	text := recoveryText.EncodeToString(entropy)
	return strings.Join([]string{text[:4], text[4:8], text[8:12], text[12:]}, "-")
}

// RecoverySubject returns the text whose MAC is stored of a user's recovery code; "" for what can be none. Case, blanks
// and dashes don't matter.
func RecoverySubject(userID, code string) string {
	code = strings.ToLower(strings.ReplaceAll(digits(code), "-", ""))
	raw, err := recoveryText.DecodeString(code)
	if err != nil || len(raw) != RecoveryEntropy || recoveryText.EncodeToString(raw) != code {
		return ""
	}
	return "recovery-code." + userID + "." + code
}

// PendingSignIn is the right to end a sign-in by the second step: the password was right. It names the password, so
// that any change of the password ends it.
type PendingSignIn struct{ ResetLink }

// NewPendingSignIn returns that of a user whose password was right a moment ago.
func NewPendingSignIn(u User, now time.Time) PendingSignIn {
	return PendingSignIn{ResetLink{
		CreatorID: u.CreatorID, MemberID: u.MemberID, Replaces: PasswordMark(u.PasswordHash),
		ExpiresAt: now.Add(PendingSignInLifetime),
	}}
}

// Subject returns the text that its MAC signs.
func (p PendingSignIn) Subject() string { return "second-step." + p.ResetLink.Subject() }

// SecondStepChange is a change of a user's second step, about which they get a mail.
type SecondStepChange string

// The changes.
const (
	AppAdded         SecondStepChange = "app_added"
	AppRemoved       SecondStepChange = "app_removed"
	PasskeyAdded     SecondStepChange = "passkey_added"
	PasskeyRemoved   SecondStepChange = "passkey_removed"
	RecoveryMade     SecondStepChange = "recovery_made"
	RecoveryUsed     SecondStepChange = "recovery_used"
	SecondStepLifted SecondStepChange = "reset" // by an operator
)

// SecondStepChanged is emitted when the second step of a user has changed.
type SecondStepChanged struct {
	CreatorID, UserID string
	Email, Name       string
	Change            SecondStepChange
	// Note is the name of a passkey, or how many recovery codes are left.
	Note string
	At   time.Time // real time
}

// EventName implements event.Event.
func (SecondStepChanged) EventName() string { return "identity.second_step_changed" }

// CheckSecondStep refuses a sign-in without the second step that the account requires of everybody. FORBIDDEN.
func (s CreatorState) CheckSecondStep(on bool) error {
	if on || !s.SecondStepRequired {
		return nil
	}
	return fault.New(fault.Forbidden, "This account requires two-step sign-in. Sign in to the dashboard to turn it on.")
}

// RequireSecondStep decides whether everybody in the account needs a second step; changed is false when it is so
// already.
func (c *Creator) RequireSecondStep(required bool) (changed bool) {
	if c.s.SecondStepRequired == required {
		return false
	}
	c.s.SecondStepRequired = required
	c.s.Revision++
	return true
}
