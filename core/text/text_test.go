package text_test

import (
	"slices"
	"strings"
	"testing"

	"sundry/core/fault"
	"sundry/core/fault/faulttest"
	"sundry/core/text"
)

func TestNamesAreOneVisibleLineThatTurnsNothing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		value string
		code  string // "" = accepted
	}{
		"words":                         {"Ada's Workshop", ""},
		"Hebrew with a mark":            {"שלום\u200f!", ""},
		"emoji joined by zero width":    {"👩\u200d🎨", ""},
		"one mark of punctuation":       {"?", ""},
		"nothing":                       {"", fault.DetailRequired},
		"blanks":                        {" \u00a0\t", fault.DetailRequired},
		"zero width only":               {"\u200b\u2060\ufeff", fault.DetailInvalid},
		"emoji with a variation joined": {"👁\ufe0f\u200d🗨\ufe0f", ""},
		"Persian with a non-joiner":     {"می\u200cخواهم", ""},
		"Hindi with a joiner":           {"क\u094d\u200dष", ""},
		"a flag of tags":                {"🏴\U000e0067\U000e0062\U000e007f", ""},
		"a space of no width":           {"A\u200bcme", fault.DetailInvalid},
		"a joiner between letters":      {"A\u200dcme", fault.DetailInvalid},
		"a non-joiner in Cyrillic":      {"Б\u200cанк", fault.DetailInvalid},
		"a joiner at the beginning":     {"\u200dAcme", fault.DetailInvalid},
		"a mark of direction in Latin":  {"Ac\u200eme", fault.DetailInvalid},
		"a soft hyphen":                 {"Ac\u00adme", fault.DetailInvalid},
		"a word joiner":                 {"Acme\u2060", fault.DetailInvalid},
		"a byte order mark":             {"\ufeffAcme", fault.DetailInvalid},
		"a Hangul filler":               {"\u3164", fault.DetailInvalid},
		"a combining mark without base": {"\u0301", fault.DetailInvalid},
		"an override":                   {"invoice\u202efdp.exe", fault.DetailInvalid},
		"an embedding":                  {"a\u202ab", fault.DetailInvalid},
		"an isolate":                    {"a\u2066b", fault.DetailInvalid},
		"the end of an isolate":         {"a\u2069b", fault.DetailInvalid},
		"a line feed":                   {"a\nb", fault.DetailInvalid},
		"a separator of lines":          {"a\u2028b", fault.DetailInvalid},
		"a separator of paragraphs":     {"a\u2029b", fault.DetailInvalid},
		"NUL":                           {"a\x00b", fault.DetailInvalid},
		"as long as allowed":            {strings.Repeat("ö", 10), ""},
		"too long":                      {strings.Repeat("ö", 11), fault.DetailTooLong},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			limit := 100
			if strings.HasPrefix(c.value, "öö") {
				limit = 10
			}
			var f fault.Violations
			text.CheckName(&f, "name", c.value, limit)
			if c.code == "" {
				if err := f.Err(); err != nil {
					t.Errorf("refused: %v", err)
				}
				return
			}
			if got := faulttest.Lines(t, f.Err()); !slices.Contains(got, "name "+c.code) {
				t.Errorf("found %q, want %s", got, c.code)
			}
		})
	}
}

func TestTextThatMayBeLeftOut(t *testing.T) {
	t.Parallel()
	for name, check := range map[string]func(*fault.Violations, string, string, int){"line": text.CheckLine,
		"lines": text.CheckLines} {
		var f fault.Violations
		check(&f, name, "", 10)
		if err := f.Err(); err != nil {
			t.Errorf("%s left out: %v", name, err)
		}
		check(&f, name, "\u200b", 10)
		check(&f, name, "a\u202eb", 10)
		if got := faulttest.Lines(t, f.Err()); len(got) != 2 {
			t.Errorf("%s: found %q, want the invisible and the override", name, got)
		}
	}
	var f fault.Violations
	text.CheckLines(&f, "lines", "one\r\n\ttwo", 10)
	if err := f.Err(); err != nil {
		t.Errorf("several lines: %v", err)
	}
	text.CheckLines(&f, "lines", "a\x1bb", 10)
	if got := faulttest.Lines(t, f.Err()); !slices.Equal(got, []string{"lines INVALID"}) {
		t.Errorf("an escape: %q", got)
	}
}

func TestAFileHoldsNoFormulas(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"=1+1": "'=1+1", "+cmd": "'+cmd", "@SUM(A1)": "'@SUM(A1)", "-2+3": "'-2+3", "-12.50": "-12.50", "+5": "+5",
		"\t=1":  "'\t=1",
		"plain": "plain", "": "", "a=b": "a=b", "a; -b": "a; -b", "a;\r\nb": "a;\r\nb",
		"Ada;=cmd|' /C calc'!A0": "Ada;'=cmd|' /C calc'!A0", "a;;@b\n+c\r\n-d": "a;;'@b\n'+c\r\n'-d",
	} {
		if got := text.CSVCell(value); got != want {
			t.Errorf("%q is written as %q, want %q", value, got, want)
		}
	}
}
