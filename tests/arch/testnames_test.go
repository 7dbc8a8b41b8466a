package arch

import (
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var testName = regexp.MustCompile("`((?:Test|Fuzz)[A-Z]\\w*)`")

// TestDocumentsNameTests has each test that a document relies on be there.
func TestDocumentsNameTests(t *testing.T) {
	t.Parallel()
	all, err := load()
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]bool{}
	for _, s := range all {
		for _, declaration := range s.file.Decls {
			if f, ok := declaration.(*ast.FuncDecl); ok && s.isTest() && f.Recv == nil {
				there[f.Name.Name] = true
			}
		}
	}
	named := 0
	for _, document := range documents(t, root) {
		text, err := os.ReadFile(filepath.Join(root, document))
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range testName.FindAllStringSubmatch(string(text), -1) {
			named++
			if !there[match[1]] {
				t.Errorf("%s: there is no test %s", document, match[1])
			}
		}
	}
	if named < 50 || len(there) < 1000 || !strings.HasPrefix(testName.FindString("`TestX`"), "`TestX") {
		t.Errorf("looked up %d names among %d tests", named, len(there))
	}
}
