package ui

import "testing"

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
		"The last tier must be without an end (upTo null).": "Die letzte Staffel muss ohne Ende (*) sein.",
	} {
		if got := english.In("de"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	tier := Words("The last tier must be without an end (upTo null).")
	if got := tier.In("en"); got != "The last tier must be without an end (*)." {
		t.Errorf("people read %q", got)
	}
}
