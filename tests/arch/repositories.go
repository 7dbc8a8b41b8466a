package arch

import (
	"go/ast"
	"maps"
	"slices"
	"strings"
)

// mayTouch describes which repositories each module may use: a whole area, or one repository of an area. A module owns
// its own area; Tasks is for every module that schedules, and the clock for all. To need another area's repository is
// to need a query (ports/queries.go) or an event instead.
var mayTouch = map[string][]string{
	"access":        {"Access", "Tasks"},
	"booking":       {"Booking", "Tasks"},
	"catalog":       {"Catalog", "Images"},
	"checkout":      {"Checkout", "Payments", "Customers", "Invoicing.DocumentNumbers", "Tasks"},
	"customers":     {"Customers", "Payments.Payments", "Tasks"},
	"idempotency":   {"Idempotency", "Tasks"},
	"directory":     {"Identity.Creators", "Identity.Members", "Catalog.Listings", "Tasks"}, // it compares names with what has them
	"identity":      {"Identity", "Images", "Operator.Actions", "Tasks"},
	"files":         {"Files", "Catalog.Listings", "Tasks"},
	"images":        {"Images"},
	"imports":       {"Imports"},
	"mail":          {"Mail", "Tasks"},
	"operator":      {"Operator", "Identity.Creators"},
	"payments":      {"Payments", "Invoicing.DocumentNumbers", "Tasks"},
	"requestlog":    {}, // a port of its own, beside the transactions
	"sandbox":       {"Sandbox.ClockOffsets"},
	"subscriptions": {"Subscriptions", "Tasks"},
	"tasks":         {"TaskAdmin"},
	"webhooks":      {"Webhooks", "Tasks"},
	"treasury":      {"Treasury", "Tasks"},
	"usage":         {"Usage", "Subscriptions", "Sandbox.ClockOffsets", "Tasks"},
	// reports are placed by a remembered offset
	"invoicing": {"Invoicing", "Customers", "Payments.PaymentMethods", "Payments.Payments", "Payments.Refunds",
		"Tasks"},
}

// repositoryTable is ports.Repos as it is declared: the repositories of each area by the area's field, none for a field
// that is a repository itself.
type repositoryTable map[string][]string

// count returns the number of repositories.
func (t repositoryTable) count() (n int) {
	for _, repositories := range t {
		n += max(1, len(repositories))
	}
	return n
}

// repositoriesOf reads ports.Repos and the structs of its areas from their declarations.
func repositoriesOf(all []source) repositoryTable {
	structs := map[string]*ast.StructType{}
	for _, s := range all {
		if s.dir() != "ports" {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok {
				if fields, isStruct := spec.Type.(*ast.StructType); isStruct {
					structs[spec.Name.Name] = fields
				}
			}
			return true
		})
	}
	table := repositoryTable{}
	eachField(structs["Repos"], func(name, typ string) {
		if name == "Clock" { // free to all
			return
		}
		table[name] = nil
		eachField(structs[typ], func(repository, _ string) { table[name] = append(table[name], repository) })
	})
	return table
}

// eachField calls visit with the name and the type's name of each field of a struct, of none when it is nil.
func eachField(fields *ast.StructType, visit func(name, typ string)) {
	if fields == nil {
		return
	}
	for _, field := range fields.Fields.List {
		typ, _ := field.Type.(*ast.Ident)
		for _, name := range field.Names {
			visit(name.Name, typ.String())
		}
	}
}

// tableFaults finds lines of mayTouch that name no area and no repository.
func tableFaults(repositories repositoryTable, table map[string][]string) []string {
	var faults []string
	for module, names := range table {
		for _, name := range names {
			area, repository, one := strings.Cut(name, ".")
			if known, ok := repositories[area]; !ok || one && !slices.Contains(known, repository) {
				faults = append(faults, "mayTouch: module "+module+" names "+name+", which ports.Repos does not have")
			}
		}
	}
	return faults
}

// repositoryFaults finds a module that touches a repository it may not.
func repositoryFaults(s source, repositories repositoryTable, table map[string][]string) []string {
	p := locate(s.dir())
	if p.layer != modules || s.isTest() {
		return nil
	}
	allowedHere, known := table[p.unit]
	if !known {
		return []string{s.path + ": module " + p.unit + " has no line in mayTouch"}
	}
	faults := map[string]bool{}
	for _, use := range repositoryUses(s, repositories) {
		area, _, _ := strings.Cut(use.name, ".")
		if !slices.Contains(allowedHere, area) && !slices.Contains(allowedHere, use.name) {
			faults[s.at(use.at)+": module "+p.unit+" touches "+use.name+", which is not its own (mayTouch)"] = true
		}
	}
	return slices.Sorted(maps.Keys(faults))
}

// repositoryUse is a place that names a repository: Checkout.Sessions, a whole area, or Tasks.
type repositoryUse struct {
	at   ast.Node
	name string
}

// repositoryUses are the selectors r.<Area>.<Repository>, where r is a parameter of type ports.Repos, came out of Read,
// or is the call of Read itself.
func repositoryUses(s source, repositories repositoryTable) []repositoryUse {
	var uses []repositoryUse
	bound := boundRepos(s)
	areaOf := func(n ast.Expr) (area string, ok bool) {
		sel, isSelector := n.(*ast.SelectorExpr)
		if !isSelector {
			return "", false
		}
		if _, known := repositories[sel.Sel.Name]; !known {
			return "", false
		}
		ident, isIdent := sel.X.(*ast.Ident)
		return sel.Sel.Name, isIdent && bound[ident.Name] || isRead(sel.X)
	}
	ast.Inspect(s.file, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if area, ok := areaOf(sel.X); ok && slices.Contains(repositories[area], sel.Sel.Name) {
			uses = append(uses, repositoryUse{sel, area + "." + sel.Sel.Name})
			return false
		}
		if area, ok := areaOf(sel); ok {
			uses = append(uses, repositoryUse{sel, area})
		}
		return true
	})
	return uses
}

// boundRepos are the names in a file that hold a ports.Repos.
func boundRepos(s source) map[string]bool {
	names, bound := imports(s), map[string]bool{}
	ast.Inspect(s.file, func(n ast.Node) bool {
		switch node := n.(type) {
		case *ast.FuncType:
			bound[reposParameter(names, node)] = true
		case *ast.AssignStmt:
			for i, value := range node.Rhs {
				if ident, ok := node.Lhs[min(i, len(node.Lhs)-1)].(*ast.Ident); ok && isRead(value) {
					bound[ident.Name] = true
				}
			}
		}
		return true
	})
	return bound
}

// isRead reports whether an expression is the call store.Read(ctx).
func isRead(n ast.Expr) bool {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return false
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	return ok && sel.Sel.Name == "Read"
}

// storeFaults finds a driving adapter that touches the store: what it needs is a use case.
func storeFaults(s source) []string {
	if locate(s.dir()).layer != driving || s.isTest() {
		return nil
	}
	var faults []string
	names := imports(s)
	ast.Inspect(s.file, func(n ast.Node) bool {
		importPath, name, ok := selected(names, n)
		if ok && importPath == module+"/ports" && (name == "Repos" || name == "Store") {
			faults = append(faults, s.at(n)+": "+name+": an adapter that drives touches no repository; call a use case")
		}
		return true
	})
	return faults
}
