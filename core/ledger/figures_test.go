package ledger_test

import (
	"testing"

	"sundry/core/ledger"
)

func TestFigures_NetIsTheCreatorsShare(t *testing.T) {
	t.Parallel()
	f := ledger.Figures{Sales: 3, Gross: 35700, Refunds: 5000, Disputes: 400, Tax: 4840, Fees: 1785}
	if got := f.Net(); got != 23675 {
		t.Errorf("net of %+v is %d, want 23675", f, got)
	}
}

func TestFigures_PlusAddsEachFigure(t *testing.T) {
	t.Parallel()
	f := ledger.Figures{Sales: 1, Gross: 20, Refunds: 300, Disputes: 4000, Tax: 50000, Fees: 600000}
	other := ledger.Figures{Sales: 6, Gross: 50, Refunds: 400, Disputes: 3000, Tax: 20000, Fees: 100000}
	want := ledger.Figures{Sales: 7, Gross: 70, Refunds: 700, Disputes: 7000, Tax: 70000, Fees: 700000}
	if got := f.Plus(other); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
