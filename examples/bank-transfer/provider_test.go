package main

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"sundry/core/money"
	"sundry/core/payment"
	"sundry/ports"
	"sundry/tests/contract"
)

// open returns the provider over a folder of its own.
func open(t *testing.T) (ports.Provider, Transfers) {
	t.Helper()
	dir := t.TempDir()
	p, err := Open(ports.ProviderHost{DataDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	return p, Transfers{filepath.Join(dir, folder)}
}

func TestProcessor(t *testing.T) {
	t.Parallel()
	contract.Processor(t, func(t *testing.T) contract.ProcessorFixture {
		t.Helper()
		p, transfers := open(t)
		return contract.ProcessorFixture{
			Processor: p.Processor, CreatorID: "crt_1", Cards: contract.ProcessorCards{Succeeds: method},
			Confirm: func(_ *testing.T, id string) { _ = transfers.Decide(id, true) }, // again, it is refused
			Refunded: func(t *testing.T, _ string) (total int64) {
				t.Helper()
				refunds, err := filepath.Glob(filepath.Join(transfers.dir, "ref_*.json"))
				if err != nil {
					t.Fatal(err)
				}
				for _, file := range refunds {
					var amount money.Amount
					if err := transfers.read(filepath.Base(file), &amount); err != nil {
						t.Fatal(err)
					}
					total += amount.Minor
				}
				return total
			},
		}
	})
}

func TestPayoutRail(t *testing.T) {
	t.Parallel()
	contract.PayoutRail(t, func(t *testing.T) contract.PayoutRailFixture {
		t.Helper()
		p, transfers := open(t)
		return contract.PayoutRailFixture{Rail: p.PayoutRail, Confirm: func(t *testing.T, id string) {
			t.Helper()
			if err := transfers.Decide(id, true); err != nil {
				t.Error(err)
			}
		}}
	})
}

func TestADecisionStays(t *testing.T) {
	t.Parallel()
	p, transfers := open(t)
	request := ports.ChargeRequest{PaymentID: "pay_1", Method: method, Amount: money.Amount{Minor: 1, Currency: "eur"}}
	if err := transfers.Decide("pay_1", true); !errors.Is(err, ports.ErrNotFound) {
		t.Errorf("confirmed what nobody ordered: %v", err)
	}
	if o, err := p.Processor.Charge(t.Context(), request); err != nil || o.Status != payment.Processing {
		t.Errorf("%+v, %v", o, err)
	}
	if err := transfers.Decide("pay_1", false); err != nil {
		t.Error(err)
	}
	if err := transfers.Decide("pay_1", true); err == nil || !strings.Contains(err.Error(), "decided before") {
		t.Errorf("decided twice: %v", err)
	}
	if o, err := p.Processor.Find(t.Context(), request); err != nil || o.Status != payment.Canceled {
		t.Errorf("%+v, %v", o, err)
	}
}
