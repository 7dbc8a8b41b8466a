// Package arch holds the rules of ARCHITECTURE.md as tests: who may import whom, what the inner layers may not depend
// on, what may not happen inside a transaction, and that documents name what is there. It reads the source with
// go/parser and needs no type checker, so it takes seconds.
package arch

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// module is the path of the Go module, the prefix of its own imports.
const module = "sundry"

// source is one parsed Go file.
type source struct {
	// path is relative to the module's root, with slashes: core/id/id.go.
	path string
	set  *token.FileSet
	file *ast.File
}

// dir is the file's package folder, "." for the root.
func (s source) dir() string { return path.Dir(s.path) }

func (s source) isTest() bool { return strings.HasSuffix(s.path, "_test.go") }

// at returns where a node is, for messages.
func (s source) at(n ast.Node) string {
	return fmt.Sprintf("%s:%d", s.path, s.set.Position(n.Pos()).Line)
}

// parse reads one file. text may be nil: then the file itself is read.
func parse(set *token.FileSet, file, relative string, text any) (source, error) {
	parsed, err := parser.ParseFile(set, file, text, parser.SkipObjectResolution)
	return source{path: relative, set: set, file: parsed}, err
}

// root is the repository's folder, seen from here.
const root = "../.."

// load reads every Go file of the repository.
func load() ([]source, error) {
	var all []source
	set := token.NewFileSet()
	err := filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() && file != root && (strings.HasPrefix(name, ".") || name == "data" || name == "node_modules" ||
			name == "testdata") {
			return filepath.SkipDir
		}
		if entry.IsDir() || !strings.HasSuffix(name, ".go") {
			return nil
		}
		relative, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		s, err := parse(set, file, filepath.ToSlash(relative), nil)
		if err != nil {
			return err
		}
		all = append(all, s)
		return nil
	})
	return all, err
}

// packages groups files by folder.
func packages(all []source) map[string][]source {
	byDir := map[string][]source{}
	for _, s := range all {
		byDir[s.dir()] = append(byDir[s.dir()], s)
	}
	return byDir
}

// imports lists a file's imports: path by the name the file knows it under.
func imports(s source) map[string]string {
	names := map[string]string{}
	for _, spec := range s.file.Imports {
		importPath, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue // the parser has refused it already
		}
		names[importName(spec, importPath)] = importPath
	}
	return names
}

// importName is the alias, or what the path's last element makes likely: v2 and the like name no package.
func importName(spec *ast.ImportSpec, importPath string) string {
	if spec.Name != nil && spec.Name.Name != "_" && spec.Name.Name != "." {
		return spec.Name.Name
	}
	base := path.Base(importPath)
	if len(base) > 1 && base[0] == 'v' && strings.Trim(base[1:], "0123456789") == "" {
		base = path.Base(path.Dir(importPath))
	}
	return base
}

// selected splits pkg.Name into its import path and name; ok is false for any other expression.
func selected(names map[string]string, n ast.Node) (importPath, name string, ok bool) {
	sel, isSelector := n.(*ast.SelectorExpr)
	if !isSelector {
		return "", "", false
	}
	ident, isIdent := sel.X.(*ast.Ident)
	if !isIdent {
		return "", "", false
	}
	importPath, ok = names[ident.Name]
	return importPath, sel.Sel.Name, ok
}
