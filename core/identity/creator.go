// Package identity holds the rules of who is who: creators and their passwords, the API keys of their accounts, and
// the families of refresh tokens that keep them signed in.
package identity

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"sundry/core/email"
	"sundry/core/fault"
)

const (
	minPassword = 10
	maxPassword = 200
	maxName     = 100
)

// Registration is what a person gives to become a creator.
type Registration struct{ Email, Password, DisplayName string }

// Clean normalises the e-mail address and the name and lists everything that is wrong with the registration.
func (r Registration) Clean() (Registration, error) {
	var f fault.Faults
	address, ok := email.Parse(r.Email)
	switch {
	case address == "":
		f.Add("email", fault.DetailRequired, "An e-mail address is required.")
	case len(address) > email.MaxLength:
		f.Addf("email", fault.DetailTooLong, "An e-mail address may have at most %d characters.", email.MaxLength)
	default:
		f.Check(ok, "email", fault.DetailInvalid, "This is not an e-mail address.")
	}
	r.Email = address
	r.checkPassword(&f)
	r.DisplayName = checkName(&f, "displayName", r.DisplayName)
	return r, f.Err()
}

func (r Registration) checkPassword(f *fault.Faults) {
	switch n := utf8.RuneCountInString(r.Password); {
	case n == 0:
		f.Add("password", fault.DetailRequired, "A password is required.")
	case n < minPassword:
		f.Addf("password", fault.DetailTooShort, "A password needs at least %d characters.", minPassword)
	case n > maxPassword:
		f.Addf("password", fault.DetailTooLong, "A password may have at most %d characters.", maxPassword)
	case strings.EqualFold(strings.TrimSpace(r.Password), r.Email):
		f.Add("password", fault.DetailNotAllowed, "The password must not be the e-mail address.")
	}
}

// CheckCredentials lists what is missing from a sign-in and returns the normalised address. Whether the address and
// the password belong to anybody is not its business: their shape is not judged, so the answer tells nothing.
func CheckCredentials(address, password string) (string, error) {
	var f fault.Faults
	address, _ = email.Parse(address)
	f.Check(address != "", "email", fault.DetailRequired, "An e-mail address is required.")
	f.Check(len(address) <= email.MaxLength, "email", fault.DetailTooLong, "An e-mail address may have at most 254 characters.")
	f.Check(password != "", "password", fault.DetailRequired, "A password is required.")
	f.Check(utf8.RuneCountInString(password) <= maxPassword, "password", fault.DetailTooLong, "A password may have at most 200 characters.")
	return address, f.Err()
}

// checkName trims a name that people read and lists its faults.
func checkName(f *fault.Faults, field, name string) string {
	name = strings.TrimSpace(name)
	switch n := utf8.RuneCountInString(name); {
	case n == 0:
		f.Add(field, fault.DetailRequired, "A name is required.")
	case n > maxName:
		f.Addf(field, fault.DetailTooLong, "A name may have at most %d characters.", maxName)
	}
	f.Check(!strings.ContainsFunc(name, unicode.IsControl), field, fault.DetailInvalid, "A name may not hold control characters.")
	return name
}

// CreatorState is a creator's data, as stores and views see it.
type CreatorState struct {
	ID          string
	Email       string // normalised
	DisplayName string
	// PasswordHash is what ports.PasswordHasher made; the password itself is kept nowhere.
	PasswordHash string
	CreatedAt    time.Time
	Revision     int64
}

// Creator is a person who sells; the account is theirs.
type Creator struct{ s CreatorState }

// Register makes a creator of a clean registration.
func Register(id string, r Registration, passwordHash string, now time.Time) *Creator {
	return &Creator{CreatorState{
		ID: id, Email: r.Email, DisplayName: r.DisplayName, PasswordHash: passwordHash, CreatedAt: now, Revision: 1,
	}}
}

// RestoreCreator rebuilds a creator from the stored state.
func RestoreCreator(s CreatorState) *Creator { return &Creator{s} }

// State is a copy of the data.
func (c *Creator) State() CreatorState { return c.s }
