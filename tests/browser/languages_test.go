package browser

import (
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// english finds the dashboard's English texts that a language has other words for.
type english struct {
	texts   map[string]bool
	formats []*regexp.Regexp
}

var valueInText = regexp.MustCompile(`%(\[\d+\])?[a-z]`)

func newEnglish(t *testing.T, language string) english {
	t.Helper()
	raw, err := os.ReadFile("../../adapters/web/dashboard/ui/texts/" + language + ".json")
	catalog := map[string]string{}
	if err == nil {
		err = json.Unmarshal(raw, &catalog)
	}
	if err != nil {
		t.Fatal(err)
	}
	e := english{texts: map[string]bool{}}
	translations := slices.Collect(maps.Values(catalog))
	for text, translation := range catalog {
		fixed := valueInText.Split(text, -1)
		switch {
		case translation == text, slices.Contains(translations, text):
		case len(fixed) == 1:
			e.texts[text] = true
		case len(strings.Join(fixed, "")) > 6:
			for i := range fixed {
				fixed[i] = regexp.QuoteMeta(strings.ReplaceAll(fixed[i], "%%", "%"))
			}
			e.formats = append(e.formats, regexp.MustCompile("^"+strings.Join(fixed, ".+")+"$"))
		}
	}
	return e
}

// in lists those of some texts that are English.
func (e english) in(texts []string) (found []string) {
	for _, text := range texts {
		text = strings.TrimSpace(text)
		if e.texts[text] || slices.ContainsFunc(e.formats, func(f *regexp.Regexp) bool { return f.MatchString(text) }) {
			found = append(found, text)
		}
	}
	return found
}

// shownTexts are the texts of a page and of its attributes, but what is marked as being in another language.
const shownTexts = `(() => {
	const texts = [], lang = document.documentElement.lang;
	const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
	for (let node = walk.nextNode(); node; node = walk.nextNode()) {
		const element = node instanceof Element ? node : node.parentElement;
		const other = element.closest("[lang]");
		if (other && other.lang !== lang || element.closest("script, code, pre")) continue;
		if (node instanceof Element) {
			for (const name of ["aria-label", "placeholder", "title", "alt"]) if (element.hasAttribute(name)) texts.push(element.getAttribute(name));
		} else texts.push(node.data);
	}
	return [document.title.replace(" – Sundry", ""), ...texts];
})()`

// linkedPages are the addresses of the dashboard that a page leads to.
const linkedPages = `[...document.querySelectorAll("a[href^='/dashboard']")].filter((a) => !a.hasAttribute("download"))
	.map((a) => a.getAttribute("href").replace(/#.*/, ""))`

var idInPath = regexp.MustCompile(`[a-z]+_[0-9a-z]{10,}|[?&](customer|q|listing|subscription|days|figure|currency|from|cursor)=[^&]*`)

// crawl opens a page of every kind that pages of the dashboard lead to.
func (s *studio) crawl(d *tab, first []string, look func(path string)) (seen int) {
	todo, kinds := first, map[string]bool{}
	for len(todo) > 0 {
		path := todo[0]
		todo = todo[1:]
		kind := idInPath.ReplaceAllString(path, "*")
		if kinds[kind] || strings.Contains(path, "format=csv") || strings.HasSuffix(path, ".pdf") {
			continue
		}
		kinds[kind] = true
		d.open(s.URL + path)
		look(path)
		todo = append(todo, eval[[]string](d, linkedPages)...)
	}
	return len(kinds)
}

func TestTheDashboardIsInTheReadersLanguage(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	details, _ := s.details()
	pages := []string{"/dashboard"}
	for _, path := range details {
		pages = append(pages, "/dashboard"+path)
	}
	for _, language := range []string{"de", "fr"} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			english := newEnglish(t, language)
			d := newTab(t)
			s.signIn(d)
			d.reads(language)
			d.size(360, 800)
			seen := s.crawl(d, pages, func(path string) {
				if lang := eval[string](d, "document.documentElement.lang"); lang != language {
					t.Errorf("%s is in %q", path, lang)
				}
				if found := english.in(eval[[]string](d, shownTexts)); len(found) > 0 {
					t.Errorf("%s has %q", path, found)
				}
				d.fits(path)
			})
			if seen < 60 {
				t.Errorf("%d pages were seen", seen)
			}
		})
	}
}

func TestALanguageIsChosenAndKept(t *testing.T) {
	t.Parallel()
	s := sharedFixture(t)
	b := newTab(t)
	b.open(s.URL + "/dashboard/sign-up")
	b.click("button[lang=de]")
	b.sees("Verkaufe Downloads")
	b.accessible("sign-up in German")
	b.click("button[lang=en]")
	b.sees("Sell downloads")
	s.signIn(b)
	b.click(".who button[lang=de]")
	b.sees("So läuft es bei Ada's Workshop.")
	b.accessible("home in German")
	b.open(s.URL + "/dashboard/settings")
	b.sees("Wie Käufer dich sehen")
	b.accessible("settings in German")
	b.open(s.URL + "/dashboard/no-such-page")
	b.sees("Seite nicht gefunden")
}

func TestTheSideIsReadableInEveryLanguage(t *testing.T) {
	t.Parallel()
	s := sharedFixture(t)
	b := s.atDashboard()
	for _, language := range []string{"de", "fr", "en"} {
		b.click(`.languages [value="` + language + `"]`)
		b.wait(`document.readyState !== "loading" && document.documentElement.lang.startsWith("` + language + `")`)
		if over := eval[bool](b, `(() => {
			const box = (part) => document.querySelector(part).getBoundingClientRect();
			const [out, zone] = [box(".who form button"), box(".zone")];
			return out.right > zone.left && out.bottom > zone.top && zone.bottom > out.top;
		})()`); over {
			t.Errorf("in %s the zone is written over the button that signs out", language)
		}
	}
}
