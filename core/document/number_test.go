package document_test

import (
	"strings"
	"testing"

	"sundry/core/document"
)

func TestTextsThatMeanNumbers(t *testing.T) {
	t.Parallel()
	const creatorID = "crt_01h0000000000000000a1b2c3d"
	for text, want := range map[string]string{
		"1b2c3d-r-000001": "1B2C3D-R-000001", " R-1 ": "1B2C3D-R-000001", "1B2C3D-I-42": "1B2C3D-I-000042",
		"c-1000001": "1B2C3D-C-1000001", "7": "1B2C3D-R-000007 1B2C3D-I-000007 1B2C3D-C-000007",
		"": "", "R-": "", "X-1": "", "r-0": "", "-1": "", "9Z9Z9Z-R-000001": "", "grace": "", "99999999999999999999": "",
	} {
		if got := strings.Join(document.Numbers(creatorID, text), " "); got != want {
			t.Errorf("%q means %q, want %q", text, got, want)
		}
	}
}

func TestANumberNamesItsAccountAndSeries(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		creatorID string
		series    document.Series
		n         int64
		want      string
	}{
		"the first receipt":           {"crt_01h0000000000000000a1b2c3d", document.Receipts, 1, "1B2C3D-R-000001"},
		"an invoice":                  {"crt_01h0000000000000000a1b2c3d", document.Invoices, 42, "1B2C3D-I-000042"},
		"a credit note":               {"crt_01h0000000000000000a1b2c3d", document.CreditNotes, 999999, "1B2C3D-C-999999"},
		"the number after a million":  {"crt_01h0000000000000000a1b2c3d", document.Receipts, 1000001, "1B2C3D-R-1000001"},
		"an id shorter than a prefix": {"crt", document.Receipts, 1, "CRT-R-000001"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := document.Number(c.creatorID, c.series, c.n); got != c.want {
				t.Errorf("number %q, want %q", got, c.want)
			}
		})
	}
}
