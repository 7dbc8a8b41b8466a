package arch

import (
	"slices"
	"strings"
)

// layer is one of the layers of ARCHITECTURE.md.
type layer int

const (
	outside layer = iota
	core
	ports
	modules
	driving
	driven
	configuration
	bootstrap
	command
	tests
	example
	deploy
	sdk
)

// drivingAdapters call the modules; every other adapter implements a port.
var drivingAdapters = []string{"httpapi", "web", "jobs", "cli"}

// areas is the map of the code: one name of an area on every layer.
var areas = []string{
	"identity", "catalog", "checkout", "booking", "payments", "customers", "access", "subscriptions", "usage", "invoicing",
	"treasury", "webhooks", "mail", "tasks", "sandbox", "operator",
}

// place locates a package: its layer; in modules and adapters which of the siblings it belongs to; and in an
// adapter that is divided by area, its area. The frame of such an adapter, and what its areas share, have none.
type place struct {
	layer layer
	unit  string
	area  string
}

// dividedAdapters have a package per area below them: every folder but these, which their areas share. The areas of the
// pages are sites.
var dividedAdapters = map[string][]string{
	"httpapi": {"strictjson"}, "gormstore": {"repo", "migrations", "tuning"}, "web": {"layout", "order"},
}

// locate finds a package folder's place.
func locate(dir string) place {
	first, rest, _ := strings.Cut(dir, "/")
	unit, below, _ := strings.Cut(rest, "/")
	area, _, _ := strings.Cut(below, "/")
	switch first {
	case "core":
		return place{layer: core}
	case "ports":
		return place{layer: ports}
	case "modules":
		return place{layer: modules, unit: unit}
	case "adapters":
		if shared, divided := dividedAdapters[unit]; !divided || slices.Contains(shared, area) {
			area = ""
		}
		if slices.Contains(drivingAdapters, unit) {
			return place{driving, unit, area}
		}
		return place{driven, unit, area}
	case "config":
		return place{layer: configuration}
	case "bootstrap":
		return place{layer: bootstrap}
	case "tests":
		return place{layer: tests}
	case "examples":
		return place{layer: example}
	case "deploy":
		return place{layer: deploy}
	case "sdk":
		return place{layer: sdk}
	case ".":
		return place{layer: command}
	}
	return place{layer: outside}
}

// inner reports whether the place must have no dependency on the outside.
func (p place) inner() bool { return p.layer == core || p.layer == ports || p.layer == modules }

// allowed lists, per layer, the layers it may import besides itself: dependencies point inward.
var allowed = map[layer][]layer{
	core:          {},
	ports:         {core},
	modules:       {core, ports},
	driving:       {core, ports, modules},
	driven:        {core, ports},
	configuration: {core},
	bootstrap:     {core, ports, modules, driving, driven, configuration},
	command:       {bootstrap},
	example:       {core, ports, bootstrap, sdk}, // as a program of somebody else may
	deploy:        {configuration},               // its files set what the program reads
	sdk:           {},                            // other programs import it: the standard library is all that it needs
}

// importFaults checks one file against the dependency rule. Test files may use any library and the suites under tests/,
// and a use case may be tried on a real store; they still never import a sibling or outwards past the adapters.
func importFaults(s source) []string {
	from := locate(s.dir())
	switch from.layer {
	case tests:
		return nil
	case outside:
		return []string{s.path + ": not in any layer of ARCHITECTURE.md"}
	default:
	}
	var faults []string
	for _, importPath := range imports(s) {
		if why := importFault(from, importPath, s.isTest()); why != "" {
			faults = append(faults, s.path+": imports "+importPath+": "+why)
		}
	}
	slices.Sort(faults)
	return faults
}

// importFault returns why a file in that place may not import that path; "" when it may.
func importFault(from place, importPath string, isTest bool) string {
	dir, own := strings.CutPrefix(importPath, module+"/")
	if !own && importPath != module {
		return libraryFault(from, importPath, isTest)
	}
	to := locate(dir)
	switch {
	case to.layer == from.layer && to.unit == from.unit && from.area != "" && to.area != "" && to.area != from.area:
		return "areas never import each other"
	case to.layer == from.layer && to.unit == from.unit:
		return ""
	case to.layer == from.layer:
		return "siblings never import each other"
	case isTest && (to.layer == tests || from.layer == modules && to.layer == driven):
		return ""
	case slices.Contains(allowed[from.layer], to.layer):
		return ""
	}
	return "dependencies point inward"
}

// libraryHomes names the packages that big libraries may be known in, so that each stays replaceable in one place.
var libraryHomes = map[string][]place{
	"github.com/gofiber/fiber":    {{layer: driving, unit: "httpapi"}, {layer: driving, unit: "web"}, {layer: bootstrap}},
	"github.com/hibiken/asynq":    {{layer: driving, unit: "jobs"}, {layer: bootstrap}},
	"github.com/stripe/stripe-go": {{layer: driven, unit: "stripepay"}},
	"gorm.io/gorm":                {{layer: driven, unit: "gormstore"}},
	"github.com/jackc/pgx":        {{layer: driven, unit: "gormstore"}, {layer: driven, unit: "directory"}},
	"github.com/wneessen/go-mail": {{layer: driven, unit: "mail"}},
	"go.opentelemetry.io":         {{layer: driven, unit: "telemetry"}},
}

func libraryFault(from place, importPath string, isTest bool) string {
	first, _, _ := strings.Cut(importPath, "/")
	if isTest || !strings.Contains(first, ".") { // only the standard library has a first element without a dot
		return ""
	}
	if from.layer == sdk {
		return "the clients know the standard library only"
	}
	if from.inner() {
		return "the inner layers know the standard library only"
	}
	for prefix, homes := range libraryHomes {
		if strings.HasPrefix(importPath, prefix) && !slices.Contains(homes, place{layer: from.layer, unit: from.unit}) {
			return "this library has its home elsewhere (libraryHomes)"
		}
	}
	return ""
}

// knowsStatuses reports whether a package may name HTTP statuses: those that respond to callers over HTTP, and those
// that read other servers' responses, as driven adapters, the commands and the clients do.
func knowsStatuses(dir string) bool {
	p := locate(dir)
	return p.layer == driven || p.layer == sdk || p.layer == driving && p.unit != "jobs"
}
