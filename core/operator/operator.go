// Package operator holds what those who run a deployment decide about its accounts, and the record of it.
package operator

import (
	"strings"
	"time"
	"unicode/utf8"

	"sundry/core/fault"
	"sundry/core/id"
	"sundry/core/money"
)

// ActionPrefix names a record of what an operator did.
const ActionPrefix id.Prefix = "opa"

// maxReason bounds a reason, in characters.
const maxReason = 500

// Kind names an action of an operator.
type Kind string

// The kinds of actions.
const (
	Suspended   Kind = "account.suspended"
	Resumed     Kind = "account.resumed"
	LimitsSet   Kind = "account.limits_set"
	LimitsReset Kind = "account.limits_reset"
	Invited     Kind = "account.invited"

	SecondStepReset Kind = "account.second_step_reset"
)

// Action is the record of what an operator did. It is never changed or deleted.
type Action struct {
	ID string
	// Operator is the name under which the command ran.
	Operator string
	Kind     Kind
	// CreatorID is the account that it was done to; "" for an invitation, whose note is the address.
	CreatorID string
	// Note is the reason or the new limits.
	Note string
	At   time.Time // real time
}

// CleanReason returns a reason without surrounding blanks. VALIDATION_FAILED for none and for one that is too long.
func CleanReason(reason string) (string, error) {
	reason = strings.TrimSpace(reason)
	var f fault.Violations
	f.Check(reason != "", "reason", fault.DetailRequired, "Give a reason.")
	f.Check(utf8.RuneCountInString(reason) <= maxReason, "reason", fault.DetailTooLong,
		"A reason may have at most 500 characters.")
	return reason, f.Err()
}

// Account is an account as an operator sees it.
type Account struct {
	ID, Email, DisplayName string
	CreatedAt              time.Time
	// SuspendedAt is zero for an account that is not suspended.
	SuspendedAt      time.Time
	SuspensionReason string
	// Listings counts those that are not archived.
	Listings int64
	// Sales lists the sums that buyers have paid, one for each currency.
	Sales []money.Amount
}
