package dashboard

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"sundry/adapters/web/dashboard/ui"
	"sundry/core/fault"
	"sundry/core/plan"
	"sundry/core/usage"
)

var (
	entitlementRows = ui.RowList{Name: "entitlements", Typed: []string{"key", "value"}}
	creditRows      = ui.RowList{Name: "credits", Typed: []string{"key", "amount", "unit"}}
	meterRows       = ui.RowList{Name: "meters", Typed: []string{"eventName", "included"}}
	usageCreditRows = ui.RowList{Name: "usageCredits", Typed: []string{"amountInCents", "meter", "expiresInDays"}}
)

// entitlementFields are the rows of what a plan, whose buyers may have seats, or a grant allows.
func (v *visit) entitlementFields(label ui.Words, all []plan.Entitlement, seats bool) ui.Field {
	f := entitlementRows.Field(label, "Add an entitlement", len(all), func(i int) ui.FieldRow {
		var e plan.Entitlement
		var value string
		if i < len(all) {
			e, value = all[i], entitlementValue(all[i])
		}
		row := ui.FieldRow{Title: v.say("Entitlement %d", i+1), Fields: []ui.Field{
			{Name: "key", Label: "Key", Value: e.Key, Mono: true},
			{Name: "value", Label: "Value", Value: value, Also: []string{"type"}},
		}}
		if seats {
			perSeat := ui.Field{Name: "perSeat", Label: "Per seat", Type: "checkbox", Checked: e.PerSeat}
			row.Fields = append(row.Fields, perSeat)
		}
		if i == 0 {
			row.Fields[0].Placeholder, row.Fields[1].Placeholder = "projects", "10"
		}
		return row
	})
	f.Hint = "Without a value it is a plain yes. A number is a limit, “no” is a no, " +
		"anything else, or anything in quotes, is a text."
	if seats {
		f.Hint = "Without a value it is a plain yes. A number is a limit, which can be one of each seat; “no” is a no, " +
			"anything else, or anything in quotes, is a text. Clear a row to remove it."
	}
	return f
}

// entitlementValue writes a value as entitlementDraft reads it. A text that would be read as something else, or that a
// browser would send otherwise, is quoted.
func entitlementValue(e plan.Entitlement) string {
	switch value := e.Value().(type) {
	case bool:
		if value {
			return ""
		}
		return "no"
	case string:
		sent := strings.Join(strings.Fields(value), " ")
		if entitlementDraft(e.Key, sent, false).Value != value {
			return strconv.Quote(value)
		}
		return value
	default:
		return fmt.Sprint(value)
	}
}

// entitlementDraft reads a value: nothing, which is true, no, 10, gold or "10", which is a text.
func entitlementDraft(key, value string, perSeat bool) plan.EntitlementDraft {
	d := plan.EntitlementDraft{Key: key, Type: string(plan.Text), Value: value, PerSeat: perSeat}
	switch strings.ToLower(value) {
	case "", "yes", "true":
		d.Type, d.Value = string(plan.Boolean), true
	case "no", "false":
		d.Type, d.Value = string(plan.Boolean), false
	default:
		if _, err := strconv.ParseInt(value, 10, 64); err == nil {
			d.Type, d.Value = string(plan.Limit), json.Number(value)
		} else if text, err := strconv.Unquote(value); err == nil && value[0] == '"' {
			d.Value = text
		}
	}
	return d
}

// creditFields are the rows of the credits of a plan, which may renew, or of a grant.
func (v *visit) creditFields(label ui.Words, all []plan.Credit, renewing bool) ui.Field {
	f := creditRows.Field(label, "Add credits", len(all), func(i int) ui.FieldRow {
		var c plan.Credit
		var amount string
		if i < len(all) {
			c, amount = all[i], strconv.FormatInt(all[i].Amount, 10)
		}
		row := ui.FieldRow{Title: v.say("Credits %d", i+1), Fields: []ui.Field{
			{Name: "key", Label: "Key", Value: c.Key, Mono: true},
			{Name: "amount", Label: "Quantity", Value: amount},
			{Name: "unit", Label: "Unit", Value: c.Unit},
		}}
		if i == 0 {
			row.Fields[0].Placeholder, row.Fields[1].Placeholder, row.Fields[2].Placeholder = "downloads", "10", "files"
		}
		if renewing {
			row.Fields = append(row.Fields, ui.Field{Name: "renews", Label: "Renews", Type: "checkbox", Checked: c.Renews})
		}
		return row
	})
	if renewing {
		f.Hint = "What a customer can use up. “Renews” gives the quantity again each period. Clear a row to remove it."
	}
	return f
}

