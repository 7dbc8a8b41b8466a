package dispute_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"sundry/core/dispute"
	"sundry/core/fault"
)

var now = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

var all = []dispute.Status{dispute.NeedsResponse, dispute.UnderReview, dispute.Won, dispute.Lost}

// may is the drawn state machine: from each status, what the processor may report next.
var may = map[dispute.Status][]dispute.Status{
	dispute.NeedsResponse: {dispute.UnderReview, dispute.Won, dispute.Lost},
	dispute.UnderReview:   {dispute.Won, dispute.Lost},
}

func in(status dispute.Status) *dispute.Dispute {
	d, _ := dispute.Open(dispute.State{ID: "dsp_1", PaymentID: "pay_1"}, now)
	s := d.State()
	s.Status = status
	return dispute.Restore(s)
}

func same(a, b dispute.State) bool {
	return a.Status == b.Status && a.Revision == b.Revision && a.ClosedAt.Equal(b.ClosedAt) && a.Response == b.Response && a.Evidence.Text == b.Evidence.Text
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
				if !changed || closed != to.Closed() || err != nil || after.Status != to || after.Revision != before.Revision+1 || after.ClosedAt.IsZero() == to.Closed() {
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

func TestADisputeTakesOneResponseWhileItNeedsOne(t *testing.T) {
	t.Parallel()
	for _, from := range all {
		for _, accept := range []bool{false, true} {
			d := in(from)
			before := d.State()
			err := d.Respond(dispute.Evidence{Text: "It was delivered."}, accept)
			if from != dispute.NeedsResponse {
				if !fault.Is(err, fault.StateConflict) || !same(before, d.State()) {
					t.Errorf("%s: %v, %+v", from, err, d.State())
				}
				continue
			}
			want := dispute.EvidenceSent
			if accept {
				want = dispute.AcceptanceSent
			}
			if err != nil || d.State().Response != want {
				t.Errorf("accept %v: %v, %+v", accept, err, d.State())
			}
			before = d.State()
			if err := d.Respond(dispute.Evidence{Text: "again"}, accept); !fault.Is(err, fault.StateConflict) || !same(before, d.State()) {
				t.Errorf("a second response: %v", err)
			}
		}
	}
}

func TestEvidenceReportsEveryFault(t *testing.T) {
	t.Parallel()
	many := slices.Repeat([]string{"https://example.com/a"}, 11)
	for name, c := range map[string]struct {
		evidence dispute.Evidence
		fields   string
	}{
		"a good one":             {dispute.Evidence{Text: "It was delivered.", FileURLs: []string{"https://example.com/proof.pdf"}}, ""},
		"nothing":                {dispute.Evidence{}, "text"},
		"too long":               {dispute.Evidence{Text: strings.Repeat("ä", 20_001)}, "text"},
		"too many files":         {dispute.Evidence{Text: "t", FileURLs: many}, "fileUrls"},
		"files of other schemes": {dispute.Evidence{Text: "t", FileURLs: []string{"http://example.com/a", "https://example.com/b", "file:///etc/passwd"}}, "fileUrls[0] fileUrls[2]"},
		"a file with a password": {dispute.Evidence{Text: "t", FileURLs: []string{"https://a:b@example.com/"}}, "fileUrls[0]"},
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
