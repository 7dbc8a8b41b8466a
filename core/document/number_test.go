package document_test

import (
	"testing"

	"sundry/core/document"
)

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
