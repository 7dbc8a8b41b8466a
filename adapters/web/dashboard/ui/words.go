package ui

import (
	"embed"
	"encoding/json"
	"fmt"
	"strings"
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

// catalogs are the translations by language and English text. %[2]s names a value where the order differs.
//
//go:embed texts
var files embed.FS

var catalogs = map[string]map[string]string{"de": load("de"), "fr": load("fr")}

func load(language string) map[string]string {
	texts := map[string]string{}
	raw, err := files.ReadFile("texts/" + language + ".json")
	if err == nil {
		err = json.Unmarshal(raw, &texts)
	}
	if err != nil {
		panic("dashboard: " + language + ": " + err.Error()) // embedded at build time, and a test reads it
	}
	return texts
}

func translate(text, language string) string {
	if translated, ok := catalogs[language][text]; ok {
		return translated
	}
	return text
}
