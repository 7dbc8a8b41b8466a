package dashboard

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

// fold joins the literals of a sum; %s is in the place of what is no literal. ok is false for what has none.
func fold(e ast.Expr) (text string, ok bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind != token.STRING {
			return "", false
		}
		text, err := strconv.Unquote(e.Value)
		return text, err == nil
	case *ast.BinaryExpr:
		left, isLeft := fold(e.X)
		right, isRight := fold(e.Y)
		if !isLeft {
			left = "%s"
		}
		if !isRight {
			right = "%s"
		}
		return left + right, e.Op == token.ADD && (isLeft || isRight)
	}
	return "", false
}

// sentences are the texts of folders that may be refusals: they begin with a capital letter and end with a full stop.
func sentences(t *testing.T, folders ...string) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	visit := func(n ast.Node) bool {
		e, ok := n.(ast.Expr)
		if !ok {
			return true
		}
		text, ok := fold(e)
		if ok && text != "" && unicode.IsUpper(rune(text[0])) && strings.HasSuffix(strings.TrimSpace(text), ".") {
			found[text] = true
		}
		return !ok
	}
	for _, folder := range folders {
		err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err == nil {
				ast.Inspect(file, visit)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return found
}

// TestTranslatedRefusalsAreGiven holds the catalogs of refusals to the use cases that refuse.
func TestTranslatedRefusalsAreGiven(t *testing.T) {
	t.Parallel()
	given := sentences(t, "../../../core", "../../../modules", "../../imaging", ".")
	if len(given) < 500 {
		t.Fatalf("%d sentences were found", len(given))
	}
	var formats []*regexp.Regexp
	for _, text := range slices.Sorted(maps.Keys(given)) {
		if verb.MatchString(text) {
			parts := verb.Split(text, -1)
			for i := range parts {
				parts[i] = regexp.QuoteMeta(parts[i])
			}
			formats = append(formats, regexp.MustCompile("^"+strings.Join(parts, ".+")+"$"))
		}
	}
	german, french := readCatalog(t, "refusals/de"), readCatalog(t, "refusals/fr")
	for text := range german {
		if french[text] == "" {
			t.Errorf("French lacks %q", text)
		}
		if !given[text] && !slices.ContainsFunc(formats, func(f *regexp.Regexp) bool { return f.MatchString(text) }) {
			t.Errorf("nothing refuses with %q", text)
		}
	}
	for text, translated := range french {
		if german[text] == "" {
			t.Errorf("German lacks %q", text)
		}
		for _, translation := range []string{translated, german[text]} {
			if got, want := values(translation), values(text); !slices.Equal(got, want) {
				t.Errorf("%q has the values %v, want %v of %q", translation, got, want, text)
			}
		}
	}
}

// TestRefusalsOfTheDashboardAreTranslated: its own, of what it cannot read, are for people alone.
func TestRefusalsOfTheDashboardAreTranslated(t *testing.T) {
	t.Parallel()
	german := readCatalog(t, "refusals/de")
	texts := collectTexts(t)
	own := sentences(t, ".")
	for text := range own {
		if texts[text] == "" && german[text] == "" {
			t.Errorf("%q is neither Words nor a translated refusal", text)
		}
	}
	if !own["Expected a whole number."] {
		t.Error("the refusals of the dashboard were not found")
	}
}
