package ui

import (
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Words is a text of the dashboard in English, which is the key of its translations. A literal is Words by itself, and
// templates translate it; what people and programs wrote becomes Words by Data only, and is never translated.
type Words string

// verbatim begins Words that are shown as they are.
const verbatim = "\x00"

// Data returns a text that is shown as it is.
func Data(text string) Words {
	if text == "" {
		return ""
	}
	return Words(verbatim + text)
}

// In returns the text in a language, with its values filled in as fmt.Sprintf does. Values that are Words are
// translated too. A text without a translation stays English.
func (w Words) In(language string, values ...any) string {
	text, asIs := strings.CutPrefix(string(w), verbatim)
	if !asIs {
		text = translate(text, language)
	}
	if len(values) == 0 {
		return text
	}
	filled := make([]any, len(values))
	for i, value := range values {
		filled[i] = value
		if words, ok := value.(Words); ok {
			filled[i] = words.In(language)
		}
	}
	return fmt.Sprintf(text, filled...)
}

// Plural chooses the form for a number: French counts none as one.
func Plural(language string, n int, one, many Words) Words {
	if n == 1 || n == 0 && language == "fr" {
		return one
	}
	return many
}

// files are the catalogs: texts of the dashboard by language, and refusals of the use cases, which speak to
// integrators. %[2]s names a value where the order differs.
//
//go:embed texts refusals
var files embed.FS

// catalog has the translations of English texts into a language.
type catalog struct {
	texts map[string]string
	// formats are the refusals with values, the longest first.
	formats []format
}

// format is a refusal with values, which are found by what is fixed of its English text.
type format struct {
	fixed       []string
	translation string // with %s for each value
}

// catalogs are read for the first reader of a language: most processes show no dashboard.
var catalogs = map[string]func() catalog{
	// in the words of the dashboard's forms
	"en": sync.OnceValue(func() catalog { return newCatalog(map[string]string{}, read("refusals/en.json")) }),
	"de": sync.OnceValue(func() catalog { return newCatalog(read("texts/de.json"), read("refusals/de.json")) }),
	"fr": sync.OnceValue(func() catalog { return newCatalog(read("texts/fr.json"), read("refusals/fr.json")) }),
}

func read(name string) map[string]string {
	texts := map[string]string{}
	raw, err := files.ReadFile(name)
	if err == nil {
		err = json.Unmarshal(raw, &texts)
	}
	if err != nil {
		panic("dashboard: " + name + ": " + err.Error()) // embedded at build time, and a test reads it
	}
	return texts
}

func newCatalog(texts, refusals map[string]string) catalog {
	c := catalog{texts: texts}
	var formats []string
	for english, translation := range refusals {
		if verb.MatchString(english) {
			formats = append(formats, english)
		} else {
			c.texts[english] = translation
		}
	}
	slices.SortFunc(formats, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), strings.Compare(a, b))
	})
	for _, english := range formats {
		c.formats = append(c.formats, format{
			verb.Split(english, -1), verb.ReplaceAllString(refusals[english], "%${1}s"),
		})
	}
	return c
}

var verb = regexp.MustCompile(`%(\[\d+\])?[ds]`)

func translate(text, language string) string {
	c := catalogs[cmp.Or(language, "en")]()
	if translation, ok := c.texts[text]; ok {
		return translation
	}
	for _, f := range c.formats {
		if values, ok := f.valuesOf(text); ok {
			return fmt.Sprintf(f.translation, values...)
		}
	}
	return text
}

// valuesOf returns the values of a text that the format makes; ok is false for any other text.
func (f format) valuesOf(text string) (values []any, ok bool) {
	fixed := f.fixed
	text, begins := strings.CutPrefix(text, fixed[0])
	text, ends := strings.CutSuffix(text, fixed[len(fixed)-1])
	if !begins || !ends {
		return nil, false
	}
	for _, next := range fixed[1 : len(fixed)-1] {
		value, rest, found := strings.Cut(text, next)
		if !found || value == "" {
			return nil, false
		}
		values, text = append(values, value), rest
	}
	return append(values, text), text != ""
}
