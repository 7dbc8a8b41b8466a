package arch

import (
	"fmt"
	"go/ast"
	"go/token"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// configurationHead begins docs/configuration.md.
const configurationHead = `# Configuration

Written from config/config.go by ` + "`go test ./tests/arch -update`" + `.

Configuration is environment variables only; an empty one counts as absent. A missing or contradictory setting stops the
start with one line per fault. A sandbox needs none. *required* means: in live.

A secret, which is one that is removed from the environment once it is read, may come from a file instead: the one that
the variable with ` + "`_FILE`" + ` behind its name leads to, as in ` + "`APP_SECRET_FILE`" + `, or else the file of the variable's name among the
credentials that systemd passes (` + "`LoadCredential=APP_SECRET:/etc/sundry/app_secret`" + `). A line break at its end is not
part of it. [operations](operations.md#secrets) has how to replace secrets.
`

// setting is a field of config.Config.
type setting struct {
	section, field, variable, fallback, text string
	secret                                   bool
}

// settingsOf reads the settings of a struct Config, parsed with its comments. A comment with nothing below it begins a
// section.
func settingsOf(file *ast.File) []setting {
	config := structNamed(file, "Config")
	if config == nil {
		return nil
	}
	attached := map[*ast.CommentGroup]bool{}
	for _, field := range config.Fields.List {
		attached[field.Doc] = true
	}
	section := func(at token.Pos) (name string) {
		for _, group := range file.Comments {
			if group.Pos() > config.Pos() && group.Pos() < at && !attached[group] {
				name = strings.TrimSpace(group.Text())
			}
		}
		return name
	}
	var all []setting
	for _, field := range config.Fields.List {
		if field.Tag == nil {
			continue // nobody sets it
		}
		literal, err := strconv.Unquote(field.Tag.Value)
		if err != nil {
			continue // the parser has refused it already
		}
		tag := reflect.StructTag(literal)
		variable, options, _ := strings.Cut(tag.Get("env"), ",")
		if variable == "-" {
			continue
		}
		all = append(all, setting{
			section: section(field.Pos()), field: field.Names[0].Name,
			variable: variable, fallback: tag.Get("envDefault"),
			text: strings.Join(strings.Fields(field.Doc.Text()), " "), secret: options == "unset",
		})
	}
	return all
}

func structNamed(file *ast.File, name string) (found *ast.StructType) {
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.TypeSpec); ok && spec.Name.Name == name {
			found, _ = spec.Type.(*ast.StructType)
		}
		return found == nil
	})
	return found
}

// configurationDocument writes the settings as docs/configuration.md. required lists the variables that live needs.
func configurationDocument(settings []setting, required []string) string {
	var b strings.Builder
	b.WriteString(configurationHead)
	section := ""
	for _, s := range settings {
		if s.section != section {
			section = s.section
			fmt.Fprintf(&b, "\n## %s\n\n| variable | default | |\n|---|---|---|\n", section)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", s.variable, s.defaultCell(required), s.sentence(settings))
	}
	return b.String()
}

func (s setting) defaultCell(required []string) string {
	switch {
	case slices.Contains(required, s.variable):
		return "*required*"
	case s.fallback != "":
		return "`" + s.fallback + "`"
	}
	return ""
}

// sentence returns what a setting is, with variables for the names of fields.
func (s setting) sentence(settings []setting) string {
	text := strings.TrimPrefix(s.text, s.field+" ")
	text = strings.TrimPrefix(strings.TrimPrefix(text, "is "), "are ")
	for _, other := range settings {
		text = regexp.MustCompile(`\b`+other.field+`\b`).ReplaceAllString(text, "`"+other.variable+"`")
	}
	if s.secret {
		text += " Removed from the environment once it is read."
	}
	return strings.ToUpper(text[:min(1, len(text))]) + text[min(1, len(text)):]
}