// readTerms reads the rows of entitlements and credits.
func readTerms(in *ui.Input) (entitlements []plan.EntitlementDraft, credits []plan.Credit) {
	for _, row := range entitlementRows.Read(in) {
		entitlements = append(entitlements,
			entitlementDraft(in.Text(row+"key"), in.Text(row+"value"), in.Checked(row+"perSeat")))
	}
	for i, row := range creditRows.Read(in) {
		c := plan.Credit{Key: in.Text(row + "key"), Unit: in.Text(row + "unit"), Renews: in.Checked(row + "renews")}
		if amount := in.Number(row+"amount", creditRows.Path(i, "amount")); amount != nil {
			c.Amount = int64(*amount)
		}
		credits = append(credits, c)
	}
	return entitlements, credits
}

// meterField asks for the event name of one of the account's meters, which is typed where there are none. none is the
// option without one.
func meterField(name, selected string, none ui.Words, meters []usage.Meter) ui.Field {
	f := ui.Field{Name: name, Label: "Meter", Value: selected}
	if len(meters) == 0 {
		return f
	}
	f.Type, f.Options = "select", []ui.Option{{Label: none}}
	found := selected == ""
	for _, m := range meters {
		found = found || m.EventName == selected
		f.Options = append(f.Options, ui.Option{
			Value: m.EventName, Label: ui.Data(m.Name), Selected: m.EventName == selected,
		})
	}
	if !found {
		f.Options = append(f.Options, ui.Option{Value: selected, Label: ui.Data(selected), Selected: true})
	}
	return f
}

// meterFields are the rows of the use that a plan includes.
func (v *visit) meterFields(all []plan.Meter, meters []usage.Meter) ui.Field {
	f := meterRows.Field("Included usage", "Add a meter", len(all), func(i int) ui.FieldRow {
		var m plan.Meter
		var included string
		if i < len(all) {
			m, included = all[i], strconv.FormatInt(all[i].Included, 10)
		}
		return ui.FieldRow{Title: v.say("Meter %d", i+1), Fields: []ui.Field{
			meterField("eventName", m.EventName, "No meter", meters),
			{Name: "included", Label: "Quantity", Value: included},
		}}
	})
	f.Hint = "What each period includes of a meter’s use."
	return f
}

// usageCreditFields are the rows of prepaid use.
func (v *visit) usageCreditFields(all []plan.UsageCredit, currency string, meters []usage.Meter) ui.Field {
	f := usageCreditRows.Field("Usage credits", "Add usage credits", len(all), func(i int) ui.FieldRow {
		c, amount := plan.UsageCredit{Currency: currency}, ""
		if i < len(all) {
			c, amount = all[i], ui.TypedAmount(&all[i].AmountInCents, all[i].Currency)
		}
		return ui.FieldRow{Title: v.say("Usage credits %d", i+1), Fields: []ui.Field{
			{Name: "amountInCents", Label: "Amount", Value: amount},
			{Name: "currency", Label: "Currency", Type: "select", Options: ui.Currencies(c.Currency)},
			meterField("meter", c.Meter, "Any meter", meters),
			{Name: "expiresInDays", Label: "Days", Value: zeroless(c.ExpiresInDays)},
		}}
	})
	f.Hint = "Amounts that invoices of usage take first, if you like for one meter only and for some days. " +
		"For plans that are paid once."
	return f
}

// readMeters reads the rows of included use.
func readMeters(in *ui.Input) (all []plan.Meter) {
	for i, row := range meterRows.Read(in) {
		m, path := plan.Meter{EventName: in.Text(row + "eventName")}, meterRows.Path(i, "included")
		included := in.Number(row+"included", path)
		if in.Faults.Check(included != nil, path, fault.DetailRequired, "Expected a whole number.") {
			m.Included = int64(*included)
		}
		all = append(all, m)
	}
	return all
}

// readUsageCredits reads the rows of prepaid use.
func readUsageCredits(in *ui.Input) (all []plan.UsageCredit) {
	for i, row := range usageCreditRows.Read(in) {
		c := plan.UsageCredit{Currency: in.Text(row + "currency"), Meter: in.Text(row + "meter")}
		if amount := in.Amount(row+"amountInCents", usageCreditRows.Path(i, "amountInCents"), c.Currency); amount != nil {
			c.AmountInCents = *amount
		}
		if days := in.Number(row+"expiresInDays", usageCreditRows.Path(i, "expiresInDays")); days != nil {
			c.ExpiresInDays = *days
		}
		all = append(all, c)
	}
	return all
}
