package arch

import (
	"fmt"
	"go/ast"
	"go/token"
	"strconv"
	"time"
)

// durations are the constants of a package whose value is a length of time, and those of package ports as ports.Name.
type durations map[string]ast.Expr

// durationsOf collects the constants that a package can name.
func durationsOf(all []source, dir string) durations {
	found := durations{}
	for _, s := range all {
		prefix := ""
		if s.dir() == "ports" && dir != "ports" {
			prefix = "ports."
		} else if s.dir() != dir {
			continue
		}
		if s.isTest() {
			continue
		}
		for _, decl := range s.file.Decls {
			group, ok := decl.(*ast.GenDecl)
			if !ok || group.Tok != token.CONST {
				continue
			}
			for _, spec := range group.Specs {
				if value, ok := spec.(*ast.ValueSpec); ok && len(value.Values) == len(value.Names) {
					for i, name := range value.Names {
						found[prefix+name.Name] = value.Values[i]
					}
				}
			}
		}
	}
	return found
}

// units are the lengths of package time.
var units = map[string]time.Duration{"Millisecond": time.Millisecond, "Second": time.Second, "Minute": time.Minute,
	"Hour": time.Hour}

// value computes a constant from numbers, units of package time, other constants of the package, and + - *.
func (d durations) value(e ast.Expr) (time.Duration, error) {
	switch x := e.(type) {
	case *ast.BasicLit:
		n, err := strconv.ParseInt(x.Value, 0, 64)
		return time.Duration(n), err
	case *ast.ParenExpr:
		return d.value(x.X)
	case *ast.Ident:
		return d.named(x.Name)
	case *ast.SelectorExpr:
		if unit, ok := units[x.Sel.Name]; ok {
			return unit, nil
		}
		if of, ok := x.X.(*ast.Ident); ok && of.Name == "ports" {
			return d.named("ports." + x.Sel.Name)
		}
	case *ast.BinaryExpr:
		left, err := d.value(x.X)
		if err != nil {
			return 0, err
		}
		right, err := d.value(x.Y)
		switch x.Op {
		case token.ADD:
			return left + right, err
		case token.SUB:
			return left - right, err
		case token.MUL:
			return left * right, err //nolint:durationcheck // one of the two is a bare number, as in 2 * time.Second
		default:
		}
	}
	return 0, fmt.Errorf("an expression of type %T that this test cannot compute", e)
}

// named computes one constant. A name that the package does not have is an error.
func (d durations) named(name string) (time.Duration, error) {
	e, ok := d[name]
	if !ok {
		return 0, fmt.Errorf("there is no constant %s", name)
	}
	return d.value(e)
}
