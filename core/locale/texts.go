package locale

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
)

// files are the texts: one folder per language, one file per site or area, each a map of keys to texts. %s and %d take
// values in order; %[2]s names one. A key that a translation lacks is shown in English.
//
//go:embed texts
var files embed.FS

// texts are those of all languages, by language and key, read for the first reader.
var texts = sync.OnceValue(load)

func load() map[string]map[string]string {
	out := map[string]map[string]string{}
	for _, language := range Languages() {
		out[language] = map[string]string{}
		names, err := fs.Glob(files, "texts/"+language+"/*.json")
		if err != nil {
			panic("locale: " + err.Error()) // the pattern is constant
		}
		for _, name := range names {
			raw, err := files.ReadFile(name)
			part := map[string]string{}
			if err == nil {
				err = json.Unmarshal(raw, &part)
			}
			if err != nil {
				panic("locale: " + name + ": " + err.Error()) // embedded at build time, and a test reads it
			}
			for key, text := range part {
				if _, doubled := out[language][key]; doubled {
					panic("locale: " + name + ": " + key + " has another text already")
				}
				out[language][key] = text
			}
		}
	}
	return out
}

// Text returns a text with its values filled in. An unknown key shows itself, and a test keeps that from reaching a
// page.
func (l Locale) Text(key string, values ...any) string {
	text, known := texts()[l.language()][key]
	if !known {
		text, known = texts()[english][key]
	}
	switch {
	case !known:
		return key
	case len(values) == 0:
		return text
	}
	return fmt.Sprintf(text, values...)
}

// Count returns the text under key.one or key.many, by the number, which fills in the latter.
func (l Locale) Count(key string, n int) string {
	if n == 1 {
		return l.Text(key + ".one")
	}
	return l.Text(key+".many", n)
}

// Has reports whether there is an English text under a key.
func Has(key string) bool {
	_, ok := texts()[english][key]
	return ok
}

// WithPrefix returns the texts whose keys begin with a prefix, without it, as scripts get them.
func (l Locale) WithPrefix(prefix string) map[string]string {
	out := map[string]string{}
	for key := range maps.Keys(texts()[english]) {
		if name, ok := strings.CutPrefix(key, prefix); ok {
			out[name] = l.Text(key)
		}
	}
	return out
}

// Keys are all keys of English texts.
func Keys() []string {
	keys := make([]string, 0, len(texts()[english]))
	for key := range texts()[english] {
		keys = append(keys, key)
	}
	return keys
}

// Missing returns the keys of one English file, such as checkout, that a language has no text for, in order.
func Missing(language, area string) []string {
	part := map[string]string{}
	raw, err := files.ReadFile("texts/" + english + "/" + area + ".json")
	if err == nil {
		err = json.Unmarshal(raw, &part)
	}
	if err != nil {
		return []string{area + ".json: " + err.Error()}
	}
	var missing []string
	for _, key := range slices.Sorted(maps.Keys(part)) {
		if _, ok := texts()[language][key]; !ok {
			missing = append(missing, key)
		}
	}
	return missing
}
