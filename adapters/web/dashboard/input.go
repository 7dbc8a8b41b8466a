package dashboard

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"sundry/core/fault"
	"sundry/core/money"
)

// input reads what was typed into a form. What it cannot read it lists at the member's path, in words for people; whether
// a value is allowed is for the use case to decide.
type input struct {
	c *fiber.Ctx
	f fault.Violations
}

func read(c *fiber.Ctx) *input { return &input{c: c} }

func (in *input) text(name string) string { return strings.TrimSpace(in.c.FormValue(name)) }

// given is a text, nil when it is empty.
func (in *input) given(name string) *string {
	if text := in.text(name); text != "" {
		return &text
	}
	return nil
}

func (in *input) checked(name string) bool { return in.c.FormValue(name) != "" }

// lines is a text without empty lines.
func (in *input) lines(name string) []string {
	var lines []string
	for line := range strings.SplitSeq(in.text(name), "\n") {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// number is a whole number, nil when there is none.
func (in *input) number(name, path string) *int {
	text := in.text(name)
	if text == "" {
		return nil
	}
	n, err := strconv.Atoi(text)
	in.f.Check(err == nil, path, fault.DetailInvalid, "Expected a whole number.")
	return &n
}

// amount is a sum in whole units, nil when there is none.
func (in *input) amount(name, path, currency string) *int64 {
	minor, err := in.amountIn(in.text(name), path, currency)
	_ = in.f.Merge(err) // its only error is a violation
	return minor
}

// amountIn is amount of a text.
func (in *input) amountIn(text, path, currency string) (*int64, error) {
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

// day is the first instant of a date in UTC, zero when there is none.
func (in *input) day(name, path string) time.Time {
	text := in.text(name)
	if text == "" {
		return time.Time{}
	}
	at, err := time.Parse(time.DateOnly, text)
	in.f.Check(err == nil, path, fault.DetailInvalid, "Expected a date such as 2026-12-31.")
	return at
}

// err is everything that could not be read.
func (in *input) err() error { return in.f.Err() }

// typed writes an amount for a field; "" for none.
func typed(minor *int64, currency string) string {
	if minor == nil {
		return ""
	}
	return money.Amount{Minor: *minor, Currency: money.Currency(currency)}.Typed()
}

// currencies are those offered first; the use case knows which exist.
func currencies(selected string) []option {
	common := []string{"eur", "usd", "gbp", "chf", "sek", "nok", "dkk", "pln", "cad", "aud", "jpy"}
	var all []option
	found := false
	for _, c := range common {
		found = found || c == selected
		all = append(all, option{c, strings.ToUpper(c), c == selected})
	}
	if !found && selected != "" {
		all = append(all, option{selected, strings.ToUpper(selected), true})
	}
	return all
}

// resent fills a form with what was sent, so that nothing has to be typed again, and shows why it was refused; false for
// an error that is not the sender's.
func (f *form) resent(c *fiber.Ctx, err error) bool {
	for i := range f.Fields {
		at := &f.Fields[i]
		switch at.Type {
		case "password", "file", "hidden", "heading":
		case "checkbox":
			at.Checked = c.FormValue(at.Name) != ""
		case "select":
			for j := range at.Options {
				at.Options[j].Selected = at.Options[j].Value == c.FormValue(at.Name)
			}
		default:
			at.Value = c.FormValue(at.Name)
		}
	}
	return f.refuse(err)
}

// again shows a page with a form that was refused.
func (r *Routes) again(c *fiber.Ctx, v *visit, p page, f form, err error) error {
	if !f.resent(c, err) || r.layout.Config().StatusOf(err) >= fiber.StatusInternalServerError {
		return err
	}
	c.Status(r.layout.Config().StatusOf(err))
	p.Parts = append(p.Parts, formPart(f))
	return r.send(c, v, p)
}
