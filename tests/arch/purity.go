package arch

import (
	"go/ast"
	"slices"
	"strings"
)

// impure are the standard packages that reach out of the process or bring chance in. Pure parsers such as net/url,
// and hashes, are free to use.
var impure = []string{
	"crypto/rand", "database/sql", "log", "math/rand", "math/rand/v2", "net", "net/http", "net/smtp", "os", "os/exec",
	"os/signal", "os/user", "plugin", "runtime", "syscall", "unsafe",
}

// clockReaders are the functions of package time that read or wait for the machine's clock.
var clockReaders = []string{"After", "AfterFunc", "NewTicker", "NewTimer", "Now", "Since", "Sleep", "Tick", "Until"}

// purityFaults finds impure packages and clock readings in a file of the inner layers. Tests there may use what they
// like.
func purityFaults(s source) []string {
	if !locate(s.dir()).inner() || s.isTest() {
		return nil
	}
	var faults []string
	names := imports(s)
	for _, spec := range s.file.Imports {
		importPath := strings.Trim(spec.Path.Value, `"`)
		if slices.Contains(impure, importPath) {
			faults = append(faults, s.at(spec)+": "+importPath+" arrives through a port")
		}
		if spec.Name != nil && spec.Name.Name == "." {
			faults = append(faults, s.at(spec)+": a dot import hides where names come from")
		}
	}
	ast.Inspect(s.file, func(n ast.Node) bool {
		importPath, name, ok := selected(names, n)
		if ok && importPath == "time" && slices.Contains(clockReaders, name) {
			faults = append(faults, s.at(n)+": time."+name+" reads the machine's clock; take the time as an argument or from ports.Clock")
		}
		return true
	})
	return faults
}

// statusFaults finds HTTP statuses where nobody should know any: a fault's status is decided in httpapi alone.
func statusFaults(s source) []string {
	if layer := locate(s.dir()).layer; s.isTest() || layer == tests || layer == example {
		return nil
	}
	names := imports(s)
	faults := secondStatusMaps(s, names)
	if knowsStatuses(s.dir()) {
		return faults
	}
	ast.Inspect(s.file, func(n ast.Node) bool {
		importPath, name, ok := selected(names, n)
		if ok && strings.HasPrefix(name, "Status") &&
			(importPath == "net/http" || importPath == "github.com/gofiber/fiber/v2") {
			faults = append(faults, s.at(n)+": "+name+": statuses belong to the adapters that speak HTTP")
		}
		return true
	})
	return faults
}

// secondStatusMaps refuses another table from fault.Code to a number than the one in httpapi.
func secondStatusMaps(s source, names map[string]string) []string {
	if s.dir() == "adapters/httpapi" {
		return nil
	}
	var faults []string
	ast.Inspect(s.file, func(n ast.Node) bool {
		m, ok := n.(*ast.MapType)
		if !ok {
			return true
		}
		importPath, name, _ := selected(names, m.Key)
		value, _ := m.Value.(*ast.Ident)
		if importPath == module+"/core/fault" && name == "Code" && value != nil && value.Name == "int" {
			faults = append(faults, s.at(n)+": the one map from faults to statuses is adapters/httpapi/errors.go")
		}
		return true
	})
	return faults
}
