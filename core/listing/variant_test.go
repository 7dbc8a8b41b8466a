package listing

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"sundry/core/fault"
	"sundry/core/fault/faulttest"
)

// three is a listing of three variants, of which the second is the default.
func three(t *testing.T) *Listing {
	t.Helper()
	s := create(t, Appointment, nil).State()
	s.Variants = nil
	for _, id := range []string{"var_1", "var_2", "var_3"} {
		s.Variants = append(s.Variants, Variant{ID: id, Key: strings.ReplaceAll(id, "_", "-"), Name: id, DurationMinutes: 30,
			SessionCount: 1, IsDefault: id == "var_2"})
	}
	return Restore(s)
}

func defaults(s State) (ids []string) {
	for _, v := range s.Variants {
		if v.IsDefault {
			ids = append(ids, v.ID)
		}
	}
	return ids
}

func TestOneVariantIsAlwaysTheDefault(t *testing.T) {
	t.Parallel()
	add := func(e VariantEdit) func(*Listing) error {
		e.DurationMinutes = new(60)
		return func(l *Listing) error { _, err := l.AddVariant("var_4", e, newPrice, later); return err }
	}
	edit := func(id string, e VariantEdit) func(*Listing) error {
		return func(l *Listing) error { _, err := l.EditVariant(id, e, newPrice, later); return err }
	}
	for name, c := range map[string]struct {
		do    func(*Listing) error
		want  string
		fault string
	}{
		"a new one is not":              {add(VariantEdit{}), "var_2", ""},
		"unless it is to be":            {add(VariantEdit{IsDefault: new(true)}), "var_4", ""},
		"one before it":                 {edit("var_1", VariantEdit{IsDefault: new(true)}), "var_1", ""},
		"one after it":                  {edit("var_3", VariantEdit{IsDefault: new(true)}), "var_3", ""},
		"itself":                        {edit("var_2", VariantEdit{IsDefault: new(true)}), "var_2", ""},
		"another one is not, as before": {edit("var_1", VariantEdit{IsDefault: new(false)}), "var_2", ""},
		"another one changes its name":  {edit("var_1", VariantEdit{Name: new("Talk")}), "var_2", ""},
		"it cannot just stop to be": {edit("var_2", VariantEdit{IsDefault: new(false)}), "var_2",
			"isDefault NOT_ALLOWED"},
		"a refusal of it changes nothing": {edit("var_2", VariantEdit{IsDefault: new(false), Name: new("Talk")}), "var_2",
			"isDefault NOT_ALLOWED"},
		"it is changed and stays": {edit("var_2", VariantEdit{Name: new("Talk"), DurationMinutes: new(45)}), "var_2",
			""},
		"a fault of another one is listed": {edit("var_1", VariantEdit{DurationMinutes: new(1)}), "var_2",
			"durationMinutes OUT_OF_RANGE"},
	} {
		l := three(t)
		before := l.State()
		err := c.do(l)
		if got := strings.Join(faulttest.Lines(t, err), " "); got != c.fault {
			t.Errorf("%s: %q, want %q", name, got, c.fault)
		}
		if got := defaults(l.State()); !slices.Equal(got, []string{c.want}) {
			t.Errorf("%s: the defaults are %q", name, got)
		}
		if err != nil && !reflect.DeepEqual(l.State(), before) {
			t.Errorf("%s: a refusal changed it to %+v", name, l.State())
		}
	}
	s := three(t).State()
	s.Variants[1].IsDefault = false
	l := Restore(s)
	if _, err := l.EditVariant("var_3", VariantEdit{Name: new("Talk")}, newPrice, later); err != nil ||
		!slices.Equal(defaults(l.State()), []string{"var_1"}) {
		t.Errorf("a listing without a default: %q, %v", defaults(l.State()), err)
	}
}

