package identity

import (
	"time"

	"sundry/core/id"
)

// AccountEventPrefix names a line of an account's access log.
const AccountEventPrefix id.Prefix = "ace"

// AccountEventKind is the kind of an entry in the access log.
type AccountEventKind string

// What the access log shows.
const (
	SignedUp            AccountEventKind = "signed_up"
	SignedIn            AccountEventKind = "signed_in"
	SignInFailed        AccountEventKind = "sign_in_failed"
	SignedOutEverywhere AccountEventKind = "signed_out_everywhere"
	PasswordChanged     AccountEventKind = "password_changed"
	PasswordReset       AccountEventKind = "password_reset"
	KeyCreated          AccountEventKind = "key_created"
	KeyRevoked          AccountEventKind = "key_revoked"
	CustomerErased      AccountEventKind = "customer_erased"
)

// AccountEventKinds lists every kind.
func AccountEventKinds() []AccountEventKind {
	return []AccountEventKind{SignedUp, SignedIn, SignInFailed, SignedOutEverywhere, PasswordChanged, PasswordReset,
		KeyCreated, KeyRevoked, CustomerErased}
}

// AccountEventRetention is the time for which the access log is kept.
const AccountEventRetention = 180 * 24 * time.Hour

// AccountEvent is one line of an account's access log.
type AccountEvent struct {
	ID        string
	CreatorID string
	Kind      AccountEventKind
	Client
	// Note names the object of the event, such as a key.
	Note string
	At   time.Time // real time
}
