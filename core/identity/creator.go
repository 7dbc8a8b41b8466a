// Package identity has the rules of accounts: creators and their passwords, the API keys of their accounts, and the
// families of refresh tokens that keep them signed in.
package identity

import (
	"strings"
	"time"
	"unicode/utf8"

	"sundry/core/email"
	"sundry/core/fault"
	"sundry/core/payout"
	"sundry/core/text"
)

const (
	minPassword = 10
	maxPassword = 200
	maxName     = 100
)

// Registration contains the input of a person who becomes a creator.
type Registration struct {
	Email, Password, DisplayName string
	// Invitation is the token of an operator's invitation; "" for none.
	Invitation string
}

// SignUps specifies who may make an account.
type SignUps string

// Who may: anyone, nobody, or those whom an operator has invited.
const (
	SignUpsOpen   SignUps = "open"
	SignUpsClosed SignUps = "closed"
	SignUpsInvite SignUps = "invite"
)

// Clean normalizes the e-mail address and the name and lists everything that is wrong with the registration.
func (r Registration) Clean() (Registration, error) {
	var f fault.Violations
	r.Email = checkAddress(&f, r.Email)
	CheckNewPassword(&f, "password", r.Email, r.Password)
	r.DisplayName = checkName(&f, "displayName", r.DisplayName)
	return r, f.Err()
}

// Credentials holds the input of a sign-in.
type Credentials struct {
	Email, Password string
	// Code is a code of an authenticator app or a recovery code; "" for none.
	Code string
}

// CheckCredentials lists what is missing from a sign-in and returns the normalized address. Whether the address and
// the password belong to anybody is not its business: their shape is not validated, so the response reveals nothing.
func CheckCredentials(address, password string) (string, error) {
	var f fault.Violations
	address, _ = email.Parse(address)
	f.Check(address != "", "email", fault.DetailRequired, "An email address is required.")
	f.Check(len(address) <= email.MaxLength, "email", fault.DetailTooLong, "An email address may have at most 254 "+
		"characters.")
	f.Check(password != "", "password", fault.DetailRequired, "A password is required.")
	f.Check(utf8.RuneCountInString(password) <= maxPassword, "password", fault.DetailTooLong,
		"A password may have at most 200 characters.")
	return address, f.Err()
}

// checkAddress normalizes the email address of a new sign-in and lists its faults.
func checkAddress(f *fault.Violations, text string) string {
	address, ok := email.Parse(text)
	switch {
	case address == "":
		f.Add("email", fault.DetailRequired, "An email address is required.")
	case len(address) > email.MaxLength:
		f.Addf("email", fault.DetailTooLong, "An email address may have at most %d characters.", email.MaxLength)
	default:
		f.Check(ok, "email", fault.DetailInvalid, "This is not an email address.")
	}
	return address
}

// checkName trims a name that people read and lists its faults.
func checkName(f *fault.Violations, field, name string) string {
	name = strings.TrimSpace(name)
	text.CheckName(f, field, name, maxName)
	return name
}

// CreatorState is a creator's data, as stores and views see it.
type CreatorState struct {
	ID          string
	Email       string // normalized
	DisplayName string
	// PasswordHash is the hash made by ports.PasswordHasher; the password itself is never stored.
	PasswordHash string
	Profile      Profile
	// PayoutSchedule is the schedule of automatic payouts of the balance.
	PayoutSchedule payout.Schedule
	Notifications  Notifications
	// SuspendedAt is the time (real time) at which an operator suspended the account for SuspensionReason; zero while it
	// is not suspended.
	SuspendedAt      time.Time
	SuspensionReason string
	// EmailUnconfirmed is set until the owner has opened a link that was mailed to the address.
	EmailUnconfirmed bool
	// SecondStepRequired is set where nobody may use the account without a second step of their sign-in.
	SecondStepRequired bool
	CreatedAt          time.Time
	Revision           int64
}

// Creator is a person who sells; the account is theirs.
type Creator struct{ s CreatorState }

// Register makes a creator of a clean registration.
func Register(id string, r Registration, passwordHash string, now time.Time) *Creator {
	return &Creator{CreatorState{
		ID: id, Email: r.Email, DisplayName: r.DisplayName, PasswordHash: passwordHash, PayoutSchedule: payout.Manual,
		Notifications: Notifications{Orders: true, Payouts: true},
		CreatedAt:     now, Revision: 1,
	}}
}

// RestoreCreator rebuilds a creator from the stored state.
func RestoreCreator(s CreatorState) *Creator { return &Creator{s} }

// State returns a copy of the data.
func (c *Creator) State() CreatorState { return c.s }
