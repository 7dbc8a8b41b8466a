package dispute_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"sundry/core/dispute"
	"sundry/core/fault"
	"sundry/core/ledger"
	"sundry/core/money"
)

var now = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

var all = []dispute.Status{dispute.NeedsResponse, dispute.UnderReview, dispute.Won, dispute.Lost}

// may is the drawn state machine: from each status, what the processor may report next.
var may = map[dispute.Status][]dispute.Status{
	dispute.NeedsResponse: {dispute.UnderReview, dispute.Won, dispute.Lost},
	dispute.UnderReview:   {dispute.Won, dispute.Lost},
}

func eur(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: "eur"} }

func in(status dispute.Status) *dispute.Dispute {
	d, _ := dispute.Open(dispute.State{ID: "dsp_1", Return: ledger.Return{PaymentID: "pay_1"}}, now)
	s := d.State()
	s.Status = status
	return dispute.Restore(s)
}

func same(a, b dispute.State) bool {
	return a.Status == b.Status && a.Revision == b.Revision && a.ClosedAt.Equal(b.ClosedAt) && a.Response == b.Response &&
		a.Evidence.Text == b.Evidence.Text
}

func TestOnlyWonAndLostAreClosed(t *testing.T) {
	t.Parallel()
	for _, status := range all {
		if closed := status == "won" || status == "lost"; status.Closed() != closed {
			t.Errorf("%s: closed %v", status, !closed)
		}
	}
}

func TestDisputeDeadlineIsAWeekOrTheBanks(t *testing.T) {
	t.Parallel()
	tomorrow := now.AddDate(0, 0, 1)
	for name, c := range map[string]struct{ reported, want time.Time }{
		"the bank set none":     {time.Time{}, now.AddDate(0, 0, 7)},
		"the bank set tomorrow": {tomorrow, tomorrow},
	} {
		d, opened := dispute.Open(dispute.State{ID: "dsp_1", Status: dispute.Lost, RespondBy: c.reported, Revision: 7}, now)
		want := dispute.State{ID: "dsp_1", Status: dispute.NeedsResponse, RespondBy: c.want, CreatedAt: now, Revision: 1}
		if !reflect.DeepEqual(d.State(), want) || !reflect.DeepEqual(opened.State, want) {
			t.Errorf("%s: %+v, announced %+v", name, d.State(), opened)
		}
	}
}

func TestTheEventsOfADispute(t *testing.T) {
	t.Parallel()
	if got := (dispute.Opened{}).EventName() + " " +
		(dispute.Closed{}).EventName(); got != "dispute.opened dispute.closed" {
		t.Error(got)
	}
}

func TestAStatusThatNobodyKnowsIsRefused(t *testing.T) {
	t.Parallel()
	for _, from := range all {
		d := in(from)
		before := d.State()
		if changed, closed, err := d.Apply("warning_needs_response", now); changed || closed || err == nil ||
			!same(before, d.State()) {
			t.Errorf("%s: changed %v, %v", from, changed, err)
		}
	}
}

func TestEveryStatusTakesEveryReportAsDrawn(t *testing.T) {
	t.Parallel()
	for _, from := range all {
		for _, to := range all {
			d := in(from)
			before := d.State()
			changed, closed, err := d.Apply(to, now)
			after := d.State()
			old := from == to || to == dispute.NeedsResponse || to == dispute.UnderReview && from.Closed()
			switch {
			case old:
				if changed || closed || err != nil || !same(before, after) {
					t.Errorf("%s gets %s: changed %v, %v", from, to, changed, err)
				}
			case slices.Contains(may[from], to):
				if !changed || closed != to.Closed() || err != nil || after.Status != to || after.Revision != before.Revision+1 ||
					after.ClosedAt.IsZero() == to.Closed() {
					t.Errorf("%s to %s: %+v, %v", from, to, after, err)
				}
			default:
				if changed || closed || err == nil || !same(before, after) {
					t.Errorf("%s to %s must be refused and change nothing: %+v, %v", from, to, after, err)
				}
			}
		}
	}
}

// refusals say why a dispute of a status takes no response.
var refusals = map[dispute.Status]string{
	dispute.NeedsResponse: "is being responded to and", // it has one, which is on its way
	dispute.UnderReview:   "is under review and",
	dispute.Won:           "is won and",
	dispute.Lost:          "is lost and",
}

func TestADisputeTakesOneResponseWhileItNeedsOne(t *testing.T) {
	t.Parallel()
	for _, from := range all {
		for _, accept := range []bool{false, true} {
			d := in(from)
			before := d.State()
			err := d.Respond(dispute.Evidence{Text: "It was delivered."}, accept)
			if from != dispute.NeedsResponse {
				if !fault.Is(err, fault.StateConflict) || !strings.Contains(err.Error(), refusals[from]) ||
					!same(before, d.State()) {
					t.Errorf("%s: %v, %+v", from, err, d.State())
				}
				continue
			}
			want := dispute.EvidenceSent
			if accept {
				want = dispute.AcceptanceSent
			}
			if err != nil || d.State().Response != want || d.State().Revision != before.Revision+1 {
				t.Errorf("accept %v: %v, %+v", accept, err, d.State())
			}
			before = d.State()
			err = d.Respond(dispute.Evidence{Text: "again"}, accept)
			if !fault.Is(err, fault.StateConflict) || !strings.Contains(err.Error(), refusals[from]) ||
				!same(before, d.State()) {
				t.Errorf("a second response: %v", err)
			}
		}
	}
}

