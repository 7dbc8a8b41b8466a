// Package webhook is how integrators are notified of events: their endpoints, which events each wants, how a message is
// signed, when it is tried again, and when an endpoint is left alone.
package webhook

import (
	"slices"
	"time"

	"sundry/core/fault"
)

// Limits of an endpoint.
const (
	maxEvents = 50
	// MaxEndpoints bounds the endpoints of an account.
	MaxEndpoints = 50
	// DefaultInFlight and maxInFlight bound how many messages are on the way to an endpoint at a time.
	DefaultInFlight = 32
	maxInFlight     = 128
	// maxRate bounds what an endpoint's own limit per second may be.
	maxRate = 1000
	// SecretOverlap is the time for which the previous secret still signs after a rotation.
	SecretOverlap = 24 * time.Hour
	// DisableAfter is the time of uninterrupted failure after which an endpoint is disabled.
	DisableAfter = 5 * 24 * time.Hour
	// breakerThreshold is the number of consecutive failures that opens the circuit.
	breakerThreshold = 5
	// subscriptionGrace is the time after a change of its filters in which an endpoint may still miss an event: a
	// transaction that was writing it did not see the change. It exceeds the store's limit on idle transactions.
	subscriptionGrace = 30 * time.Second
	// ProbeLease is the time that one probe may take before another may be sent.
	ProbeLease = 20 * time.Second
)

// Why an endpoint is disabled.
const (
	DisabledByOwner   = "owner"   // PATCH enabled=false
	DisabledByGone    = "gone"    // it responded with 410
	DisabledByFailing = "failing" // nothing but failures for five days
)

// EndpointState is an endpoint's data, as stores and views see it. Secrets are encrypted by the store's caller.
type EndpointState struct {
	ID        string
	CreatorID string
	URL       string
	Events    []string
	Enabled   bool
	// DisabledReason is one of the DisabledBy… constants; empty while enabled.
	DisabledReason string
	// MaxInFlight bounds the messages on their way at a time, MaxPerSecond the messages sent per second; 0 = no limit.
	MaxInFlight  int
	MaxPerSecond int
	// Secret signs; PreviousSecret signs too until PreviousUntil.
	Secret         []byte
	PreviousSecret []byte
	PreviousUntil  time.Time
	// Failures counts the failed attempts since the last success; FailingSince is the first of them.
	Failures     int
	FailingSince time.Time
	// OpenUntil keeps attempts away while the circuit is open; one probe goes out when it has passed.
	OpenUntil time.Time
	// SubscribedSince is from when on every event that Events takes must have a delivery. Zero when that is not known.
	SubscribedSince time.Time
	CreatedAt       time.Time
	Revision        int64
}

// Endpoint is the aggregate.
type Endpoint struct{ s EndpointState }

// EndpointEdit contains an owner's changes; nil leaves a member as it is.
type EndpointEdit struct {
	URL     *string
	Events  *[]string
	Enabled *bool
	// Stored are the filters that the endpoint has. Events may keep one whose event type this version does not have.
	Stored []string
	// MaxPerSecond 0 is no limit.
	MaxInFlight, MaxPerSecond *int
}

// Check lists everything that is wrong with the edit. The policy is for its URL.
func (e EndpointEdit) Check(isNew bool, policy Policy, f *fault.Violations) {
	switch {
	case e.URL != nil:
		CheckURL("url", *e.URL, policy, f)
	case isNew:
		f.Add("url", fault.DetailRequired, "Specify where events are to be sent.")
	}
	switch {
	case e.Events != nil:
		checkEvents(*e.Events, e.Stored, f)
	case isNew:
		f.Add("events", fault.DetailRequired,
			`List the event types you want, such as "customer.access_changed"; "*" is all of them.`)
	}
	e.checkLimits(f)
}

func (e EndpointEdit) checkLimits(f *fault.Violations) {
	f.Check(e.MaxInFlight == nil || *e.MaxInFlight >= 1 && *e.MaxInFlight <= maxInFlight, "maxInFlight",
		fault.DetailOutOfRange,
		"Expected an integer from 1 to 128.")
	f.Check(e.MaxPerSecond == nil || *e.MaxPerSecond >= 0 && *e.MaxPerSecond <= maxRate, "maxPerSecond",
		fault.DetailOutOfRange,
		"Expected an integer from 1 to 1000, or null for no limit.")
}

// setLimits changes the limits that the owner names.
func (s *EndpointState) setLimits(e EndpointEdit) {
	if e.MaxInFlight != nil {
		s.MaxInFlight = *e.MaxInFlight
	}
	if e.MaxPerSecond != nil {
		s.MaxPerSecond = *e.MaxPerSecond
	}
}

func checkEvents(events, stored []string, f *fault.Violations) {
	f.Check(len(events) > 0, "events", fault.DetailRequired, "List at least one event type.")
	f.Check(len(events) <= maxEvents, "events", fault.DetailTooLong, "At most 50 filters are allowed.")
	for i, filter := range events {
		item := f.Item("events", i)
		item.Check(validFilter(filter) || slices.Contains(stored, filter), "", fault.DetailNotAllowed,
			`The filter names no event type. See GET /v1/event-types; "invoice.*" is a family and "*" is all.`+
				fault.DidYouMean(filter, Filters()...))
		item.Check(!slices.Contains(events[:i], filter), "", fault.DetailDuplicate, "The filter is listed twice.")
	}
}

