package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
)

// Mutation is one small change of a file that some test should notice.
type Mutation struct {
	// File is the path of the file, Func the function or type that the change is in.
	File, Func string
	Line       int
	// Change describes the change, such as "n < 0" → "n <= 0".
	Change string
	// from and to are the bytes that text takes the place of.
	from, to int
	text     string
}

// ID names the mutation without a line number, so that it survives edits elsewhere in its file.
func (m Mutation) ID() string { return m.File + " " + m.Func + " " + m.Change }

// Apply returns the changed source.
func (m Mutation) Apply(source []byte) []byte {
	return slices.Concat(source[:m.from], []byte(m.text), source[m.to:])
}

// finder collects the mutations of one file.
type finder struct {
	file   string
	source []byte
	set    *token.FileSet
	found  []Mutation
	inFunc string
	// results are the result types of the function around, outermost first.
	results [][]string
}

// Find lists the mutations of a file. Not all of them compile: anyone who runs them finds out.
func Find(file string, source []byte) ([]Mutation, error) {
	f := &finder{file: file, source: source, set: token.NewFileSet()}
	parsed, err := parser.ParseFile(f.set, file, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	for _, decl := range parsed.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			f.function(d)
		case *ast.GenDecl:
			f.inFunc = d.Tok.String()
			if d.Tok == token.CONST || d.Tok == token.VAR {
				ast.Inspect(d, f.visit)
			}
		}
	}
	numberRepeats(f.found)
	return f.found, nil
}

// numberRepeats makes the changes of one function that read the same distinct.
func numberRepeats(found []Mutation) {
	seen := map[string]int{}
	for i := range found {
		id := found[i].ID()
		seen[id]++
		if n := seen[id]; n > 1 {
			found[i].Change += fmt.Sprintf(" (%d)", n)
		}
	}
}

func (f *finder) function(d *ast.FuncDecl) {
	if d.Body == nil {
		return
	}
	f.inFunc = d.Name.Name
	if d.Recv != nil {
		f.inFunc = strings.TrimPrefix(f.text(d.Recv.List[0].Type), "*") + "." + f.inFunc
	}
	f.results = [][]string{f.resultTypes(d.Type)}
	ast.Inspect(d.Body, f.visit)
}

func (f *finder) resultTypes(fn *ast.FuncType) []string {
	var types []string
	if fn.Results == nil {
		return nil
	}
	for _, field := range fn.Results.List {
		for range max(1, len(field.Names)) {
			types = append(types, f.text(field.Type))
		}
	}
	return types
}

// text is the source of a node.
func (f *finder) text(n ast.Node) string {
	return string(f.source[f.offset(n.Pos()):f.offset(n.End())])
}

func (f *finder) offset(p token.Pos) int { return f.set.Position(p).Offset }

// add records that a node's source becomes text; change describes it to a reader.
func (f *finder) add(n ast.Node, text, change string) {
	f.addBetween(n.Pos(), n.End(), text, change)
}

func (f *finder) addBetween(from, to token.Pos, text, change string) {
	f.found = append(f.found, Mutation{
		File: f.file, Func: f.inFunc, Line: f.set.Position(from).Line, Change: change, from: f.offset(from),
		to: f.offset(to), text: text,
	})
}

// excerpt is the node's source on one short line.
func (f *finder) excerpt(n ast.Node) string {
	const most = 60
	runes := []rune(strings.Join(strings.Fields(f.text(n)), " "))
	if len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return string(runes)
}

func (f *finder) visit(n ast.Node) bool {
	switch node := n.(type) {
	case *ast.FuncLit:
		f.results = append(f.results, f.resultTypes(node.Type))
		ast.Inspect(node.Body, f.visit)
		f.results = f.results[:len(f.results)-1]
		return false
	case *ast.IfStmt:
		f.condition("if", node.Cond)
	case *ast.ForStmt:
		if node.Cond != nil {
			f.add(node.Cond, "false && ("+f.text(node.Cond)+")", "for "+f.excerpt(node.Cond)+" → never")
		}
	case *ast.CaseClause:
		f.caseClause(node)
	case *ast.BinaryExpr:
		f.binary(node)
	case *ast.BasicLit:
		f.literal(node)
	case *ast.ReturnStmt:
		f.returned(node)
	case *ast.AssignStmt:
		if node.Tok != token.DEFINE {
			f.deleted(node)
		}
	case *ast.ExprStmt, *ast.IncDecStmt, *ast.BranchStmt:
		f.deleted(node)
	case *ast.ImportSpec, *ast.Field:
		return false // tags and paths
	}
	return true
}

