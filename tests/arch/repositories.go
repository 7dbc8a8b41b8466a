package arch

import (
	"go/ast"
	"maps"
	"slices"
)

// mayTouch says which repository each module may use. A module owns its own; Tasks is for everyone who schedules. To
// need another module's repository is to need a question (ports/questions.go) or an event instead.
var mayTouch = map[string][]string{
	"background":  {"TaskDesk"},
	"booking":     {"Appointments", "BookingAudit", "BusyCalendars", "Claims", "Scheduling", "Tasks"},
	"catalog":     {"Listings", "Plans", "PaymentLinks"},
	"identity":    {"Creators", "APIKeys", "RefreshFamilies", "Tasks"},
	"notify":      {"Events", "WebhookEndpoints", "Deliveries", "Announcements", "Mails", "WebhookAudit", "Tasks"},
	"recurring":   {"Subscriptions", "Tasks"},
	"sandbox":     {"ClockOffsets"},
	"selling":     {"Sessions", "Payments", "Customers", "DocumentNumbers", "SellingAudit", "Tasks"},
	"entitlement": {"CreditUses", "Grants", "Snapshots", "Tasks"},
}

// repositoryNames are the fields of ports.Repos, read from its declaration.
func repositoryNames(all []source) []string {
	var names []string
	for _, s := range all {
		if s.dir() != "ports" {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok || spec.Name.Name != "Repos" {
				return true
			}
			if fields, ok := spec.Type.(*ast.StructType); ok {
				for _, field := range fields.Fields.List {
					for _, name := range field.Names {
						names = append(names, name.Name)
					}
				}
			}
			return false
		})
	}
	return names
}

// repositoryFaults finds a module that touches a repository it may not.
func repositoryFaults(s source, repositories []string, table map[string][]string) []string {
	p := locate(s.dir())
	if p.room != modules || s.isTest() {
		return nil
	}
	allowedHere, known := table[p.unit]
	if !known {
		return []string{s.path + ": module " + p.unit + " has no line in mayTouch"}
	}
	faults := map[string]bool{}
	for _, use := range repositoryUses(s, repositories) {
		if !slices.Contains(allowedHere, use.Sel.Name) {
			faults[s.at(use)+": module "+p.unit+" touches "+use.Sel.Name+", which is not its own (mayTouch)"] = true
		}
	}
	return slices.Sorted(maps.Keys(faults))
}

// repositoryUses are the selectors r.<Repository>, where r is a parameter of type ports.Repos, came out of Read, or is
// the call of Read itself.
func repositoryUses(s source, repositories []string) []*ast.SelectorExpr {
	var uses []*ast.SelectorExpr
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
	ast.Inspect(s.file, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok || !slices.Contains(repositories, sel.Sel.Name) {
			return true
		}
		ident, isIdent := sel.X.(*ast.Ident)
		if isIdent && bound[ident.Name] || isRead(sel.X) {
			uses = append(uses, sel)
		}
		return true
	})
	return uses
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
