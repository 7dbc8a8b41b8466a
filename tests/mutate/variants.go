package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
)

// selector is the variable that the one binary reads to learn which mutation it is to run.
const selector = "SUNDRY_MUTATION"

// selected declares the variable that every mutated function switches on, in a file of its own.
const selected = `package %s

import (
	mutationOS "os"
	mutationStrconv "strconv"
)

var selectedMutation, _ = mutationStrconv.Atoi(mutationOS.Getenv("` + selector + `"))
`

// numbered is a mutation with the number that selects it; numbers begin with 1, so that 0 is the unchanged package.
type numbered struct {
	Mutation
	number int
}

// variant locates the copy of a function with one mutation in the rewritten file.
type variant struct {
	number, fromLine, toLine int
}

// rewritten is a file that holds every mutation of its functions: each as a copy of its function, which the function
// calls when that mutation is selected. So one build serves all of them.
type rewritten struct {
	source   []byte
	variants []variant
	// left are the mutations outside functions, which need a build each.
	left []numbered
}

// at returns the number of the variant at a line of the rewritten file, or 0.
func (r rewritten) at(line int) int {
	for _, v := range r.variants {
		if v.fromLine <= line && line <= v.toLine {
			return v.number
		}
	}
	return 0
}

// rewrite puts the mutations of a file into one source.
func rewrite(file string, source []byte, mutations []numbered) (rewritten, error) {
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, file, source, parser.SkipObjectResolution)
	if err != nil {
		return rewritten{}, err
	}
	offset := func(p token.Pos) int { return set.Position(p).Offset }
	var result rewritten
	var edits []edit
	var copies []byte
	line := bytes.Count(source, []byte("\n")) + 2
	remaining := slices.Clone(mutations)
	for _, decl := range parsed.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if !ok || fn.Body == nil || fn.Name.Name == "init" || fn.Name.Name == "main" {
			continue
		}
		f := newFunction(fn, offset)
		var cases strings.Builder
		remaining = slices.DeleteFunc(remaining, func(m numbered) bool {
			if m.from < f.body || m.to > f.end {
				return false
			}
			fmt.Fprintf(&cases, "case %d: %s; ", m.number, f.call(m.number))
			text := append(f.copyOf(source, m), '\n')
			lines := bytes.Count(text, []byte("\n"))
			result.variants = append(result.variants, variant{m.number, line, line + lines - 1})
			line += lines
			copies = append(copies, text...)
			return true
		})
		if cases.Len() > 0 {
			// On the line of the opening brace: the lines of the file keep their numbers.
			edits = append(append(edits, f.names...), edit{
				f.body, f.body, " switch selectedMutation { " + cases.String() + "}; ",
			})
		}
	}
	result.left = remaining
	result.source = slices.Concat(applyEdits(source, 0, edits), []byte("\n"), copies)
	return result, nil
}

// edit replaces the bytes of a source between two offsets.
type edit struct {
	from, to int
	text     string
}

// applyEdits applies edits, whose offsets are those of a larger source, to the part of it that starts at an offset.
func applyEdits(part []byte, start int, edits []edit) []byte {
	var out []byte
	done := 0
	for _, e := range edits {
		out = append(append(out, part[done:e.from-start]...), e.text...)
		done = e.to - start
	}
	return append(out, part[done:]...)
}

// function is a declaration whose parameters all have names, so that it can be called with its own arguments.
type function struct {
	name           string
	from, nameFrom int
	nameTo         int
	body, end      int // right after the opening brace, and after the closing one
	names          []edit
	receiver       string
	typeParameters []string
	arguments      []string
	results        bool
}

func newFunction(fn *ast.FuncDecl, offset func(token.Pos) int) function {
	f := function{
		name: fn.Name.Name, from: offset(fn.Type.Func), nameFrom: offset(fn.Name.Pos()), nameTo: offset(fn.Name.End()),
		body: offset(fn.Body.Lbrace) + 1, end: offset(fn.Body.End()), results: fn.Type.Results != nil,
	}
	if fn.Recv != nil {
		f.receiver = f.named(fn.Recv, offset)[0] + "."
	}
	if fn.Type.TypeParams != nil {
		f.typeParameters = f.named(fn.Type.TypeParams, offset)
	}
	f.arguments = f.named(fn.Type.Params, offset)
	if n := len(fn.Type.Params.List); n > 0 {
		if _, variadic := fn.Type.Params.List[n-1].Type.(*ast.Ellipsis); variadic {
			f.arguments[len(f.arguments)-1] += "..."
		}
	}
	return f
}

// named returns the names of the parameters, after naming those that have none.
func (f *function) named(fields *ast.FieldList, offset func(token.Pos) int) []string {
	var all []string
	for _, field := range fields.List {
		if len(field.Names) == 0 {
			name := "unnamed" + strconv.Itoa(len(f.names))
			f.names = append(f.names, edit{offset(field.Type.Pos()), offset(field.Type.Pos()), name + " "})
			all = append(all, name)
		}
		for _, ident := range field.Names {
			name := ident.Name
			if name == "_" {
				name = "unnamed" + strconv.Itoa(len(f.names))
				f.names = append(f.names, edit{offset(ident.Pos()), offset(ident.End()), name})
			}
			all = append(all, name)
		}
	}
	return all
}

func (f *function) mutated(number int) string { return f.name + "Mutation" + strconv.Itoa(number) }

// call runs the copy with a mutation in place of the function.
func (f *function) call(number int) string {
	name := f.receiver + f.mutated(number)
	if len(f.typeParameters) > 0 {
		name += "[" + strings.Join(f.typeParameters, ", ") + "]"
	}
	call := name + "(" + strings.Join(f.arguments, ", ") + ")"
	if f.results {
		return "return " + call
	}
	return call + "; return"
}

// copyOf is the function under another name with one mutation.
func (f *function) copyOf(source []byte, m numbered) []byte {
	edits := append(slices.Clone(f.names), edit{f.nameFrom, f.nameTo, f.mutated(m.number)}, edit{m.from, m.to, m.text})
	slices.SortFunc(edits, func(a, b edit) int { return a.from - b.from })
	return applyEdits(source[f.from:f.end], f.from, edits)
}