func TestAVariantIsRemovedUnlessItIsTheDefault(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]struct {
		code fault.Code
		left []string
	}{
		"var_1":   {"", []string{"var_2", "var_3"}},
		"var_2":   {fault.StateConflict, []string{"var_1", "var_2", "var_3"}},
		"var_3":   {"", []string{"var_1", "var_2"}},
		"unknown": {fault.NotFoundCode, []string{"var_1", "var_2", "var_3"}},
	} {
		l := three(t)
		removed, err := l.RemoveVariant(id, later)
		var left []string
		for _, v := range l.State().Variants {
			left = append(left, v.ID)
		}
		if fault.CodeOf(err) != want.code || !slices.Equal(left, want.left) || l.Changed() != (err == nil) || err == nil &&
			removed.ID != id {
			t.Errorf("%s: %+v, %v leaves %q", id, removed, err, left)
		}
	}
}

func TestThePriceIDFollowsTheDefaultVariant(t *testing.T) {
	t.Parallel()
	price := func(minor int64, isDefault bool) VariantEdit {
		return VariantEdit{Price: &minor, PriceGiven: true, DurationMinutes: new(60), IsDefault: new(isDefault)}
	}
	for name, c := range map[string]struct {
		edited  string // "" adds a variant
		edit    VariantEdit
		changes bool
	}{
		"the default one costs more":         {"var_2", price(1300, true), true},
		"it costs what the listing does":     {"var_2", price(1200, true), false},
		"another one costs more":             {"var_1", price(1300, false), false},
		"another one is the default":         {"var_1", VariantEdit{IsDefault: new(true)}, false},
		"a dearer one is the default":        {"var_1", price(1300, true), true},
		"a new one costs more":               {"", price(1300, false), false},
		"a new, dearer one is the default":   {"", price(1300, true), true},
		"the default one has another length": {"var_2", VariantEdit{DurationMinutes: new(30)}, false},
	} {
		l := three(t)
		before, edit := l.State().PriceID, l.EditVariant
		if c.edited == "" {
			c.edited, edit = "var_4", l.AddVariant
		}
		_, err := edit(c.edited, c.edit, newPrice, later)
		if got := l.State().PriceID; err != nil || (got != before) != c.changes || c.changes && got != "pri_new" {
			t.Errorf("%s: the price is %q, before %q, %v", name, got, before, err)
		}
	}
}

func TestOnlyAppointmentListingsOnSaleHaveVariants(t *testing.T) {
	t.Parallel()
	book := three(t).State()
	book.Type = Digital
	archived := three(t).State()
	archived.Status = Archived
	for name, s := range map[string]State{"a book": book, "archived": archived} {
		for what, do := range map[string]func(*Listing) (Variant, error){
			"add": func(l *Listing) (Variant, error) {
				return l.AddVariant("var_4", VariantEdit{DurationMinutes: new(60)}, newPrice, later)
			},
			"edit": func(l *Listing) (Variant, error) {
				return l.EditVariant("var_1", VariantEdit{Name: new("Talk")}, newPrice, later)
			},
			"remove": func(l *Listing) (Variant, error) { return l.RemoveVariant("var_1", later) },
		} {
			l := Restore(s)
			if v, err := do(l); !fault.Is(err, fault.StateConflict) || v != (Variant{}) || !reflect.DeepEqual(l.State(), s) {
				t.Errorf("%s %s: %v", what, name, err)
			}
		}
	}
	if _, err := three(t).EditVariant("unknown", VariantEdit{}, newPrice, later); !fault.Is(err, fault.NotFoundCode) {
		t.Errorf("an unknown one: %v", err)
	}
}

func TestAVariantIsFoundByItsIDAndTheDefaultWithout(t *testing.T) {
	t.Parallel()
	s := three(t).State()
	for id, want := range map[string]string{"var_1": "var_1", "var_3": "var_3", "": "var_2", "unknown": ""} {
		v, err := s.Variant(id)
		if v.ID != want || fault.Is(err, fault.NotFoundCode) != (want == "") {
			t.Errorf("%q: %+v, %v", id, v, err)
		}
	}
}

