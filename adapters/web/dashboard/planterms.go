package dashboard

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"sundry/adapters/web/dashboard/ui"
	"sundry/core/plan"
)

var (
	entitlementRows = ui.RowList{Name: "entitlements", Typed: []string{"key", "value"}}
	creditRows      = ui.RowList{Name: "credits", Typed: []string{"key", "amount", "unit"}}
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
	f.Hint = "Without a value it is a plain yes. A number is a limit, “no” is a no, anything else is a text."
	if seats {
		f.Hint = "Without a value it is a plain yes. A number is a limit, which can be one of each seat; “no” is a no, " +
			"anything else is a text. Clear a row to remove it."
	}
	return f
}

// entitlementValue writes a value as readTerms reads it.
func entitlementValue(e plan.Entitlement) string {
	switch value := e.Value().(type) {
	case bool:
		if value {
			return ""
		}
		return "no"
	default:
		return fmt.Sprint(value)
	}
}

// entitlementDraft reads the value of an entitlement: "", "no", "10" or "gold".
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
