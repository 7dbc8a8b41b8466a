// Package country is the one table of countries: the ISO 3166-1 codes that buyers may name and what they are called in
// the languages of the pages.
package country

import (
	"embed"
	"strings"
)

// Country is a state or territory of ISO 3166-1.
type Country struct {
	Code string // alpha-2, upper case
	Name string // in the language asked for
}

// names has one file per language, a code and a name per line in the order in which readers of the language expect
// them.
//
//go:embed names/*.tsv
var names embed.FS

// fallback is the language of readers whose own has no table.
const fallback = "en"

var lists = load("en", "de", "fr")

func load(languages ...string) map[string][]Country {
	out := map[string][]Country{}
	for _, language := range languages {
		raw, err := names.ReadFile("names/" + language + ".tsv")
		if err != nil {
			panic("country: " + err.Error()) // embedded at build time
		}
		for line := range strings.Lines(string(raw)) {
			code, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
			out[language] = append(out[language], Country{code, name})
		}
	}
	return out
}

// List is every country, sorted by name, in a language such as "de"; in English where the language has no table.
func List(language string) []Country {
	if list, ok := lists[language]; ok {
		return list
	}
	return lists[fallback]
}

// Valid reports whether a text is the code of a country.
func Valid(code string) bool { return find(fallback, code) != "" }

// Name returns the name of a country in a language; the code itself when the language has no name for it.
func Name(code, language string) string {
	if name := find(language, code); name != "" {
		return name
	}
	return code
}

func find(language, code string) string {
	for _, c := range List(language) {
		if c.Code == code {
			return c.Name
		}
	}
	return ""
}
