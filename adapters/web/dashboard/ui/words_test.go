package ui

import (
	"regexp"
	"testing"
)

func TestWordsAreTranslatedAndDataIsNot(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ got, want string }{
		"a text":                   {Words("Orders").In("de"), "Bestellungen"},
		"a text in English":        {Words("Orders").In("en"), "Orders"},
		"one without translation":  {Words("Not in any catalog").In("de"), "Not in any catalog"},
		"a creator's text":         {Data("Orders").In("de"), "Orders"},
		"a creator's percent sign": {Data("100% wool").In("fr"), "100% wool"},
		"values in another order": {
			Words("up %d%% on the %s before").In("fr", 5, Words("7 days")), "5 % de plus que les 7 jours précédents",
		},
		"values that are words": {Words("%s or %s").In("de", Words("owner"), Data("owner")), "Inhaber oder owner"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %q, want %q", name, c.got, c.want)
		}
	}
	if Data("") != "" {
		t.Error("no text is shown as one")
	}
}

func TestFrenchCountsNoneAsOne(t *testing.T) {
	t.Parallel()
	for language, want := range map[string][3]Words{
		"en": {"many", "one", "many"}, "de": {"many", "one", "many"}, "fr": {"one", "one", "many"},
	} {
		for n := range want {
			if got := Plural(language, n, "one", "many"); got != want[n] {
				t.Errorf("%d in %s: %s, want %s", n, language, got, want[n])
			}
		}
	}
}

func TestRefusalsAreTranslatedWithTheirValues(t *testing.T) {
	t.Parallel()
	for english, want := range map[Words]string{
		"A password needs at least 10 characters.":          "Ein Passwort braucht mindestens 10 Zeichen.",
		"A password needs at most 10 characters.":           "A password needs at most 10 characters.",
		"Expected 5 to 1440.":                               "Erwartet wird eine Zahl von 5 bis 1440.",
		"Another meter has the event name api.calls.":       "Ein anderer Zähler hat den Ereignisnamen api.calls.",
		"Only €29.00 is available.":                         "Nur €29.00 sind verfügbar.",
		"Only  is available.":                               "Only  is available.",
		"The last tier must be without an end (upTo null).": "Die letzte Staffel darf kein „bis zu“ haben.",
	} {
		if got := english.In("de"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	tier := Words("The last tier must be without an end (upTo null).")
	if got := tier.In("en"); got != "The last tier must have no “up to”." {
		t.Errorf("people read %q", got)
	}
}

func TestGermanSaysDuAndCheckout(t *testing.T) {
	t.Parallel()
	other := regexp.MustCompile(`en Sie\b|\bIhnen\b|\bKasse\b`)
	for _, name := range []string{"texts/de.json", "refusals/de.json"} {
		for english, german := range read(name) {
			if other.MatchString(german) {
				t.Errorf("%q is %q", english, german)
			}
		}
	}
}

func TestFrenchMarksStayWithTheirWord(t *testing.T) {
	t.Parallel()
	alone := regexp.MustCompile(`\S [:;!?»]( |$)|« `)
	for _, name := range []string{"texts/fr.json", "refusals/fr.json"} {
		for english, french := range read(name) {
			if alone.MatchString(french) {
				t.Errorf("%q may begin a line with a mark: %q", english, french)
			}
		}
	}
}

// A form does not name what it asks for as the API does.
func TestFormsRefuseInTheirOwnWords(t *testing.T) {
	t.Parallel()
	api := regexp.MustCompile(`\b(null|JSON|UNIQUE|PATCH|POST|upTo|percentOff|\w+InCents|minor units|of type select)\b`)
	for english := range read("refusals/de.json") {
		if shown := Words(english).In("en"); api.MatchString(shown) {
			t.Errorf("%q", shown)
		}
	}
}
