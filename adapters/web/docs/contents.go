package docs

import (
	"cmp"
	"html"
	"regexp"
	"slices"
	"strings"
)

// The pages of the reference that are no resource's.
const (
	referencePage = "reference" // every operation in a line
	eventsPage    = "events"
)

// contents lists the pages of the documentation and searches their topics.
type contents struct {
	Groups []contentsGroup
	topics []topic
}

// contentsGroup is one resource with the lines of its operations.
type contentsGroup struct {
	Slug, Name string
	Lines      []topic
}

// topic is one thing that a search finds: a part of the guide, an event type or an operation.
type topic struct {
	ID, Title, Href string
	Method, Path    string // of an operation, else ""
	Where           string // names its page, "" for the guide
	// words are all that is said about it, in lower case, each once between spaces.
	words string
}

func newContents(guide []guideSection, guideHTML []byte, doc *apiDoc) *contents {
	all := &contents{}
	texts := sectionTexts(string(guideHTML))
	for _, section := range guide {
		all.topics = append(all.topics, topic{
			ID: section.ID, Title: section.Title, Href: "/docs#" + section.ID, words: wordsOf(texts[section.ID]),
		})
	}
	for _, event := range doc.Events {
		all.topics = append(all.topics, topic{
			ID: event.ID, Title: event.Type, Href: "/docs/" + eventsPage + "#" + event.ID, Where: "Events",
			words: wordsOf(event.Text),
		})
	}
	for _, g := range doc.Groups {
		group := contentsGroup{Slug: g.ID, Name: g.Name}
		for _, op := range g.Ops {
			group.Lines = append(group.Lines, topic{
				ID: op.ID, Title: op.Summary, Href: "/docs/" + g.ID + "#" + op.ID, Method: op.Method, Path: op.Path,
				Where: g.Name, words: wordsOf(op.allText()),
			})
		}
		all.Groups = append(all.Groups, group)
		all.topics = append(all.topics, group.Lines...)
	}
	return all
}

// has reports whether a page of the reference has the slug.
func (c *contents) has(slug string) bool {
	return slug == referencePage || slug == eventsPage ||
		slices.ContainsFunc(c.Groups, func(g contentsGroup) bool { return g.Slug == slug })
}

// Limits of a search: it costs as much as it has words.
const (
	mostWords = 12
	mostFound = 50
)

// search returns what has a word that begins with each of the query's, best first: a word of the title counts most,
// then one of the path, of the page's name and of the text; a whole word counts more than the beginning of one.
func (c *contents) search(query string) []topic {
	asked := splitWords(query)
	if len(asked) > mostWords {
		asked = asked[:mostWords]
	}
	type hit struct {
		topic
		score int
	}
	var hits []hit
	for _, t := range c.topics {
		if score := t.score(asked); score > 0 {
			hits = append(hits, hit{t, score})
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(b.score, a.score) })
	found := make([]topic, 0, min(len(hits), mostFound))
	for _, h := range hits[:min(len(hits), mostFound)] {
		found = append(found, h.topic)
	}
	return found
}

// score is 0 unless the topic has all words.
func (t topic) score(asked []string) (score int) {
	title, path, where := wordsOf(t.Title), wordsOf(t.Path+" "+t.Method), wordsOf(t.Where)
	for _, word := range asked {
		best := max(weigh(title, word, 12), weigh(path, word, 6), weigh(where, word, 2), weigh(t.words, word, 1))
		if best == 0 {
			return 0
		}
		score += best
	}
	return score
}

// weigh returns twice the weight where words have the word, the weight where one begins with it, else 0.
func weigh(words, word string, weight int) int {
	switch {
	case strings.Contains(words, " "+word+" "):
		return 2 * weight
	case strings.Contains(words, " "+word):
		return weight
	}
	return 0
}

// splitWords are the words of a text in lower case. CUSTOMER_NOT_FOUND and checkout_id are one each.
func splitWords(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '_' && r < 0x80
	})
}

// wordsOf are the words of a text, each once between spaces.
func wordsOf(text string) string {
	words := splitWords(text)
	slices.Sort(words)
	return " " + strings.Join(slices.Compact(words), " ") + " "
}

var (
	guideSectionText = regexp.MustCompile(`(?s)<section class="prose" id="([^"]*)">(.*?)</section>`)
	markupTag        = regexp.MustCompile(`<[^>]*>`)
)

// textOf is HTML without its tags.
func textOf(markup string) string {
	return html.UnescapeString(markupTag.ReplaceAllString(markup, " "))
}

// sectionTexts are the texts of the guide by the ids of their sections.
func sectionTexts(guide string) map[string]string {
	texts := map[string]string{}
	for _, found := range guideSectionText.FindAllStringSubmatch(guide, -1) {
		texts[found[1]] = textOf(found[2])
	}
	return texts
}

// allText returns the text of an operation for the search. It leaves out the samples, which are the same everywhere,
// and what other routes respond with.
func (o *apiOp) allText() string {
	var out strings.Builder
	var add func(fields []apiField)
	add = func(fields []apiField) {
		for _, f := range fields {
			out.WriteString(f.Name + " " + textOf(string(f.Text)) + " " + strings.Join(f.Enum, " ") + " ")
			if f.Name != expandedMember {
				add(f.Children)
			}
		}
	}
	out.WriteString(textOf(string(o.Text)) + " " + strings.Join(o.Auth, " ") + " ")
	add(o.Params)
	add(o.Body)
	for _, response := range o.Responses {
		out.WriteString(response.Status + " " + textOf(string(response.Text)) + " ")
		if !response.Failed {
			add(response.Fields)
		}
	}
	return out.String()
}
