// Package dispute is a buyer's bank taking a payment back until it has heard both sides.
package dispute

import (
	"fmt"
	"net/url"
	"slices"
	"time"
	"unicode/utf8"

	"sundry/core/fault"
	"sundry/core/ledger"
)

// Status is the state of a dispute.
type Status string

// The statuses, in Stripe's words. Won and Lost are final.
const (
	NeedsResponse Status = "needs_response"
	UnderReview   Status = "under_review"
	Won           Status = "won"
	Lost          Status = "lost"
)

// Closed reports whether the dispute is decided.
func (s Status) Closed() bool { return s == Won || s == Lost }

// Response is the kind of response that the creator asked for and that is not known to have reached the bank.
type Response string

// The responses.
const (
	NoResponse     Response = ""
	EvidenceSent   Response = "evidence"
	AcceptanceSent Response = "acceptance"
)

// Limits of evidence.
const (
	MaxText     = 20_000 // characters
	MaxFileURLs = 10
	maxURL      = 2_048
)

// ResponseTime is the time that the creator has to respond.
const ResponseTime = 7 * 24 * time.Hour

// Evidence supports the creator's claim that the payment was right.
type Evidence struct {
	Text     string   `json:"text"`
	FileURLs []string `json:"fileUrls"`
	// FileIDs names the files of the dispute that are sent.
	FileIDs []string `json:"fileIds,omitempty"`
	// Collected is the evidence that the program collected and sent with the response; nil before the response.
	Collected *Collected `json:"collected,omitempty"`
}

// Validate reports every fault of the evidence.
func (e Evidence) Validate() error {
	var f fault.Violations
	if f.Check(e.Text != "", "text", fault.DetailRequired, "Describe what was sold and how it was delivered.") {
		f.Check(utf8.RuneCountInString(e.Text) <= MaxText, "text", fault.DetailTooLong,
			"At most 20000 characters are allowed.")
	}
	f.Check(len(e.FileURLs) <= MaxFileURLs, "fileUrls", fault.DetailTooLong, "At most 10 files are allowed.")
	for i, raw := range e.FileURLs {
		u, err := url.Parse(raw)
		ok := err == nil && u.Scheme == "https" && u.Host != "" && u.User == nil && len(raw) <= maxURL
		f.Item("fileUrls", i).Check(ok, "", fault.DetailInvalid, "Give an absolute https address.")
	}
	if len(e.FileIDs) > MaxFiles {
		f.Addf("fileIds", fault.DetailTooLong, "At most %d files are allowed.", MaxFiles)
	}
	return f.Err()
}

// State is a dispute's data, as stores and views see it.
type State struct {
	ID        string // dsp_…
	CreatorID string
	// Return has as its Share the amount held: the claim, less the money that had gone back to the buyer before. Once the
	// dispute is lost it is the amount lost.
	ledger.Return
	// ProcessorID is the processor's own id of the dispute.
	ProcessorID string
	Reason      string // the bank's word, such as fraudulent
	Status      Status
	Response    Response
	Evidence    Evidence
	// Files lists the files that the creator uploaded, oldest first.
	Files []File
	// RespondBy is the time at which the bank decides without a response.
	RespondBy time.Time
	CreatedAt time.Time
	ClosedAt  time.Time // zero while open
	// CreditNoteNumber is the number of the document that takes the sale back; "" unless the dispute is lost.
	CreditNoteNumber string
	Revision         int64
}

// Undoes reports whether the dispute was lost with money, so that a credit note takes that part of the sale back.
func (s State) Undoes() bool { return s.Status == Lost && s.Share.Amount.Minor > 0 }

// Opened is emitted once, when a dispute becomes known.
type Opened struct{ State }

// EventName implements event.Event.
func (Opened) EventName() string { return "dispute.opened" }

// Closed is emitted once, when a dispute is won or lost.
type Closed struct{ State }

// EventName implements event.Event.
func (Closed) EventName() string { return "dispute.closed" }

// Dispute is the aggregate.
type Dispute struct{ s State }

// Open records a dispute that the processor reported.
func Open(s State, now time.Time) (*Dispute, Opened) {
	s.Status, s.CreatedAt, s.Revision = NeedsResponse, now, 1
	if s.RespondBy.IsZero() {
		s.RespondBy = now.Add(ResponseTime)
	}
	return &Dispute{s}, Opened{s}
}

// Restore rebuilds a dispute from its stored state.
func Restore(s State) *Dispute { return &Dispute{s} }

// State returns a copy of the data.
func (d *Dispute) State() State { return d.s }

// Respond records what is about to be sent to the bank: evidence, or with accept that the buyer is right.
// STATE_CONFLICT once a response was given, VALIDATION_FAILED for a file that the dispute does not have.
func (d *Dispute) Respond(e Evidence, accept bool) error {
	if err := d.checkOpen("response"); err != nil {
		return err
	}
	if err := d.s.checkFiles(e.FileIDs); err != nil {
		return err
	}
	d.s.Evidence, d.s.Response = e, EvidenceSent
	if accept {
		d.s.Response = AcceptanceSent
	}
	d.s.Revision++
	return nil
}

// Open reports whether a response can be given.
func (s State) Open() bool { return s.Status == NeedsResponse && s.Response == NoResponse }

// checkOpen refuses what comes after the response. STATE_CONFLICT.
func (d *Dispute) checkOpen(what string) error {
	if d.s.Open() {
		return nil
	}
	return fault.Newf(fault.StateConflict, "The dispute is %s and takes no %s.", d.describe(), what)
}

func (d *Dispute) describe() string {
	switch d.s.Status {
	case NeedsResponse:
		return "being responded to"
	case UnderReview:
		return "under review"
	case Won, Lost:
	}
	return string(d.s.Status)
}

// reachable lists what may follow what.
var reachable = map[Status][]Status{
	NeedsResponse: {UnderReview, Won, Lost},
	UnderReview:   {Won, Lost},
	Won:           {},
	Lost:          {},
}

// Lose records the share that a dispute has lost, which may be more than was held.
func (d *Dispute) Lose(share ledger.Share) { d.s.Share = share }

// Credit gives the credit note of a dispute that was just lost its number.
func (d *Dispute) Credit(number string) { d.s.CreditNoteNumber = number }

// Apply applies a report of the processor. changed is false when the report is known already or older than the state,
// so doubled and reordered reports are harmless. closed is true when this report decided the dispute.
func (d *Dispute) Apply(status Status, now time.Time) (changed, closed bool, err error) {
	if status == d.s.Status || status == NeedsResponse || (status == UnderReview && d.s.Status.Closed()) {
		return false, false, nil
	}
	if !slices.Contains(reachable[d.s.Status], status) {
		return false, false, fmt.Errorf("dispute %s is %s and cannot become %s", d.s.ID, d.s.Status, status)
	}
	d.s.Status, d.s.Response = status, NoResponse
	if status.Closed() {
		d.s.ClosedAt = now
	}
	d.s.Revision++
	return true, status.Closed(), nil
}
