package ui

import "testing"

func TestDigestIsOfWhatAFormSends(t *testing.T) {
	t.Parallel()
	rows := RowList{Name: "prices", Typed: []string{"amount"}}
	form := func(price, currency string) Form {
		return Form{Fields: []Field{
			{Name: "name", Label: "Name", Value: "Studio"},
			{Name: "meter", Type: "select", Options: Choices("calls", "", "No meter", "calls", "Calls")},
			{Name: "isDefault", Type: "checkbox", Checked: true},
			{Name: "monday", Type: "day", Day: &Day{Input: "monday", Open: true, Ranges: []DayRange{
				{Choices("09:00", "09:00", "9 AM"), Choices("17:00", "17:00", "5 PM")},
			}}},
			rows.Field("Prices", "Add a price", 1, func(i int) FieldRow {
				amount := Field{Name: "amount"}
				if i == 0 {
					amount.Value = price
				}
				return FieldRow{Fields: []Field{amount, {Name: "currency", Value: currency}}}
			}),
		}}
	}
	same := func(f Form) bool { return f.digest() == form("29.00", "eur").digest() }
	for name, c := range map[string]struct {
		change func(f *Form)
		want   bool
	}{
		"nothing":        {func(*Form) {}, true},
		"a label":        {func(f *Form) { f.Fields[0].Label, f.Fields[0].Hint = "Nom", "Court" }, true},
		"another option": {func(f *Form) { f.Fields[1].Options = append(f.Fields[1].Options, Option{Value: "bytes"}) }, true},
		"a value":        {func(f *Form) { f.Fields[0].Value = "Other" }, false},
		"a line end":     {func(f *Form) { f.Fields[0].Value = "Studio\r\n" }, true},
		"a choice":       {func(f *Form) { selectOnly(f.Fields[1].Options, "") }, false},
		"a box":          {func(f *Form) { f.Fields[2].Checked = false }, false},
		"an open day":    {func(f *Form) { f.Fields[3].Day.Open = false }, false},
		"an hour":        {func(f *Form) { selectOnly(f.Fields[3].Day.Ranges[0].To, "16:00") }, true},
		"an entry":       {func(f *Form) { *f = form("30.00", "eur") }, false},
		"its currency":   {func(f *Form) { *f = form("29.00", "usd") }, false},
		"a password":     {func(f *Form) { f.Fields = append(f.Fields, Field{Type: "password", Name: "p", Value: "x"}) }, true},
	} {
		f := form("29.00", "eur")
		c.change(&f)
		if got := same(f); got != c.want {
			t.Errorf("%s: the digest is the same: %v, want %v", name, got, c.want)
		}
	}
	none := rows.Field("Prices", "Add a price", 0, func(int) FieldRow {
		return FieldRow{Fields: []Field{{Name: "amount"}, {Name: "currency", Value: "eur"}}}
	})
	if got := (Form{Fields: []Field{none}}).digest(); got != (Form{}).digest() {
		t.Errorf("the digest of empty rows is %s, want that of no field", got)
	}
}