func TestSessionsTakePlaceWhereTheListingSays(t *testing.T) {
	t.Parallel()
	for method, want := range map[string][]string{"virtual": {"virtual"}, "in_person": {"in_person"},
		"hybrid": {"virtual", "in_person"}} {
		if got := create(t, Appointment, map[string]any{DeliveryMethod: method}).State().DeliveryModes(); !slices.Equal(got,
			want) {
			t.Errorf("%s: %q", method, got)
		}
		if got := (State{Type: Appointment}).WithDeliveryModes(want).DeliveryModes(); !slices.Equal(got, want) {
			t.Errorf("with %q: %q", want, got)
		}
	}
	if got := (State{Type: Appointment}).WithDeliveryModes(nil).DeliveryModes(); !slices.Equal(got, []string{"virtual"}) {
		t.Errorf("with none: %q", got)
	}
}

func TestTheOpeningOfADescriptionEndsBetweenWords(t *testing.T) {
	t.Parallel()
	word := strings.Repeat("é", 600)
	for name, c := range map[string]struct{ description, want string }{
		"none":            {"", ""},
		"600 characters":  {word, word},
		"601 in one word": {word + "x", word + "…"},
		"a word that does not fit": {strings.Repeat("x", 590) + " " + strings.Repeat("y", 10), strings.Repeat("x", 590) +
			"…"},
		"a line that does not fit": {strings.Repeat("x", 590) + "\n" + strings.Repeat("y", 10), strings.Repeat("x", 590) +
			"…"},
		"a short word and a long one": {"A " + word, "A…"},
		"a space and a long word":     {" " + word, " " + word[:2*599] + "…"},
	} {
		if got := opening(c.description); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestAVariantWithoutANameIsCalledWhatItIs(t *testing.T) {
	t.Parallel()
	for sessions, want := range map[int]string{1: "45 minutes", 2: "2 × 45 minutes"} {
		v, err := create(t, Appointment, nil).AddVariant("var_2",
			VariantEdit{DurationMinutes: new(45), SessionCount: &sessions}, newPrice, later)
		if err != nil || v.Name != want {
			t.Errorf("%d sessions: %q, %v", sessions, v.Name, err)
		}
	}
}

func TestANameMadeOfTheLengthFollowsIt(t *testing.T) {
	t.Parallel()
	l, err := Create(proposal(Appointment, nil), Origin{VariantID: "var_1"}, later)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		edit VariantEdit
		want string
	}{
		{VariantEdit{DurationMinutes: new(30)}, "30 minutes"},
		{VariantEdit{DurationMinutes: new(45), SessionCount: new(3)}, "3 × 45 minutes"},
		// as a form sends it
		{VariantEdit{Name: new("3 × 45 minutes"), DurationMinutes: new(20), SessionCount: new(1)}, "20 minutes"},
		{VariantEdit{Name: new("Talk"), DurationMinutes: new(25)}, "Talk"},
		{VariantEdit{DurationMinutes: new(50)}, "Talk"},
	} {
		v, err := l.EditVariant("var_1", c.edit, func() string { return "pri_2" }, later)
		if err != nil || v.Name != c.want || v.Key != "60-minutes" {
			t.Errorf("%+v: %q with the key %q, %v; want %q", c.edit, v.Name, v.Key, err, c.want)
		}
	}
}

func TestANewAppointmentHasTheLengthThatIsAskedFor(t *testing.T) {
	t.Parallel()
	for want, asked := range map[int]*int{60: nil, 5: new(5), 45: new(45), 1440: new(1440)} {
		p := proposal(Appointment, nil)
		p.DurationMinutes = asked
		l, err := Create(p, Origin{VariantID: "var_1"}, later)
		if err != nil {
			t.Fatal(err)
		}
		if v := l.State().Variants[0]; v.DurationMinutes != want || v.Name != defaultName(want, 1) || !v.IsDefault {
			t.Errorf("asked for %d minutes: %+v", want, v)
		}
	}
	for _, asked := range []int{0, 4, 1441} {
		p := proposal(Appointment, nil)
		p.DurationMinutes = &asked
		if err := p.Check(); !fault.Is(err, fault.ValidationFailed) {
			t.Errorf("%d minutes: %v", asked, err)
		}
	}
}