// condition decides a condition one way and the other, without evaluating it.
func (f *finder) condition(kind string, cond ast.Expr) {
	text := f.text(cond)
	f.add(cond, "false && ("+text+")", kind+" "+f.excerpt(cond)+" → never")
	f.add(cond, "true || ("+text+")", kind+" "+f.excerpt(cond)+" → always")
}

// caseClause empties a case.
func (f *finder) caseClause(clause *ast.CaseClause) {
	if len(clause.Body) == 0 {
		return
	}
	name := "default"
	if len(clause.List) > 0 {
		name = "case " + f.excerpt(clause.List[0])
	}
	first, last := clause.Body[0], clause.Body[len(clause.Body)-1]
	f.addBetween(
		first.Pos(), last.End(), "if false {\n"+string(f.source[f.offset(first.Pos()):f.offset(last.End())])+"\n}",
		name+" → does nothing",
	)
}

// swaps are the operators and what each becomes: boundaries shift, equality and arithmetic turn round.
var swaps = map[token.Token]token.Token{
	token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR, token.EQL: token.NEQ,
	token.NEQ: token.EQL,
	token.ADD: token.SUB, token.SUB: token.ADD, token.MUL: token.QUO, token.QUO: token.MUL, token.REM: token.MUL,
	token.SHL: token.SHR, token.SHR: token.SHL, token.AND: token.OR, token.OR: token.AND,
}

func (f *finder) binary(e *ast.BinaryExpr) {
	switch e.Op {
	case token.LAND, token.LOR:
		f.operand(e, e.X)
		f.operand(e, e.Y)
	default:
		if to, ok := swaps[e.Op]; ok {
			from, end := e.OpPos, e.OpPos+token.Pos(len(e.Op.String()))
			f.addBetween(from, end, to.String(), f.excerpt(e)+": "+e.Op.String()+" → "+to.String())
		}
	}
}

// operand leaves one operand of && or || out. A chain of the same operator loses its operands one by one.
func (f *finder) operand(e *ast.BinaryExpr, operand ast.Expr) {
	if inner, ok := operand.(*ast.BinaryExpr); ok && inner.Op == e.Op {
		return
	}
	neutral := "(true || ("
	if e.Op == token.LOR {
		neutral = "(false && ("
	}
	f.add(operand, neutral+f.text(operand)+"))", f.excerpt(operand)+" → left out of "+e.Op.String())
}

// literal makes an integer one larger.
func (f *finder) literal(l *ast.BasicLit) {
	if l.Kind != token.INT {
		return
	}
	n, err := strconv.ParseInt(l.Value, 0, 64)
	if err != nil {
		return // larger than 64 bits
	}
	f.add(l, strconv.FormatInt(n+1, 10), l.Value+" → "+strconv.FormatInt(n+1, 10))
}

// zeros maps a type to the value that replaces a dropped result.
var zeros = map[string]string{
	"error": "nil", "string": `""`, "int": "0", "int64": "0", "time.Time": "time.Time{}", "time.Duration": "0",
}

// returned drops each result of a return, and turns booleans round.
func (f *finder) returned(r *ast.ReturnStmt) {
	types := f.results[len(f.results)-1]
	if len(r.Results) != len(types) {
		return // a bare return, or the results of one call
	}
	for i, result := range r.Results {
		text := f.text(result)
		switch zero := zeros[types[i]]; {
		case types[i] == "bool" && text == "true":
			f.add(result, "false", f.excerpt(r)+" → turned round")
		case types[i] == "bool":
			f.add(result, "!("+text+")", f.excerpt(r)+" → turned round")
		case zero != "" && zero != text:
			f.add(result, zero, f.excerpt(r)+" → "+zero+" for "+f.excerpt(result))
		}
	}
}

// deleted keeps a statement from running; what it mentions stays in use.
func (f *finder) deleted(s ast.Node) {
	f.add(s, "if false { "+f.text(s)+" }", f.excerpt(s)+" → deleted")
}
