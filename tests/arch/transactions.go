package arch

import (
	"go/ast"
	"slices"
)

// networkPorts are the interfaces of package ports that embed its Network: a transaction that waited for one would hold
// its locks meanwhile, and Atomically may run it twice.
func networkPorts(all []source) []string {
	var names []string
	for _, s := range all {
		if s.dir() != "ports" {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			if methods, isInterface := spec.Type.(*ast.InterfaceType); isInterface && embeds(methods, "Network") {
				names = append(names, spec.Name.Name)
			}
			return false
		})
	}
	return names
}

// embeds reports whether an interface embeds the one of that name.
func embeds(methods *ast.InterfaceType, name string) bool {
	return slices.ContainsFunc(methods.Methods.List, func(field *ast.Field) bool {
		ident, ok := field.Type.(*ast.Ident)
		return ok && len(field.Names) == 0 && ident.Name == name
	})
}

// packageScan collects the declarations of one package that the rules about transactions need.
type packageScan struct {
	// ports are the network ports.
	ports []string
	// network names the fields, parameters and variables whose type is a network port.
	network map[string]bool
	// bodies are the package's functions and methods by name. Two methods of one name share an entry: the rule is
	// then a little too strict, never too lax.
	bodies map[string][]*ast.BlockStmt
	// reaching are the functions that call a network port, directly or through others of the package, outside any
	// transaction of their own.
	reaching map[string]bool
}

// transactionFaults finds network ports called inside a transaction in one package of modules/: in a function given to
// Atomically, or in a function that is handed the transaction's ports.Repos.
func transactionFaults(files []source, network []string) []string {
	var scanned []source
	for _, s := range files {
		if locate(s.dir()).layer == modules && !s.isTest() {
			scanned = append(scanned, s)
		}
	}
	scan := scanPackage(scanned, network)
	var faults []string
	for _, s := range scanned {
		names := imports(s)
		ast.Inspect(s.file, func(n ast.Node) bool {
			body := transactionBody(names, n)
			if body == nil {
				return true
			}
			ast.Inspect(body, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok {
					if callee := scan.networkCall(call); callee != "" {
						faults = append(faults, s.at(call)+": "+callee+" waits for the network inside a transaction")
					}
				}
				return true
			})
			return true
		})
	}
	slices.Sort(faults)
	return slices.Compact(faults) // a closure inside a function that has Repos is seen twice
}

// transactionBody is the body that runs inside a transaction when n begins one or is handed one; else nil.
func transactionBody(names map[string]string, n ast.Node) *ast.BlockStmt {
	switch fn := n.(type) {
	case *ast.FuncDecl:
		if reposParameter(names, fn.Type) != "" {
			return fn.Body
		}
	case *ast.FuncLit:
		if reposParameter(names, fn.Type) != "" {
			return fn.Body
		}
	case *ast.CallExpr:
		if sel, ok := fn.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == "Atomically" && len(fn.Args) > 0 {
			if lit, ok := fn.Args[len(fn.Args)-1].(*ast.FuncLit); ok {
				return lit.Body
			}
		}
	}
	return nil
}

// reposParameter is the name of a function's parameter of type ports.Repos, "" without one.
func reposParameter(names map[string]string, fn *ast.FuncType) string {
	for _, field := range fn.Params.List {
		if isPort(names, field.Type, []string{"Repos"}) {
			if len(field.Names) == 0 {
				return "_"
			}
			return field.Names[0].Name
		}
	}
	return ""
}

// isPort reports whether a type expression is ports.X for one of the given X.
func isPort(names map[string]string, typ ast.Expr, wanted []string) bool {
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	importPath, name, ok := selected(names, typ)
	return ok && importPath == module+"/ports" && slices.Contains(wanted, name)
}

func scanPackage(files []source, network []string) packageScan {
	scan := packageScan{
		ports: network, network: map[string]bool{}, bodies: map[string][]*ast.BlockStmt{}, reaching: map[string]bool{},
	}
	for _, port := range network { // ports.Provider names its members by their types
		scan.network[port] = true
	}
	for _, s := range files {
		names := imports(s)
		ast.Inspect(s.file, func(n ast.Node) bool {
			switch node := n.(type) {
			case *ast.Field:
				if isPort(names, node.Type, network) {
					scan.note(node)
				}
			case *ast.FuncDecl:
				scan.bodies[node.Name.Name] = append(scan.bodies[node.Name.Name], node.Body)
			}
			return true
		})
	}
	for grew := true; grew; {
		grew = false
		for name, bodies := range scan.bodies {
			if !scan.reaching[name] && slices.ContainsFunc(bodies, scan.reaches) {
				scan.reaching[name], grew = true, true
			}
		}
	}
	return scan
}

// note remembers what a struct field or parameter of a network port's type is called.
func (p packageScan) note(field *ast.Field) {
	for _, name := range field.Names {
		p.network[name.Name] = true
	}
	if sel, ok := field.Type.(*ast.SelectorExpr); ok && len(field.Names) == 0 { // embedded
		p.network[sel.Sel.Name] = true
	}
}

// reaches reports whether a body makes a network call.
func (p packageScan) reaches(body *ast.BlockStmt) bool {
	found := false
	if body == nil {
		return false
	}
	ast.Inspect(body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && p.networkCall(call) != "" {
			found = true
		}
		return !found
	})
	return found
}

// networkCall names the network call that an expression is, "" when it is none: s.processor.Charge(…), a function of
// ports that is given one, or a function of this package that makes one.
func (p packageScan) networkCall(call *ast.CallExpr) string {
	for _, arg := range call.Args { // ports.Processor.Charge, to be called there
		if method, ok := arg.(*ast.SelectorExpr); ok {
			if port, ok := method.X.(*ast.SelectorExpr); ok && lastName(port.X) == "ports" &&
				slices.Contains(p.ports, port.Sel.Name) {
				return port.Sel.Name + "." + method.Sel.Name
			}
		}
	}
	switch fn := call.Fun.(type) {
	case *ast.Ident:
		if p.reaching[fn.Name] {
			return fn.Name
		}
	case *ast.SelectorExpr:
		receiver := lastName(fn.X)
		given := func(arg ast.Expr) bool { return p.network[lastName(arg)] }
		if p.network[receiver] || receiver == "ports" && slices.ContainsFunc(call.Args, given) {
			return receiver + "." + fn.Sel.Name
		}
		if _, isReceiver := fn.X.(*ast.Ident); isReceiver && p.reaching[fn.Sel.Name] {
			return fn.Sel.Name
		}
	}
	return ""
}

// lastName is the last name of a chain: processor of s.ports.processor.
func lastName(n ast.Expr) string {
	switch x := n.(type) {
	case *ast.Ident:
		return x.Name
	case *ast.SelectorExpr:
		return x.Sel.Name
	case *ast.ParenExpr:
		return lastName(x.X)
	case *ast.CallExpr:
		return lastName(x.Fun)
	}
	return ""
}
