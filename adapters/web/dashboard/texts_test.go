package dashboard

import (
	"encoding/json"
	"go/ast"
	"go/constant"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"sundry/adapters/web/dashboard/ui"
	core "sundry/core/identity"
	"sundry/core/listingtype"
)

const uiPath = "sundry/adapters/web/dashboard/ui"

// source is a package of the dashboard with its types.
type source struct {
	fset  *token.FileSet
	files []*ast.File
	info  *types.Info
}

// loadSource type-checks a package against the compiled ones that it imports.
func loadSource(t *testing.T, path, folder string, exports map[string]string) source {
	t.Helper()
	s := source{fset: token.NewFileSet(), info: &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{},
	}}
	names, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(s.fset, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		s.files = append(s.files, file)
	}
	config := types.Config{Importer: importer.ForCompiler(s.fset, "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(exports[path])
	})}
	if _, err := config.Check(path, s.fset, s.files, s.info); err != nil {
		t.Fatal(err)
	}
	return s
}

// loadSources returns the dashboard's two packages.
func loadSources(t *testing.T) []source {
	t.Helper()
	list, err := exec.CommandContext(t.Context(), "go", "list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}",
		".").Output()
	if err != nil {
		t.Fatal(err)
	}
	exports := map[string]string{}
	for line := range strings.Lines(string(list)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		exports[path] = file
	}
	return []source{loadSource(t, "sundry/adapters/web/dashboard", ".", exports), loadSource(t, uiPath, "ui", exports)}
}

// isWords reports whether a type is ui.Words.
func isWords(of types.Type) bool { return of != nil && of.String() == uiPath+".Words" }

// text returns the constant that an expression is; ok is false for any other expression.
func (s source) text(e ast.Expr) (text string, ok bool) {
	value := s.info.Types[e].Value
	if value == nil || value.Kind() != constant.String {
		return "", false
	}
	return constant.StringVal(value), true
}

// called returns the function or method that is called, such as ui.Data or visit.say.
func (s source) called(call *ast.CallExpr) string {
	name := call.Fun
	if selector, ok := name.(*ast.SelectorExpr); ok {
		name = selector.Sel
	}
	ident, ok := name.(*ast.Ident)
	if !ok {
		return ""
	}
	f, ok := s.info.Uses[ident].(*types.Func)
	if !ok {
		return ""
	}
	return strings.NewReplacer("sundry/adapters/web/dashboard/", "", "sundry/adapters/web/", "", "(*", "", ")", "").
		Replace(f.FullName())
}

var (
	verb     = regexp.MustCompile(`%(\[\d+\])?[a-z]`)
	saidHere = regexp.MustCompile(`\bsay ("(?:[^"\\]|\\.)*")`)
	// converted are the functions that make Words of texts that are not constants: refusals, which are English, texts
	// of core, and what was Words before.
	converted = []string{"reasonOf", "Refuse", "takeFlash", "Data", "Choices", "typeOptions", "listingFacts", "cure",
		"newListing", "newListingPage", "listingList", "rolesPart", "newLink", "flash"}
)

// hasLetters reports whether there is something to translate in a text.
func hasLetters(text string) bool {
	return strings.ContainsFunc(verb.ReplaceAllString(text, ""), unicode.IsLetter)
}

// collected are the texts of the dashboard, each with a place where it is used.
type collected struct {
	t     *testing.T
	texts map[string]string
}

func (all collected) add(text, place string) {
	if hasLetters(text) {
		all.texts[text] = place
	}
}

// inCode collects the constants that are Words, and refuses what escapes the collection.
func (all collected) inCode(s source) {
	for _, file := range s.files {
		var function string
		ast.Inspect(file, func(n ast.Node) bool {
			if f, ok := n.(*ast.FuncDecl); ok {
				function = f.Name.Name
			}
			e, ok := n.(ast.Expr)
			if !ok {
				return true
			}
			place := s.fset.Position(e.Pos()).String()
			if text, ok := s.text(e); ok && isWords(s.info.Types[e].Type) {
				all.add(text, place)
				return false
			}
			switch e := e.(type) {
			case *ast.BinaryExpr:
				if e.Op == token.ADD && isWords(s.info.Types[e].Type) {
					all.t.Errorf("%s: a sum of Words has no translation: use say", place)
				}
			case *ast.CallExpr:
				all.inCall(s, e, function, place)
			}
			return true
		})
	}
}

func (all collected) inCall(s source, call *ast.CallExpr, function, place string) {
	if s.info.Types[call.Fun].IsType() {
		if isWords(s.info.Types[call].Type) && !slices.Contains(converted, function) {
			all.t.Errorf("%s: only a constant is Words without Data", place)
		}
		return
	}
	var values []ast.Expr // that are shown as they are
	switch s.called(call) {
	case "ui.Choices":
		for i := 2; i < len(call.Args); i += 2 {
			text, ok := s.text(call.Args[i])
			if !ok {
				all.t.Errorf("%s: a label of Choices is a constant", place)
			}
			all.add(text, place)
		}
	case "ui.Data", "ui.Text", "ui.TextLink":
		values = call.Args[:1]
	case "dashboard.visit.say", "dashboard.visit.text", "dashboard.visit.plural":
		values = call.Args
	}
	for _, value := range values {
		if text, ok := s.text(value); ok && !isWords(s.info.Types[value].Type) && hasLetters(text) {
			all.t.Errorf("%s: %q is never translated: use ui.Label, or Words", place, text)
		}
	}
}

