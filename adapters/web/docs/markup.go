package docs

import (
	"html/template"
	"regexp"
	"strings"
)

var (
	codeSpan = regexp.MustCompile("`([^`]+)`")
	boldSpan = regexp.MustCompile(`\*\*([^*]+)\*\*`)
	linkSpan = regexp.MustCompile(`\[([^\]]+)\]\((https?://[^\s)]+|[#/][^\s)]*)\)`)
)

// markup renders the little Markdown that descriptions use: paragraphs, lists, code,
// bold and links. The text is escaped first, so nothing else can come through.
func markup(source string) template.HTML {
	var out strings.Builder
	for block := range strings.SplitSeq(strings.TrimSpace(source), "\n\n") {
		block = strings.TrimSpace(block)
		if block == "" {
			continue
		}
		lines := strings.Split(block, "\n")
		tag := "p"
		for i, line := range lines {
			line = strings.TrimSpace(line)
			item, isItem := strings.CutPrefix(line, "- ")
			if !isItem {
				item, isItem = strings.CutPrefix(line, "* ")
			}
			switch {
			case isItem && tag != "ul":
				if i > 0 {
					out.WriteString("</p>")
				}
				out.WriteString("<ul><li>")
				tag = "ul"
			case isItem:
				out.WriteString("</li><li>")
			case i == 0:
				out.WriteString("<p>")
			default:
				out.WriteByte(' ')
			}
			out.WriteString(spans(item))
		}
		if tag == "ul" {
			out.WriteString("</li>")
		}
		out.WriteString("</" + tag + ">")
	}
	return template.HTML(out.String()) //nolint:gosec // escaped by spans before any tag is written
}

func spans(line string) string {
	line = template.HTMLEscapeString(line)
	line = codeSpan.ReplaceAllString(line, "<code>$1</code>")
	line = boldSpan.ReplaceAllString(line, "<strong>$1</strong>")
	return linkSpan.ReplaceAllString(line, `<a href="$2">$1</a>`)
}