// NewEndpoint registers an endpoint from a checked edit. secret is encrypted.
func NewEndpoint(id, creatorID string, e EndpointEdit, secret []byte, now time.Time) *Endpoint {
	s := EndpointState{
		ID: id, CreatorID: creatorID, URL: *e.URL, Events: *e.Events, Enabled: true, MaxInFlight: DefaultInFlight,
		Secret:          secret,
		SubscribedSince: now.Add(subscriptionGrace), CreatedAt: now, Revision: 1,
	}
	s.setLimits(e)
	return &Endpoint{s}
}

// RestoreEndpoint rebuilds an endpoint from its stored state.
func RestoreEndpoint(s EndpointState) *Endpoint { return &Endpoint{s} }

// State returns a copy of the data.
func (e *Endpoint) State() EndpointState { return e.s }

// Edit makes the owner's changes, now. Another address begins without the failures of the one before. enabledNow is
// true when the endpoint was disabled and its backlog is due.
func (e *Endpoint) Edit(edit EndpointEdit, now time.Time) (enabledNow bool) {
	if edit.URL != nil && *edit.URL != e.s.URL {
		e.s.URL = *edit.URL
		e.recover()
	}
	if edit.Events != nil {
		e.s.Events, e.s.SubscribedSince = *edit.Events, now.Add(subscriptionGrace)
	}
	e.s.setLimits(edit)
	switch {
	case edit.Enabled == nil:
	case !*edit.Enabled: // also of one that the service has disabled: from now on its owner wants that
		e.s.Enabled, e.s.DisabledReason = false, DisabledByOwner
	case !e.s.Enabled:
		e.s.Enabled, e.s.DisabledReason, enabledNow = true, "", true
		e.recover()
	}
	e.s.Revision++
	return enabledNow
}

// Rotate makes secret (encrypted) the signing one; the one before goes on signing for a day.
func (e *Endpoint) Rotate(secret []byte, now time.Time) {
	e.s.PreviousSecret, e.s.PreviousUntil = e.s.Secret, now.Add(SecretOverlap)
	e.s.Secret = secret
	e.s.Revision++
}

// Admit reports whether an attempt may go out now. When the circuit is open, wait is until when it must be postponed.
// probe is true when this attempt is the one that tries a half-open circuit: the endpoint has changed and must be saved
// first, so that of many workers one wins.
func (e *Endpoint) Admit(now time.Time) (wait time.Time, probe bool) {
	switch {
	case e.s.OpenUntil.IsZero():
		return time.Time{}, false
	case now.Before(e.s.OpenUntil):
		return e.s.OpenUntil, false
	}
	e.s.OpenUntil = now.Add(ProbeLease)
	e.s.Revision++
	return time.Time{}, true
}

// Retry ends the wait of an open circuit, because the owner asks for an attempt now: the next one is the probe. changed
// is false when nothing waits.
func (e *Endpoint) Retry(now time.Time) (changed bool) {
	if !now.Before(e.s.OpenUntil) {
		return false
	}
	e.s.OpenUntil = now
	e.s.Revision++
	return true
}

// Succeeded records a success. changed is false when the endpoint had no failure to clear.
func (e *Endpoint) Succeeded() (changed bool) {
	if e.s.Failures == 0 {
		return false
	}
	e.recover()
	e.s.Revision++
	return true
}

func (e *Endpoint) recover() {
	e.s.Failures, e.s.FailingSince, e.s.OpenUntil = 0, time.Time{}, time.Time{}
}

// Disabled is emitted when an endpoint is disabled by its own behavior.
type Disabled struct {
	EndpointState
	At time.Time
}

// EventName implements event.Event.
func (Disabled) EventName() string { return "webhook.disabled" }

// Failed records a failure that was known at now. gone is true for a response of 410, probe for the attempt that Admit
// called one. Late results of attempts that were under way when the circuit opened do not keep it open longer. disabled
// is not nil when the failure switched the endpoint off.
func (e *Endpoint) Failed(gone, probe bool, now time.Time) (disabled *Disabled) {
	if e.s.FailingSince.IsZero() {
		e.s.FailingSince = now
	}
	if probe || !now.Before(e.s.OpenUntil) {
		e.s.Failures++
		if e.s.Failures >= breakerThreshold {
			e.s.OpenUntil = now.Add(breakerBackoff(e.s.Failures))
		}
	}
	e.s.Revision++
	switch {
	case !e.s.Enabled:
		return nil
	case gone:
		e.s.DisabledReason = DisabledByGone
	case now.Sub(e.s.FailingSince) >= DisableAfter:
		e.s.DisabledReason = DisabledByFailing
	default:
		return nil
	}
	e.s.Enabled = false
	return &Disabled{e.s, now}
}

// breakerBackoffs are the times for which an open circuit admits no traffic: longer with each failed probe.
var breakerBackoffs = []time.Duration{
	5 * time.Second, 10 * time.Second, 20 * time.Second, 40 * time.Second, 80 * time.Second, 160 * time.Second,
	5 * time.Minute,
}

func breakerBackoff(failures int) time.Duration {
	return breakerBackoffs[min(failures-breakerThreshold, len(breakerBackoffs)-1)]
}
