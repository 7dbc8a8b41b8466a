package ui

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"sundry/core/civil"
	"sundry/core/fault"
	"sundry/core/money"
)

// Input reads the values of a form. It lists unreadable values at the member's path, in words for people; the use
// case decides whether a value is allowed.
type Input struct {
	c *fiber.Ctx
	// Faults lists what could not be read.
	Faults fault.Violations
}

// ReadInput returns the input of a request's form.
func ReadInput(c *fiber.Ctx) *Input { return &Input{c: c} }

// Text returns a value without the space around it. Browsers end lines with CR LF whatever the form showed: a text that
// was not edited is the one that is stored.
func (in *Input) Text(name string) string {
	return strings.TrimSpace(strings.ReplaceAll(in.c.FormValue(name), "\r\n", "\n"))
}

// Texts returns every value that was sent under a name, without the space around it.
func (in *Input) Texts(name string) (all []string) {
	for _, value := range in.c.Request().PostArgs().PeekMulti(name) {
		all = append(all, strings.TrimSpace(string(value)))
	}
	return all
}

// Optional returns a text, nil when it is empty.
func (in *Input) Optional(name string) *string {
	if text := in.Text(name); text != "" {
		return &text
	}
	return nil
}

// Checked reports whether a checkbox was checked.
func (in *Input) Checked(name string) bool { return in.c.FormValue(name) != "" }

// Lines returns the lines of a text that are not empty.
func (in *Input) Lines(name string) []string {
	var lines []string
	for line := range strings.SplitSeq(in.Text(name), "\n") {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// Number returns a whole number; nil for an empty field, 0 for what is no number.
func (in *Input) Number(name, path string) *int {
	text := in.Text(name)
	if text == "" {
		return nil
	}
	n, err := strconv.Atoi(text)
	in.Faults.Check(err == nil, path, fault.DetailInvalid, "Expected a whole number.")
	return &n
}

// Amount returns an amount in minor units, typed in whole units; nil for an empty field, 0 for what is no amount.
func (in *Input) Amount(name, path, currency string) *int64 {
	minor, err := in.AmountOf(in.Text(name), path, currency)
	if err != nil {
		_ = in.Faults.Merge(err) // its only error is a violation
		return new(int64)
	}
	return minor
}

// AmountOf is Amount of a text.
func (in *Input) AmountOf(text, path, currency string) (*int64, error) {
	if text == "" {
		return nil, nil
	}
	c, err := money.ParseCurrency(currency)
	if err != nil {
		return new(int64), nil //nolint:nilerr // the currency is refused by the use case
	}
	a, ok := money.ParseTyped(text, c)
	if !ok {
		return nil, fault.Invalid(fault.Detail{Field: path, Code: fault.DetailInvalid, Message: amountHint(c)})
	}
	return &a.Minor, nil
}

// amountHint describes how an amount is typed.
func amountHint(c money.Currency) string {
	if c.Exponent() == 0 {
		return "Expected an amount such as 2900."
	}
	return fmt.Sprintf("Expected an amount such as 29.00, with at most %d decimals.", c.Exponent())
}

// Day returns the first instant of a date in UTC, zero when there is none.
func (in *Input) Day(name, path string) time.Time {
	text := in.Text(name)
	if text == "" {
		return time.Time{}
	}
	at, err := time.Parse(time.DateOnly, text)
	in.Faults.Check(err == nil, path, fault.DetailInvalid, "Expected a date such as 2026-12-31.")
	return at
}

// LastDay returns the first instant after a date in a zone, zero when there is none.
func (in *Input) LastDay(name, path string, zone *time.Location) time.Time {
	day := in.Day(name, path)
	if day.IsZero() {
		return day
	}
	return civil.Instant(zone, (civil.DateIn(time.UTC, day) + 1).At(0))
}

// Err returns everything that could not be read, nil when all could.
func (in *Input) Err() error { return in.Faults.Err() }

// Submit calls save when everything could be read. Otherwise it returns what could not be read together with what check
// finds in the rest, so that a person corrects a form in one round.
func (in *Input) Submit(check, save func() error) error {
	unread := in.Err()
	if unread == nil {
		return save()
	}
	var known, found *fault.Error
	if !errors.As(unread, &known) || !errors.As(check(), &found) {
		return unread
	}
	for _, d := range found.Details {
		if !slices.ContainsFunc(known.Details, func(of fault.Detail) bool { return of.Field == d.Field }) {
			in.Faults.Add(d.Field, d.Code, d.Message)
		}
	}
	return in.Err()
}

// TypedAmount writes an amount for a field; "" for none.
func TypedAmount(minor *int64, currency string) string {
	if minor == nil {
		return ""
	}
	return money.Amount{Minor: *minor, Currency: money.Currency(currency)}.Typed()
}

// Currencies lists the currencies that are offered first; the use case knows which exist.
func Currencies(selected string) []Option {
	common := []string{"eur", "usd", "gbp", "chf", "sek", "nok", "dkk", "pln", "cad", "aud", "jpy"}
	var all []Option
	found := false
	for _, c := range common {
		found = found || c == selected
		all = append(all, Option{Value: c, Label: Data(strings.ToUpper(c)), Selected: c == selected})
	}
	if !found && selected != "" {
		all = append(all, Option{Value: selected, Label: Data(strings.ToUpper(selected)), Selected: true})
	}
	return all
}

// Refill fills a form with the values that were sent, so that nothing has to be typed again, and shows why it was
// refused. It returns false for an error that the sender did not cause.
func (f *Form) Refill(c *fiber.Ctx, err error) bool {
	for i := range f.Fields {
		f.Fields[i].refill(c)
	}
	return f.Refuse(err)
}

func (f *Field) refill(c *fiber.Ctx) {
	switch f.Type {
	case "password", "file", "hidden", "heading", "day":
	case "checkbox":
		f.Checked = c.FormValue(f.Name) != ""
	case "select":
		selectOnly(f.Options, c.FormValue(f.Name))
	case "boxes":
		sent := ReadInput(c).Texts(f.Name)
		selectOnly(f.Options, sent...)
		for _, group := range f.Groups {
			selectOnly(group.Options, sent...)
		}
	case "rows":
		f.List.refill(c)
	default:
		f.Value = c.FormValue(f.Name)
	}
}

func selectOnly(options []Option, values ...string) {
	for i := range options {
		options[i].Selected = slices.Contains(values, options[i].Value)
	}
}
