package fakes

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"sundry/core/payment"
	"sundry/ports"
)

// Processor is a payment processor called by a process that may die around the call.
type Processor struct {
	ports.Processor
	DieBefore   atomic.Bool // the request never leaves
	DieAfter    atomic.Bool // the response never arrives
	Unreachable atomic.Bool // the processor is certainly not reached
	Charged     atomic.Int64
}

var errDied = errors.New("the process died")

// Charge implements ports.Processor.
func (p *Processor) Charge(ctx context.Context, r ports.ChargeRequest) (payment.Outcome, error) {
	p.Charged.Add(1)
	if p.DieBefore.Load() {
		Die()
	}
	if p.Unreachable.Load() {
		return payment.Outcome{}, ports.ErrProcessorUnavailable
	}
	o, err := p.Processor.Charge(ctx, r)
	if p.DieAfter.Load() {
		Die()
	}
	return o, err
}

// Find implements ports.Processor.
func (p *Processor) Find(ctx context.Context, r ports.ChargeRequest) (payment.Outcome, error) {
	if p.Unreachable.Load() {
		return payment.Outcome{}, ports.ErrProcessorUnavailable
	}
	return p.Processor.Find(ctx, r)
}

// Cancel implements ports.Processor.
func (p *Processor) Cancel(ctx context.Context, r ports.ChargeRequest) (payment.Outcome, error) {
	if p.Unreachable.Load() {
		return payment.Outcome{}, ports.ErrProcessorUnavailable
	}
	return p.Processor.Cancel(ctx, r)
}

// Dying runs what the process must not survive.
func Dying(t testing.TB, run func()) {
	t.Helper()
	defer func() {
		if p := recover(); p != errDied { //nolint:errorlint // a panic value, not an error chain
			t.Fatalf("the process should have died, got %v", p)
		}
	}()
	run()
}

// Die ends the process in which it is called; only Dying survives it.
func Die() { panic(errDied) }
