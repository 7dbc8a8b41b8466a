package arch

import (
	"go/ast"
	"go/token"
	"regexp"
	"slices"
)

// testVariable matches the literal name of a variable of the tests.
var testVariable = regexp.MustCompile("^[\"`]TEST_[A-Z_]+[\"`]$")

// variableFaults finds variables of the tests that are named outside tests/testenv, which makes go's test cache miss in
// every run that sets some. tests/run, which sets them, may name them.
func variableFaults(s source) []string {
	if slices.Contains([]string{"tests/testenv", "tests/run", "tests/arch"}, s.dir()) {
		return nil
	}
	var faults []string
	ast.Inspect(s.file, func(n ast.Node) bool {
		if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING && testVariable.MatchString(literal.Value) {
			faults = append(faults, s.at(n)+": "+literal.Value+" is read through tests/testenv")
		}
		return true
	})
	return faults
}
