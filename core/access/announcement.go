package access

import (
	"slices"
	"time"
)

// announceEvery is the shortest interval between two announcements of one customer's changes.
const announceEvery = 2 * time.Second

// Announcement is the version of a snapshot that integrators were told of, and when, in account time.
type Announcement struct {
	Version int64
	At      time.Time
}

// Announced is emitted when integrators are told that a customer's access has changed: at most every two seconds, with
// all that changed since the last time.
type Announced struct {
	CreatorID          string
	ExternalCustomerID string
	Version            int64
	PreviousVersion    int64    // that of the announcement before; 0 for the first
	Changed            []string // members that differ, sorted
}

// EventName implements event.Event.
func (Announced) EventName() string { return "access.announced" }

// AnnouncedView is the thin data of customer.access_changed: the receiver reads the snapshot.
type AnnouncedView struct {
	ExternalCustomerID string   `json:"externalCustomerId"`
	Version            int64    `json:"version"`
	PreviousVersion    int64    `json:"previousVersion"`
	Changed            []string `json:"changed"`
}

// View returns the event's data as integrators get it.
func (e Announced) View() AnnouncedView {
	return AnnouncedView{e.ExternalCustomerID, e.Version, e.PreviousVersion, e.Changed}
}

// AnnounceAt returns when a change of now may be announced: now, or two seconds after the last announcement.
func (d Document) AnnounceAt(now time.Time) time.Time {
	if next := d.Announced.At.Add(announceEvery); next.After(now) {
		return next
	}
	return now
}

// Announce returns the document as one whose version is announced, with the event that does so. changes are all those
// since the announcement before.
func (d Document) Announce(changes []Changed, now time.Time) (Document, Announced) {
	e := Announced{
		CreatorID: d.CreatorID, ExternalCustomerID: d.ExternalCustomerID, Version: d.Version,
		PreviousVersion: d.Announced.Version, Changed: []string{},
	}
	for _, change := range changes {
		e.Changed = append(e.Changed, change.Changed...)
	}
	slices.Sort(e.Changed)
	e.Changed = slices.Compact(e.Changed)
	d.Announced = Announcement{d.Version, now}
	return d, e
}