// inTemplates collects the texts of the templates, and refuses those that are not said.
func (all collected) inTemplates() {
	names, err := filepath.Glob("templates/*.html")
	if err != nil || len(names) == 0 {
		all.t.Fatal(err, names)
	}
	tag, action := regexp.MustCompile(`<[^>]*>`), regexp.MustCompile(`\{\{[^}]*\}\}`)
	attribute := regexp.MustCompile(` (?:aria-label|placeholder|title|alt)="([^"{]*[a-zA-Z][^"{]*)"`)
	other := regexp.MustCompile(` [a-z-]+="[^"]*"`)
	for _, name := range names {
		raw, err := os.ReadFile(name)
		if err != nil {
			all.t.Fatal(err)
		}
		for _, m := range saidHere.FindAllStringSubmatch(string(raw), -1) {
			text, err := strconv.Unquote(m[1])
			if err != nil {
				all.t.Fatal(err)
			}
			all.add(text, name)
		}
		plain := action.ReplaceAllString(string(raw), "")
		for _, m := range attribute.FindAllStringSubmatch(plain, -1) {
			all.t.Errorf("%s: the attribute %q is never translated", name, m[1])
		}
		for line := range strings.Lines(tag.ReplaceAllString(other.ReplaceAllString(plain, ""), "\n")) {
			if line = strings.TrimSpace(line); hasLetters(line) && line != "Sundry" && line != "UTC" {
				all.t.Errorf("%s: %q is never translated", name, line)
			}
		}
	}
}

// inScripts collects the texts of the scripts, which the page translates for them.
func (all collected) inScripts() {
	names, err := filepath.Glob("static/js/*.js")
	if err != nil || len(names) == 0 {
		all.t.Fatal(err, names)
	}
	said := map[ui.Words]bool{}
	for _, name := range names {
		raw, err := os.ReadFile(name)
		if err != nil {
			all.t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`\bsay\("([^"]+)"\)`).FindAllStringSubmatch(string(raw), -1) {
			said[ui.Words(m[1])] = true
		}
	}
	for _, words := range scriptWords {
		if !said[words] {
			all.t.Errorf("no script says %q", words)
		}
		delete(said, words)
	}
	for words := range said {
		all.t.Errorf("a script says %q, which its page does not translate", words)
	}
}

// collectTexts returns every text that the dashboard shows, with a place where it is used.
func collectTexts(t *testing.T) map[string]string {
	t.Helper()
	all := collected{t, map[string]string{}}
	for _, s := range loadSources(t) {
		all.inCode(s)
	}
	all.inTemplates()
	all.inScripts()
	for _, kind := range listingtype.All() {
		all.add(kind.Label(), "core/listingtype")
		all.add(kind.Example(), "core/listingtype")
	}
	for _, area := range core.Areas() {
		all.add(area.Name, "core/identity")
	}
	return all.texts
}

func readCatalog(t *testing.T, name string) map[string]string {
	t.Helper()
	raw, err := os.ReadFile("ui/" + name + ".json")
	texts := map[string]string{}
	if err == nil {
		err = json.Unmarshal(raw, &texts)
	}
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

// values lists the verbs of a format by the number of their value: 1d, 2s.
func values(format string) (all []string) {
	next := 1
	for _, m := range verb.FindAllStringSubmatch(strings.ReplaceAll(format, "%%", ""), -1) {
		if m[1] != "" {
			next, _ = strconv.Atoi(strings.Trim(m[1], "[]"))
		}
		all = append(all, strconv.Itoa(next)+m[0][len(m[0])-1:])
		next++
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// TestEveryTextIsTranslated: a text without its translation would be English on a page in another language.
func TestEveryTextIsTranslated(t *testing.T) {
	t.Parallel()
	texts := collectTexts(t)
	if len(texts) < 1200 {
		t.Errorf("%d texts were found", len(texts))
	}
	for _, language := range []string{"de", "fr"} {
		catalog := readCatalog(t, "texts/"+language)
		for _, text := range slices.Sorted(maps.Keys(texts)) {
			translated, ok := catalog[text]
			switch {
			case !ok:
				t.Errorf("%s: %s has no translation of %q", texts[text], language, text)
			case translated == "":
				t.Errorf("%s: the translation of %q is empty", language, text)
			}
		}
		for text, translated := range catalog {
			if texts[text] == "" {
				t.Errorf("%s: nothing uses %q", language, text)
			}
			if got, want := values(translated), values(text); !slices.Equal(got, want) {
				t.Errorf("%s: %q has the values %v, want %v of %q", language, translated, got, want, text)
			}
		}
	}
}
