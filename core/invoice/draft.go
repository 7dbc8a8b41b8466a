package invoice

import (
	"crypto/sha256"
	"encoding/json"
	"time"

	"sundry/core/fault"
	"sundry/core/metadata"
	"sundry/core/money"
	"sundry/core/tax"
	"sundry/core/text"
	"sundry/core/usage"
)

const (
	maxLines       = 250 // what card processors take
	maxDescription = 500
)

// Draft is an invoice as a request writes it.
type Draft struct {
	CustomerID     string      `json:"customerId"`
	Currency       string      `json:"currency"`
	LineItems      []LineDraft `json:"lineItems"`
	PeriodStart    *string     `json:"periodStart"`
	PeriodEnd      *string     `json:"periodEnd"`
	IdempotencyKey string      `json:"idempotencyKey"`
	// TaxBehavior specifies whether the amounts contain their tax (inclusive, which nil means) or it is added (exclusive).
	TaxBehavior *tax.Behavior `json:"taxBehavior,omitempty"`
	// Metadata is the integrator's own.
	Metadata *map[string]string `json:"metadata,omitempty"`
}

// LineDraft is one item of it. A negative amount is a deduction.
type LineDraft struct {
	Description   string `json:"description"`
	AmountInCents *int64 `json:"amountInCents"`
}

// Parse checks the draft and lists every fault, as one VALIDATION_FAILED error. Ids and numbers are still missing.
func (d Draft) Parse() (State, error) {
	var f fault.Violations
	f.Check(d.CustomerID != "", "customerId", fault.DetailRequired, "Expected the id of a customer.")
	currency, err := money.ParseCurrency(d.Currency)
	_ = f.Nest("currency").Merge(err) // its only error is a fault of the request
	usage.CheckKey(&f, "idempotencyKey", d.IdempotencyKey)
	s := State{
		CustomerID: d.CustomerID, Currency: currency, Key: d.IdempotencyKey, Lines: d.lines(&f, currency),
		PeriodStart: parseDate(&f, "periodStart", d.PeriodStart), PeriodEnd: parseDate(&f, "periodEnd", d.PeriodEnd),
	}
	s.TaxDetails.Behavior = tax.Inclusive
	if d.TaxBehavior != nil {
		s.TaxDetails.Behavior = *d.TaxBehavior
		f.Check(d.TaxBehavior.Known(), "taxBehavior", fault.DetailNotAllowed, "Expected inclusive or exclusive.")
	}
	if d.Metadata != nil {
		metadata.Check(*d.Metadata, f.Nest("metadata"))
		s.Metadata = metadata.Pairs{}.Merge(*d.Metadata)
	}
	s.Fingerprint = d.fingerprint()
	return s, f.Err()
}

func (d Draft) lines(f *fault.Violations, currency money.Currency) []Line {
	f.Check(len(d.LineItems) > 0, "lineItems", fault.DetailRequired, "Expected at least one line item.")
	f.Check(len(d.LineItems) <= maxLines, "lineItems", fault.DetailTooLong, "Expected at most 250 line items.")
	lines := make([]Line, len(d.LineItems))
	var total int64
	for i, item := range d.LineItems {
		at := f.Item("lineItems", i)
		text.CheckName(at, "description", item.Description, maxDescription)
		lines[i] = Line{Kind: Pushed, Description: item.Description}
		if !at.Check(item.AmountInCents != nil, "amountInCents", fault.DetailRequired,
			"Expected an integer of minor units.") {
			continue
		}
		amount := *item.AmountInCents
		if at.Check(amount >= -usage.MaxAmount && amount <= usage.MaxAmount, "amountInCents", fault.DetailOutOfRange,
			"Expected at most 99999999999 minor units.") {
			lines[i].AmountMinor = amount
			total += amount
		}
	}
	f.Check(total >= 0 && total <= usage.MaxAmount, "lineItems", fault.DetailOutOfRange, "The amounts must sum to 0 to "+
		"99999999999 minor units.")
	currency.CheckStep(f, "lineItems", total)
	return lines
}

// parseDate accepts a date or an instant, and keeps it as it was written.
func parseDate(f *fault.Violations, field string, text *string) string {
	if text == nil {
		return ""
	}
	_, dateErr := time.Parse(time.DateOnly, *text)
	_, instantErr := time.Parse(time.RFC3339Nano, *text)
	f.Check(dateErr == nil || instantErr == nil, field, fault.DetailInvalid, "Expected a date such as 2026-01-31, or an "+
		"RFC 3339 time.")
	return *text
}

// fingerprint distinguishes bodies of one key: equal JSON values have equal ones.
func (d Draft) fingerprint() []byte {
	d.IdempotencyKey = "" // it may come in the header
	text, err := json.Marshal(d)
	if err != nil {
		panic("invoice: a draft of strings and integers cannot fail to encode: " + err.Error())
	}
	sum := sha256.Sum256(text)
	return sum[:]
}
