package docs

import (
	"fmt"
	"html"
	"regexp"
	"strings"

	"github.com/gofiber/fiber/v2"

	"sundry/core/locale"
)

// markdown serves the guide, the events and the whole reference as one text, for programs that read (llmstxt.org).
func (r *Routes) markdown(c *fiber.Ctx) error {
	page, err := r.rendered.get(cachedPage{kind: "markdown", reader: locale.Default}, r.allAsMarkdown)
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderContentType, "text/markdown; charset=utf-8")
	c.Set(fiber.HeaderCacheControl, "public, max-age=300")
	return page.Send(c)
}

func (r *Routes) allAsMarkdown() ([]byte, error) {
	guide, err := r.guideText()
	if err != nil {
		return nil, err
	}
	doc, err := r.reference()
	if err != nil {
		return nil, err
	}
	reader := locale.Default
	var out strings.Builder
	fmt.Fprintf(&out, "# %s\n\n> %s\n\n%s", reader.Text("brand"), reader.Text("llms.summary"), asMarkdown(string(guide)))
	fmt.Fprintf(&out, "## %s\n\n%s\n\n", reader.Text("docs.events"), reader.Text("docs.events_lead"))
	for _, event := range doc.Events {
		fmt.Fprintf(&out, "### `%s`\n\n%s\n\n```json\n%s\n```\n\n", event.Type, event.Text, r.asOfToday(event.Payload))
	}
	fmt.Fprintf(&out, "## %s\n\n%s", reader.Text("docs.title"), asMarkdown(string(doc.Intro)))
	for _, g := range doc.Groups {
		fmt.Fprintf(&out, "## %s\n\n%s", g.Name, asMarkdown(string(g.Intro)))
		for _, op := range g.Ops {
			out.WriteString(r.asOfToday(op.asMarkdown(reader)))
		}
	}
	return []byte(strings.TrimSpace(out.String()) + "\n"), nil
}

// asMarkdown describes an operation: what it takes, what it responds with, and its request as a curl line.
func (o *apiOp) asMarkdown(reader locale.Locale) string {
	var out strings.Builder
	fmt.Fprintf(&out, "### %s\n\n`%s %s`", o.Summary, o.Method, o.Path)
	if len(o.Auth) > 0 {
		fmt.Fprintf(&out, " · %s: %s", reader.Text("docs.auth"), strings.Join(o.Auth, ", "))
	}
	fmt.Fprintf(&out, "\n\n%s", asMarkdown(string(o.Text)))
	if len(o.Params) > 0 {
		fmt.Fprintf(&out, "%s:\n\n%s\n", reader.Text("docs.params"), listed(o.Params, ""))
	}
	if o.BodyType != "" {
		fmt.Fprintf(&out, "%s (%s):\n\n%s\n", reader.Text("docs.body"), o.BodyType, listed(o.Body, ""))
	}
	for _, response := range o.Responses {
		fmt.Fprintf(&out, "%s: %s\n\n", response.Status, strings.TrimSpace(asMarkdown(string(response.Text))))
		if !response.Failed && len(response.Fields) > 0 {
			fmt.Fprintf(&out, "%s\n", listed(response.Fields, ""))
		}
	}
	fmt.Fprintf(&out, "```sh\n%s\n```\n\n", o.Samples[0].Text)
	return out.String()
}

// listed is a list of members, those of a member one step further in.
func listed(fields []apiField, indent string) string {
	var out strings.Builder
	for _, f := range fields {
		fmt.Fprintf(&out, "%s- `%s` (%s", indent, f.Name, f.Type)
		if f.Required {
			out.WriteString(", required")
		}
		out.WriteString(")")
		about := strings.Join(strings.Fields(asMarkdown(string(f.Text))), " ")
		for _, more := range []string{about, strings.Join(f.Enum, ", "), strings.Join(f.Limits, "; ")} {
			if more != "" {
				out.WriteString(" " + strings.TrimSuffix(more, ".") + ".")
			}
		}
		out.WriteString("\n" + listed(f.Children, indent+"  "))
	}
	return out.String()
}

var (
	codeBlock = regexp.MustCompile(`(?s)<pre[^>]*><code>(.*?)</code></pre>`)
	anyTag    = regexp.MustCompile(`<(/?)([a-z0-9]+)([^>]*)>`)
	linkTo    = regexp.MustCompile(`href="([^"]*)"`)
	blankRun  = regexp.MustCompile(`\n{3,}`)
	// rowBreak is between the rows of a table, where Markdown has one line break: a blank line ends the table.
	rowBreak = regexp.MustCompile(`\s+(</?t(?:r|body)>)`)
)

// markdownOf maps a tag to the Markdown that replaces its start and its end. Other tags are left out.
var markdownOf = map[string][2]string{
	"h2": {"\n## ", "\n\n"}, "h3": {"\n### ", "\n\n"}, "p": {"", "\n\n"}, "ul": {"", "\n"}, "li": {"- ", "\n"},
	"code": {"`", "`"}, "strong": {"**", "**"}, "br": {" ", ""}, "tr": {"", "|\n"}, "th": {"| ", " "}, "td": {"| ", " "},
	"thead": {"", "|---|---|\n"}, "tbody": {"", "\n"}, "section": {"", "\n"},
}

// asMarkdown turns the markup of our own pages into Markdown.
func asMarkdown(markup string) string {
	var blocks []string
	markup = codeBlock.ReplaceAllStringFunc(markup, func(block string) string {
		blocks = append(blocks, "\n```\n"+html.UnescapeString(codeBlock.FindStringSubmatch(block)[1])+"\n```\n\n")
		return "\x00"
	})
	markup = rowBreak.ReplaceAllString(markup, "$1")
	var link []string // the address of the link that is open
	markup = anyTag.ReplaceAllStringFunc(markup, func(tag string) string {
		found := anyTag.FindStringSubmatch(tag)
		closed := found[1] != ""
		if found[2] == "a" {
			if closed {
				return "](" + strings.Join(link, "") + ")"
			}
			if link = linkTo.FindStringSubmatch(found[3]); link != nil {
				link = link[1:]
			}
			return "["
		}
		if closed {
			return markdownOf[found[2]][1]
		}
		return markdownOf[found[2]][0]
	})
	markup = html.UnescapeString(markup)
	for _, block := range blocks {
		markup = strings.Replace(markup, "\x00", block, 1)
	}
	return strings.TrimLeft(blankRun.ReplaceAllString(markup, "\n\n"), "\n")
}
