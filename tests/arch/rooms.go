package arch

import (
	"slices"
	"strings"
)

// room is one of the rooms of ARCHITECTURE.md.
type room int

const (
	outside room = iota
	core
	ports
	modules
	driving
	driven
	configuration
	bootstrap
	command
	tests
)

// drivingAdapters call the modules; every other adapter fills a port.
var drivingAdapters = []string{"httpapi", "web", "jobs"}

// decimalLibrary is the one library that the inner rooms may use besides the standard one.
const decimalLibrary = "github.com/cockroachdb/apd/v3"

// place is where a package stands: its room and, in modules and adapters, which of the siblings it belongs to.
type place struct {
	room room
	unit string
}

// locate finds a package folder's place.
func locate(dir string) place {
	first, rest, _ := strings.Cut(dir, "/")
	unit, _, _ := strings.Cut(rest, "/")
	switch first {
	case "core":
		return place{core, ""}
	case "ports":
		return place{ports, ""}
	case "modules":
		return place{modules, unit}
	case "adapters":
		if slices.Contains(drivingAdapters, unit) {
			return place{driving, unit}
		}
		return place{driven, unit}
	case "config":
		return place{configuration, ""}
	case "bootstrap":
		return place{bootstrap, ""}
	case "tests":
		return place{tests, ""}
	case ".":
		return place{command, ""}
	}
	return place{outside, ""}
}

// inner reports whether the place may know nothing of the world.
func (p place) inner() bool { return p.room == core || p.room == ports || p.room == modules }

// allowed lists, per room, the rooms it may import besides itself.
var allowed = map[room][]room{
	core:          {},
	ports:         {core},
	modules:       {core, ports},
	driving:       {core, ports, modules},
	driven:        {core, ports},
	configuration: {},
	bootstrap:     {core, ports, modules, driving, driven, configuration},
	command:       {bootstrap, configuration},
}

// importFaults checks one file against the arrows. Test files may use any library and the suites under tests/, and a
// use case may be tried on a real store; they still never reach for a sibling or outwards past the adapters.
func importFaults(s source) []string {
	from := locate(s.dir())
	switch from.room {
	case tests:
		return nil
	case outside:
		return []string{s.path + ": not in any room of ARCHITECTURE.md"}
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

// importFault says why a file in that place may not import that path; "" when it may.
func importFault(from place, importPath string, isTest bool) string {
	dir, own := strings.CutPrefix(importPath, module+"/")
	if !own && importPath != module {
		return libraryFault(from, importPath, isTest)
	}
	to := locate(dir)
	switch {
	case to.room == from.room && to.unit == from.unit:
		return ""
	case to.room == from.room:
		return "siblings never import each other"
	case isTest && (to.room == tests || from.room == modules && to.room == driven):
		return ""
	case slices.Contains(allowed[from.room], to.room):
		return ""
	}
	return "the arrow points the other way"
}

// libraryHomes names the rooms that big libraries may be known in, so that each stays replaceable in one place.
var libraryHomes = map[string][]place{
	"github.com/gofiber/fiber":    {{driving, "httpapi"}, {driving, "web"}, {bootstrap, ""}},
	"github.com/hibiken/asynq":    {{driving, "jobs"}, {bootstrap, ""}},
	"github.com/stripe/stripe-go": {{driven, "stripepay"}},
	"gorm.io/gorm":                {{driven, "gormstore"}},
	"github.com/jackc/pgx":        {{driven, "gormstore"}},
	"github.com/wneessen/go-mail": {{driven, "mail"}},
}

func libraryFault(from place, importPath string, isTest bool) string {
	first, _, _ := strings.Cut(importPath, "/")
	if isTest || !strings.Contains(first, ".") { // only the standard library has a first element without a dot
		return ""
	}
	if from.inner() && importPath != decimalLibrary {
		return "the inner rooms know the standard library only"
	}
	for prefix, homes := range libraryHomes {
		if strings.HasPrefix(importPath, prefix) && !slices.Contains(homes, from) {
			return "this library has its home elsewhere (libraryHomes)"
		}
	}
	return ""
}

// knowsStatuses reports whether a package may name HTTP statuses: those that answer callers over HTTP, and those that
// read other servers' answers, which driven adapters and the health check of main do.
func knowsStatuses(dir string) bool {
	p := locate(dir)
	return p.room == command || p.room == driven || p.room == driving && p.unit != "jobs"
}
