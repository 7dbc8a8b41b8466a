package arch

import (
	"go/ast"
	"go/token"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestVerifyLinesAreDocumented holds the table of docs/verify.md to the lines that `sundry verify` can print.
func TestVerifyLinesAreDocumented(t *testing.T) {
	t.Parallel()
	all, err := load()
	if err != nil {
		t.Fatal(err)
	}
	document, err := os.ReadFile(root + "/docs/verify.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]bool{}
	for line := range strings.Lines(string(document)) {
		if cells := strings.Split(line, " | "); len(cells) == 3 {
			documented[strings.TrimPrefix(cells[0], "| ")] = true
		}
	}
	delete(documented, "line") // the head
	verb := regexp.MustCompile(`%[sqd]`)
	printed := map[string]bool{}
	for _, s := range all {
		if s.isTest() {
			continue
		}
		for _, format := range violationsIn(s.file) {
			line := verb.ReplaceAllString(format, "…")
			printed[line] = true
			if !documented[line] {
				t.Errorf("%s: docs/verify.md has no row for %q", s.path, line)
			}
		}
	}
	if len(printed) < 45 {
		t.Errorf("found %d lines, expected at least 45", len(printed))
	}
	for line := range documented {
		if !printed[line] {
			t.Errorf("docs/verify.md explains %q, which is never printed", line)
		}
	}
}

// violationsIn returns the texts of type ports.Violation: constants, and messages of ports.Check.
func violationsIn(file *ast.File) (formats []string) {
	text := func(e ast.Expr) {
		if literal, ok := e.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			if format, err := strconv.Unquote(literal.Value); err == nil {
				formats = append(formats, format)
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ValueSpec:
			if kind, ok := n.Type.(*ast.SelectorExpr); ok && kind.Sel.Name == "Violation" {
				for _, value := range n.Values {
					text(value)
				}
			}
		case *ast.KeyValueExpr:
			if key, ok := n.Key.(*ast.Ident); ok && key.Name == "Message" && isCheck(file, n) {
				text(n.Value)
			}
		}
		return true
	})
	return formats
}

// isCheck reports whether a member belongs to an element of ports.Checks.
func isCheck(file *ast.File, member *ast.KeyValueExpr) (found bool) {
	ast.Inspect(file, func(n ast.Node) bool {
		list, ok := n.(*ast.CompositeLit)
		if !ok {
			return true
		}
		if kind, ok := list.Type.(*ast.SelectorExpr); ok && kind.Sel.Name == "Checks" {
			found = found || (list.Pos() < member.Pos() && member.Pos() < list.End())
		}
		return true
	})
	return found
}
