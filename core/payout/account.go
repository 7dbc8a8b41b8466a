package payout

import (
	"slices"
	"time"

	"sundry/core/country"
	"sundry/core/fault"
)

// AccountStatus is the state of a creator's payout account.
type AccountStatus string

// The statuses of a payout account. The rail decides on each of them, so any may follow any other but AccountNone,
// which is the first.
const (
	// AccountNone: nothing was opened yet.
	AccountNone AccountStatus = "none"
	// AccountPending: the rail waits for details, or looks into those that it has.
	AccountPending AccountStatus = "pending"
	// AccountReady: payouts reach the creator.
	AccountReady AccountStatus = "ready"
	// AccountRestricted: the rail pays nothing out until the creator, or the rail itself, has settled something.
	AccountRestricted AccountStatus = "restricted"
)

// Disconnected is the disabled reason of an account that the rail no longer lets us pay to: another one takes its
// place.
const Disconnected = "disconnected"

// AccountReport is the state of a payout account as the rail reports it now.
type AccountReport struct {
	ID      string // the rail's
	Country string // ISO 3166-1 alpha-2, upper case; "" where the rail does not report it
	Status  AccountStatus
	// RequirementsDue lists the facts that the rail still needs from the creator, by the rail's own names.
	RequirementsDue []string
	// DisabledReason is the rail's word for why nothing is paid out; "" for none.
	DisabledReason string
}

// AccountState is a payout account's data, as stores and views see it. The zero value but for the creator is
// AccountNone.
type AccountState struct {
	AccountReport
	CreatorID string
	CreatedAt time.Time
	UpdatedAt time.Time // when the report last changed
	Revision  int64
}

// CanReceive reports whether a payout may be sent there.
func (s AccountState) CanReceive() bool { return s.Status == AccountReady }

// Account is the aggregate: where a creator's payouts go, as the rail last reported it.
type Account struct{ s AccountState }

// RestoreAccount rebuilds an account from its stored state.
func RestoreAccount(s AccountState) *Account { return &Account{s} }

// State returns a copy of the data.
func (a *Account) State() AccountState { return a.s }

// NewAccount returns the account that the rail opened for a creator.
func NewAccount(creatorID string, report AccountReport, now time.Time) *Account {
	return &Account{AccountState{AccountReport: report.normal(), CreatorID: creatorID, CreatedAt: now, UpdatedAt: now,
		Revision: 1}}
}

// Report records what the rail reports now. changed is false when that is known already, and for a report on another
// account.
func (a *Account) Report(report AccountReport, now time.Time) (changed bool) {
	next := report.normal()
	if next.Country == "" {
		next.Country = a.s.Country // it never changes
	}
	if next.ID != a.s.ID || next.same(a.s.AccountReport) {
		return false
	}
	a.s.AccountReport, a.s.UpdatedAt = next, now
	a.s.Revision++
	return true
}

// Disconnect records that the rail no longer knows the account, or no longer lets us see it.
func (a *Account) Disconnect(now time.Time) (changed bool) {
	return a.Report(AccountReport{ID: a.s.ID, Status: AccountRestricted, DisabledReason: Disconnected}, now)
}

// Replace puts another account in the place of one that is disconnected. changed is false for any other.
func (a *Account) Replace(report AccountReport, now time.Time) (changed bool) {
	if a.s.DisabledReason != Disconnected || report.ID == a.s.ID {
		return false
	}
	a.s.AccountReport, a.s.UpdatedAt = report.normal(), now
	a.s.Revision++
	return true
}

// normal puts what is due in order, so that the same requirements are the same report.
func (r AccountReport) normal() AccountReport {
	due := slices.Clone(r.RequirementsDue)
	slices.Sort(due)
	r.RequirementsDue = slices.Compact(due)
	return r
}

// same compares two reports of one account.
func (r AccountReport) same(other AccountReport) bool {
	return r.Country == other.Country && r.Status == other.Status && r.DisabledReason == other.DisabledReason &&
		slices.Equal(r.RequirementsDue, other.RequirementsDue)
}

// CheckCountry adds a violation for a country that an account can't be opened in; "" is one that was not named.
func CheckCountry(f *fault.Violations, field, code string) {
	f.Check(code == "" || country.Valid(code), field, fault.DetailInvalid, "Expected a country's two capital letters, "+
		"such as DE.")
}
