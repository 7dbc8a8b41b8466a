package jobs

import (
	"fmt"
	"hash/fnv"
)

// Kinds is the table of task kinds.
type Kinds struct{ rows map[string]entry }

type entry struct {
	class  Class
	handle Handler
	keyOf  func(subject, creatorID string) string // "" for no concurrency key
}

// NewKinds returns an empty table.
func NewKinds() *Kinds { return &Kinds{rows: map[string]entry{}} }

// Handle names the one call that a kind makes. Call it during wiring only.
func (k *Kinds) Handle(kind string, class Class, handle Handler) {
	k.add(kind, entry{class, handle, func(string, string) string { return "" }})
}

func (k *Kinds) add(kind string, e entry) {
	if _, taken := k.rows[kind]; taken {
		panic("jobs: kind wired twice: " + kind)
	}
	k.rows[kind] = e
}

// HandleWithKey is Handle for a kind whose tasks share limits with others of the same concurrency key.
func (k *Kinds) HandleWithKey(kind string, class Class, keyOf func(subject string) string, handle Handler) {
	k.add(kind, entry{class, handle, func(subject, _ string) string { return keyOf(subject) }})
}

// accountGroups is the number of groups that accounts fall into. Every claim reads each group that has tasks waiting,
// however far in the future they are due, so their number is bounded; the number of accounts is not.
const accountGroups = 64

// HandleFairly is Handle for a kind of which one account may have thousands due at once: accounts take turns by groups,
// so that such a burst delays the accounts of its own group only.
func (k *Kinds) HandleFairly(kind string, class Class, handle Handler) {
	k.add(kind, entry{class, handle, func(_, creatorID string) string { return AccountGroup(creatorID) }})
}

// AccountGroup returns the concurrency key of an account's group.
func AccountGroup(creatorID string) string {
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(creatorID)) // a hash never fails
	return fmt.Sprintf("accounts/%02d", sum.Sum32()%accountGroups)
}

// ConcurrencyKey returns the concurrency key of a task of an account, "" for none.
func (k *Kinds) ConcurrencyKey(kind, subject, creatorID string) string {
	if e, ok := k.rows[kind]; ok {
		return e.keyOf(subject, creatorID)
	}
	return ""
}

// ClassOf returns the class of a kind; Default for one that this version does not know.
func (k *Kinds) ClassOf(kind string) Class {
	if e, ok := k.rows[kind]; ok {
		return e.class
	}
	return Default
}