func TestEvidenceReportsEveryFault(t *testing.T) {
	t.Parallel()
	files := func(n int) []string { return slices.Repeat([]string{"https://example.com/a"}, n) }
	address := func(length int) []string {
		const site = "https://example.com/"
		return []string{site + strings.Repeat("a", length-len(site))}
	}
	for name, c := range map[string]struct {
		evidence dispute.Evidence
		fields   string
	}{
		"a good one": {dispute.Evidence{Text: "It was delivered.",
			FileURLs: []string{"https://example.com/proof.pdf"}}, ""},
		"nothing":              {dispute.Evidence{}, "text"},
		"too long":             {dispute.Evidence{Text: strings.Repeat("ä", 20_001)}, "text"},
		"as long as it may be": {dispute.Evidence{Text: strings.Repeat("ä", 20_000)}, ""},
		"as many files":        {dispute.Evidence{Text: "t", FileURLs: files(10)}, ""},
		"too many files":       {dispute.Evidence{Text: "t", FileURLs: files(11)}, "fileUrls"},
		"as long an address":   {dispute.Evidence{Text: "t", FileURLs: address(2048)}, ""},
		"too long an address":  {dispute.Evidence{Text: "t", FileURLs: address(2049)}, "fileUrls[0]"},
		"a file of no host":    {dispute.Evidence{Text: "t", FileURLs: []string{"https:///proof.pdf"}}, "fileUrls[0]"},
		"a file of no address": {dispute.Evidence{Text: "t", FileURLs: []string{"https://example.com:proof/"}},
			"fileUrls[0]"},
		"files of other schemes": {dispute.Evidence{Text: "t", FileURLs: []string{"http://example.com/a",
			"https://example.com/b", "file:///etc/passwd"}}, "fileUrls[0] fileUrls[2]"},
		"as many uploaded files":  {dispute.Evidence{Text: "t", FileIDs: slices.Repeat([]string{"file_1"}, 4)}, ""},
		"too many uploaded files": {dispute.Evidence{Text: "t", FileIDs: slices.Repeat([]string{"file_1"}, 5)}, "fileIds"},
		"a file with a password": {dispute.Evidence{Text: "t", FileURLs: []string{"https://a:b@example.com/"}},
			"fileUrls[0]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var fields []string
			if e, ok := c.evidence.Validate().(*fault.Error); ok { //nolint:errorlint // Validate returns it unwrapped
				for _, d := range e.Details {
					fields = append(fields, d.Field)
				}
			}
			if got := strings.Join(fields, " "); got != c.fields {
				t.Errorf("faults at %q, want %q", got, c.fields)
			}
		})
	}
}

func TestOnlyEvidenceThatWasGivenIsShown(t *testing.T) {
	t.Parallel()
	s := in(dispute.NeedsResponse).State()
	if got := s.View().Evidence; got != nil {
		t.Errorf("none was given: %+v", got)
	}
	for name, given := range map[string][]string{"a text alone": nil,
		"a text and a file": {"https://example.com/proof.pdf"}} {
		s.Evidence = dispute.Evidence{Text: "It was delivered.", FileURLs: given}
		got := s.View().Evidence // the list of files is never null
		if got == nil || got.Text != s.Evidence.Text || got.FileURLs == nil || !slices.Equal(got.FileURLs, given) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestUndoes_OnlyWhenMoneyIsLost(t *testing.T) {
	t.Parallel()
	for _, status := range all {
		for minor, money := range map[int64]bool{0: false, 1: true} {
			s := dispute.State{Status: status, Return: ledger.Return{Share: ledger.Share{Amount: eur(minor)}}}
			if got, want := s.Undoes(), money && status == dispute.Lost; got != want {
				t.Errorf("%s with %d: %v, want %v", status, minor, got, want)
			}
		}
	}
}

// More can be lost than was held: see ledger.Sale.LoseDispute.
func TestADisputeKeepsWhatItLostAndItsCreditNote(t *testing.T) {
	t.Parallel()
	d := in(dispute.Lost)
	before := d.State()
	lost := ledger.Share{Amount: eur(11900), Tax: eur(1900)}
	d.Lose(lost)
	d.Credit("A-C-000001")
	got := d.State()
	if got.Share != lost || got.CreditNoteNumber != "A-C-000001" || !same(before, got) {
		t.Errorf("lost %+v with the credit note %q: %+v", got.Share, got.CreditNoteNumber, got)
	}
}
