package dashboard

import (
	"slices"
	"time"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/web/dashboard/ui"
	"sundry/adapters/web/layout"
	"sundry/core/locale"
)

// languageCookie has the language that a browser has chosen.
const languageCookie = "sundry_language"

// chooseLanguage is the form that chooses a language. It needs no sign-in: the choice is the browser's.
func (r *Routes) chooseLanguage(c *fiber.Ctx) error {
	if isFromElsewhere(c) {
		return r.forged(c)
	}
	if chosen := c.FormValue("language"); slices.Contains(locale.Languages(), chosen) {
		r.setCookie(c, languageCookie, chosen, 365*24*time.Hour)
	}
	return layout.SeeOther(c, ownAddress(c.FormValue("back")))
}

// language is one that readers can choose, under its own name.
type language struct {
	Code, Name string
	Current    bool
}

func languages(current string) []language {
	all := []language{{Code: "en", Name: "English"}, {Code: "de", Name: "Deutsch"}, {Code: "fr", Name: "Français"}}
	for i := range all {
		all[i].Current = all[i].Code == current
	}
	return all
}

// inChosenLanguage puts the chosen language before those that the browser prefers, so that error pages are in it too.
func (r *Routes) inChosenLanguage(c *fiber.Ctx) error {
	if chosen := c.Cookies(r.cookieName(languageCookie)); slices.Contains(locale.Languages(), chosen) {
		c.Request().Header.Set(fiber.HeaderAcceptLanguage, chosen+","+c.Get(fiber.HeaderAcceptLanguage))
	}
	return c.Next()
}

// reader returns the language and formats of a request. A file is English in every language: programs read it.
func reader(c *fiber.Ctx) locale.Locale {
	l := layout.Reader(c)
	if c.Query("format") == "csv" {
		l.Language = locale.Default.Language
	}
	return l
}

// text is a text in the reader's language, with its values filled in.
func (v *visit) text(format ui.Words, values ...any) string {
	return format.In(v.reader.Language, values...)
}

// say is text for a place that has Words.
func (v *visit) say(format ui.Words, values ...any) ui.Words {
	return ui.Data(v.text(format, values...))
}

// plural is say with the form for a number, which is its value.
func (v *visit) plural(n int, one, many ui.Words) ui.Words {
	return v.say(ui.Plural(v.reader.Language, n, one, many), n)
}

// scriptWords are the texts of the scripts.
var scriptWords = []ui.Words{
	"Copied", "Your browser is asking for it…", "No passkey was used. Try again.",
	"That didn’t work. Reload the page and try again.", "Uploading…", "Uploading… %s %",
	"The upload broke off. Try again.",
}

// scriptTexts returns the translations that the scripts of a page need; nil in English, which is in them.
func scriptTexts(reader locale.Locale) any {
	if reader.Language == locale.Default.Language {
		return nil
	}
	texts := map[ui.Words]string{}
	for _, words := range scriptWords {
		texts[words] = words.In(reader.Language)
	}
	return texts
}
