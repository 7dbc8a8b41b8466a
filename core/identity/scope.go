package identity

import (
	"slices"
	"strings"

	"sundry/core/fault"
)

// Scope is a part of the API that a key may use. Every scope but ScopeAll and ScopeRead names an area, which the key
// may read and change.
type Scope string

// The scopes. ScopeAll stands alone; ScopeRead reads every area and changes none.
const (
	ScopeAll           Scope = "all"
	ScopeRead          Scope = "read"
	ScopeCatalog       Scope = "catalog"
	ScopeCheckout      Scope = "checkout"
	ScopeCustomers     Scope = "customers"
	ScopeAccess        Scope = "access"
	ScopeSubscriptions Scope = "subscriptions"
	ScopeAppointments  Scope = "appointments"
	ScopeUsage         Scope = "usage"
	ScopeInvoices      Scope = "invoices"
	ScopeRefunds       Scope = "refunds"
	ScopePayouts       Scope = "payouts"
	ScopeWebhooks      Scope = "webhooks"
	ScopeSandbox       Scope = "sandbox"
)

// limitedScopes are the scopes of which a limited key has some, in the order in which they are shown.
var limitedScopes = []Scope{
	ScopeRead, ScopeCatalog, ScopeCheckout, ScopeCustomers, ScopeAccess, ScopeSubscriptions, ScopeAppointments, ScopeUsage,
	ScopeInvoices, ScopeRefunds, ScopePayouts, ScopeWebhooks, ScopeSandbox,
}

// LimitedScopes returns every scope but ScopeAll, in the order in which they are shown.
func LimitedScopes() []Scope { return slices.Clone(limitedScopes) }

// Scopes is a set of scopes. The zero value allows everything, as ScopeAll does.
type Scopes struct{ bits uint32 }

// ParseScopes reads the scopes that a request names; none at all are ScopeAll. VALIDATION_FAILED lists every fault
// under scopes.
func ParseScopes(names []string) (Scopes, error) {
	var f fault.Violations
	var set Scopes
	for i, name := range names {
		item := f.Item("scopes", i)
		if !item.OneOf("", name, scopeNames()...) {
			continue
		}
		if Scope(name) == ScopeAll {
			item.Check(len(names) == 1, "", fault.DetailNotAllowed, "all includes every other scope: send it alone.")
			continue
		}
		bit := uint32(1) << slices.Index(limitedScopes, Scope(name))
		item.Check(set.bits&bit == 0, "", fault.DetailDuplicate, "Name each scope once.")
		set.bits |= bit
	}
	f.Check(names == nil || len(names) > 0, "scopes", fault.DetailRequired,
		"Name at least one scope, or leave scopes out for all.")
	return set, f.Err()
}

func scopeNames() []string {
	names := []string{string(ScopeAll)}
	for _, s := range limitedScopes {
		names = append(names, string(s))
	}
	return names
}

// RestoreScopes rebuilds scopes from their stored text.
func RestoreScopes(text string) Scopes {
	var set Scopes
	for name := range strings.SplitSeq(text, ",") {
		if at := slices.Index(limitedScopes, Scope(name)); at >= 0 {
			set.bits |= 1 << at
		}
	}
	if set.bits == 0 && text != "" {
		set.bits = 1 << len(limitedScopes) // of a newer version only: none that is known
	}
	return set
}

// Text returns the scopes as they are stored: separated by commas, "" for everything.
func (s Scopes) Text() string {
	if s.bits == 0 {
		return ""
	}
	var names []string
	for _, scope := range s.List() {
		names = append(names, string(scope))
	}
	return strings.Join(names, ",")
}

// List returns the scopes in the order in which they are shown: ScopeAll alone, or some of the others.
func (s Scopes) List() []Scope {
	if s.bits == 0 {
		return []Scope{ScopeAll}
	}
	list := []Scope{}
	for at, scope := range limitedScopes {
		if s.bits&(1<<at) != 0 {
			list = append(list, scope)
		}
	}
	return list
}

// Allow reports whether one of the given scopes is in the set.
func (s Scopes) Allow(enough ...Scope) bool {
	return s.bits == 0 || slices.ContainsFunc(enough, func(scope Scope) bool {
		at := slices.Index(limitedScopes, scope)
		return at >= 0 && s.bits&(1<<at) != 0
	})
}
