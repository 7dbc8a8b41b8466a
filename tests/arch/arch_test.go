package arch

import (
	"fmt"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// leastFiles bounds from below what the rules must have seen per layer, so that they cannot pass by reading nothing.
var leastFiles = map[layer]int{
	core: 120, ports: 25, modules: 60, driving: 60, driven: 60, configuration: 2, bootstrap: 12, command: 1, tests: 60,
	example: 3,
}

func TestDependencyRule(t *testing.T) {
	t.Parallel()
	all, err := load()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[layer]int{}
	for _, s := range all {
		seen[locate(s.dir()).layer]++
	}
	for r, least := range leastFiles {
		if seen[r] < least {
			t.Errorf("layer %d: %d files seen, expected at least %d", r, seen[r], least)
		}
	}
	read := rules{repositories: repositoriesOf(all), network: networkPorts(all), mayTouch: mayTouch}
	if read.repositories.count() < 30 {
		t.Errorf("found the repositories %v in ports.Repos, expected more", read.repositories)
	}
	if len(read.network) < 9 {
		t.Errorf("found the network ports %v, expected more", read.network)
	}
	for _, s := range all {
		if at := locate(s.dir()); (at.unit == "httpapi" || at.unit == "gormstore") && at.area != "" &&
			!slices.Contains(areas, at.area) {
			t.Errorf("%s: %s is in no list of areas, and its adapter's areas do not share it", s.path, at.area)
		}
	}
	for _, fault := range slices.Concat(tableFaults(read.repositories, mayTouch), read.faults(all)) {
		t.Error(fault)
	}
}

// rules holds what the checks read from ports, and the repositories that each module may touch.
type rules struct {
	repositories repositoryTable
	network      []string
	mayTouch     map[string][]string
}

// faults runs every rule.
func (r rules) faults(all []source) []string {
	var faults []string
	for _, s := range all {
		faults = slices.Concat(faults, importFaults(s), purityFaults(s), statusFaults(s), storeFaults(s), variableFaults(s),
			repositoryFaults(s, r.repositories, r.mayTouch))
	}
	for _, files := range packages(all) {
		faults = append(faults, transactionFaults(files, r.network)...)
	}
	return faults
}

func TestEveryRuleFindsItsBadSample(t *testing.T) {
	t.Parallel()
	known := rules{
		repositories: repositoryTable{"Checkout": {"Sessions", "Audit"}, "Catalog": {"Listings", "Plans"}, "Tasks": nil},
		network:      []string{"Processor", "Mailer"},
		mayTouch:     map[string][]string{"checkout": {"Checkout", "Tasks", "Catalog.Plans"}, "catalog": {"Catalog"}},
	}
	const checkout = `package checkout
		import ("context"; "sundry/ports")
		type Service struct { store ports.Store; processor ports.Processor; mail ports.Mailer }
		func (s *Service) charge(ctx context.Context) { s.processor.Charge(ctx) }
		func (s *Service) indirectly(ctx context.Context) { s.charge(ctx) }
		func (s *Service) loads(ctx context.Context) {}
	`
	for name, c := range map[string]struct {
		path, text string
		want       string // a part of the one fault; "" = none
	}{
		"core imports the standard library":  {"core/tax/x.go", `package tax; import "net/url"; var _ url.URL`, ""},
		"core imports its own shared kernel": {"core/tax/x.go", `package tax; import "sundry/core/money"`, ""},
		"core imports another library": {"core/tax/x.go", `package tax; import "github.com/google/uuid"`,
			"standard library only"},
		"core imports a port": {"core/tax/x.go", `package tax; import "sundry/ports"`, "inward"},
		"a core test imports an adapter": {"core/tax/x_test.go", `package tax; import "sundry/adapters/gormstore"`,
			"inward"},
		"a core test imports a test library": {"core/tax/x_test.go", `package tax; import "pgregory.net/rapid"`, ""},
		"a port imports core":                {"ports/x.go", `package ports; import "sundry/core/money"`, ""},
		"a port imports a module":            {"ports/x.go", `package ports; import "sundry/modules/checkout"`, "inward"},
		"a port imports a library": {"ports/x.go", `package ports; import "gorm.io/gorm"`,
			"standard library only"},
		"a module imports core and ports": {"modules/checkout/x.go",
			`package checkout; import ("sundry/core/money"; "sundry/ports")`, ""},
		"a module imports its own sub-package": {"modules/checkout/x.go",
			`package checkout; import "sundry/modules/checkout/links"`, ""},
		"a module imports another module": {"modules/checkout/x.go", `package checkout; import "sundry/modules/catalog"`,
			"siblings"},
		"a module imports an adapter": {"modules/checkout/x.go",
			`package checkout; import "sundry/adapters/gormstore"`, "inward"},
		"a module's test uses the store": {"modules/checkout/x_test.go",
			`package checkout; import "sundry/adapters/gormstore"`, ""},
		"a module's test uses a sibling": {"modules/checkout/x_test.go",
			`package checkout; import "sundry/modules/catalog"`, "siblings"},
		"a driving adapter imports a module": {"adapters/httpapi/x.go", `package httpapi; import "sundry/modules/catalog"`,
			""},
		"an adapter imports its sub-package": {"adapters/httpapi/x.go",
			`package httpapi; import "sundry/adapters/httpapi/strictjson"`, ""},
		"a driving adapter imports a driven": {"adapters/httpapi/x.go",
			`package httpapi; import "sundry/adapters/gormstore"`, "inward"},
		"a driving adapter imports a sibling": {"adapters/web/x.go", `package web; import "sundry/adapters/httpapi"`,
			"siblings"},
		"a driving adapter reads bootstrap": {"adapters/web/x.go", `package web; import "sundry/bootstrap"`, "inward"},
		"a driven adapter imports a module": {"adapters/mail/x.go", `package mail; import "sundry/modules/webhooks"`,
			"inward"},
		"a driven adapter imports a sibling": {"adapters/mail/x.go", `package mail; import "sundry/adapters/system"`,
			"siblings"},
		"an adapter's test runs a suite": {"adapters/mail/x_test.go", `package mail; import "sundry/tests/contract"`,
			""},
		"an adapter ships a suite": {"adapters/mail/x.go", `package mail; import "sundry/tests/contract"`,
			"inward"},
		"configuration imports core":       {"config/x.go", `package config; import "sundry/core/country"`, ""},
		"configuration imports a port":     {"config/x.go", `package config; import "sundry/ports"`, "inward"},
		"bootstrap imports main's package": {"bootstrap/x.go", `package bootstrap; import "sundry"`, "inward"},
		"bootstrap imports every layer": {"bootstrap/x.go",
			`package bootstrap; import ("sundry/adapters/gormstore"; "sundry/adapters/web"; "sundry/modules/checkout")`, ""},
		"main reaches past bootstrap": {"main.go", `package main; import "sundry/adapters/gormstore"`, "inward"},
		"main starts the program":     {"main.go", `package main; import "sundry/bootstrap"`, ""},
		"main knows the commands": {"main.go", `package main; import "sundry/adapters/cli"`,
			"dependencies point inward"},
		"main serves by itself": {"main.go", `package main; import "sundry/adapters/httpapi"`, "inward"},
		"an area of the API knows its frame": {"adapters/httpapi/catalog/x.go",
			`package catalog; import ("sundry/adapters/httpapi"; "sundry/modules/catalog")`, ""},
		"an area of the API knows another": {"adapters/httpapi/catalog/x.go",
			`package catalog; import "sundry/adapters/httpapi/access"`, "areas never"},
		"an area of the store knows another": {"adapters/gormstore/catalog/x.go",
			`package catalog; import "sundry/adapters/gormstore/access"`, "areas never"},
		"an area of the store shares a helper": {"adapters/gormstore/catalog/x.go",
			`package catalog; import ("gorm.io/gorm"; "sundry/adapters/gormstore/repo")`, ""},
		"a site knows another": {"adapters/web/portal/x.go",
			`package portal; import "sundry/adapters/web/receipt"`, "areas never"},
		"a site knows one that is new": {"adapters/web/document/x.go",
			`package document; import "sundry/adapters/web/invoice"`, "areas never"},
		"a site has a package below it": {"adapters/web/portal/x.go",
			`package portal; import "sundry/adapters/web/portal/ui"`, ""},
		"a site shares the layout": {"adapters/web/portal/x.go",
			`package portal; import "sundry/adapters/web/layout"`, ""},
		"a folder that is no layer": {"util/x.go", `package util`, "not in any layer"},
		"gorm outside the store": {"adapters/jobs/x.go", `package jobs; import "gorm.io/gorm"`,
			"home elsewhere"},
		"fiber at its home": {"adapters/web/x.go", `package web; import "github.com/gofiber/fiber/v2"`,
			""},
		"a test may import anything": {"tests/e2e/x.go", `package e2e; import "gorm.io/gorm"`, ""},

		"a test reads a variable itself": {
			"modules/catalog/x_test.go", `package catalog; import "os"; var s = os.Getenv("TEST_DATABASE_URL")`,
			"through tests/testenv",
		},
		"a test asks for a variable": {
			"modules/catalog/x_test.go",
			`package catalog; import "sundry/tests/testenv"; var s = testenv.Get(testenv.Database)`, "",
		},

		"core reads the clock": {"core/tax/x.go", `package tax; import "time"; var now = time.Now`, "time.Now"},
		"core reads the clock by an alias": {"core/tax/x.go", `package tax; import clock "time"; var now = clock.Since`,
			"time.Since"},
		"core computes with times": {"core/tax/x.go",
			`package tax; import "time"; func f(t time.Time) { t.After(t); _ = time.Hour }`, ""},
		"a module takes a chance": {"modules/catalog/x.go", `package catalog; import "crypto/rand"`,
			"arrives through a port"},
		"a module rolls a die": {"modules/catalog/x.go", `package catalog; import "math/rand/v2"`,
			"arrives through a port"},
		"a port opens a file":        {"ports/x.go", `package ports; import "os"`, "arrives through a port"},
		"a module hashes":            {"modules/catalog/x.go", `package catalog; import "crypto/sha256"`, ""},
		"a module hides names":       {"modules/catalog/x.go", `package catalog; import . "strings"`, "dot import"},
		"a core test may use os":     {"core/tax/x_test.go", `package tax; import "os"`, ""},
		"an adapter reads the clock": {"adapters/system/x.go", `package system; import "time"; var now = time.Now`, ""},

		"jobs names a status": {"adapters/jobs/x.go",
			`package jobs; import "net/http"; var s = http.StatusConflict`, "statuses belong"},
		"bootstrap names a status": {"bootstrap/x.go",
			`package bootstrap; import "github.com/gofiber/fiber/v2"; var s = fiber.StatusOK`, "statuses belong"},
		"httpapi names a status": {"adapters/httpapi/x.go",
			`package httpapi; import "net/http"; var s = http.StatusConflict`, ""},
		"a client reads a status": {"adapters/stripepay/x.go",
			`package stripepay; import "net/http"; var s = http.StatusConflict`, ""},
		"web keeps a second status map": {"adapters/web/x.go",
			`package web; import "sundry/core/fault"; var s = map[fault.Code]int{}`, "the one map"},
		"httpapi keeps the status map": {"adapters/httpapi/x.go",
			`package httpapi; import "sundry/core/fault"; var s = map[fault.Code]int{}`, ""},
		"web keeps words for the faults": {"adapters/web/x.go",
			`package web; import "sundry/core/fault"; var s = map[fault.Code]string{}`, ""},

		"the processor inside a transaction": {"modules/checkout/x.go", checkout + `
			func (s *Service) Pay(ctx context.Context) { s.store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error { s.processor.Charge(ctx); return nil }) }`,
			"processor.Charge waits"},
		"the processor inside, through two functions": {"modules/checkout/x.go", checkout + `
			func (s *Service) Pay(ctx context.Context) { s.store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error { s.indirectly(ctx); return nil }) }`,
			"indirectly waits"},
		"a provider's processor inside a transaction": {"modules/checkout/x.go", checkout + `
			func (s *Service) Pay(ctx context.Context, p ports.Provider) { s.store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error { p.Processor.Charge(ctx); return nil }) }`,
			"Processor.Charge waits"},
		"a method of the processor inside, as a value": {"modules/checkout/x.go", checkout + `
			func (s *Service) Pay(ctx context.Context) { s.store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error { s.call(ctx, ports.Processor.Charge); return nil }) }`,
			"Processor.Charge waits"},
		"the processor given to a function of ports inside": {"modules/checkout/x.go", checkout + `
			func (s *Service) Pay(ctx context.Context) { s.store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error { return ports.Admit(ctx, s.processor) }) }`,
			"ports.Admit waits"},
		"the processor in a listener": {"modules/checkout/x.go", checkout + `
			func (s *Service) Hear(ctx context.Context, r ports.Repos) { s.mail.Send(ctx) }`,
			"mail.Send waits"},
		"the processor after the transaction": {"modules/checkout/x.go", checkout + `
			func (s *Service) Pay(ctx context.Context) { s.store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error { s.loads(ctx); return nil }); s.indirectly(ctx) }`,
			""},
		"a test may do it": {"modules/checkout/x_test.go", checkout + `
			func (s *Service) Hear(ctx context.Context, r ports.Repos) { s.mail.Send(ctx) }`, ""},

		"a module uses its own repository": {"modules/checkout/x.go",
			`package checkout; import "sundry/ports"; func f(r ports.Repos) { r.Checkout.Sessions.Get(); r.Catalog.Plans.Get(); r.Tasks.Schedule() }`, ""},
		"a module uses a sibling's": {"modules/checkout/x.go",
			`package checkout; import "sundry/ports"; func f(r ports.Repos) { r.Catalog.Listings.Get() }`,
			"touches Catalog.Listings"},
		"a module reads a sibling's": {"modules/checkout/x.go",
			`package checkout; func f(s *Service) { s.store.Read(ctx).Catalog.Listings.Get() }`,
			"touches Catalog.Listings"},
		"a module reads a sibling's by a variable": {"modules/checkout/x.go",
			`package checkout; func f(s *Service) { repos := s.store.Read(ctx); repos.Catalog.Listings.Get() }`,
			"touches Catalog.Listings"},
		"a module takes a sibling's whole area": {"modules/checkout/x.go",
			`package checkout; import "sundry/ports"; func f(r ports.Repos) { area := r.Catalog; area.Listings.Get() }`,
			"touches Catalog,"},
		"a field of the same name is no repository": {"modules/checkout/x.go",
			`package checkout; func f(s *Service) { s.Catalog.Listings.Get() }`, ""},
		"the API touches a repository": {"adapters/httpapi/x.go",
			`package httpapi; import "sundry/ports"; func f(r ports.Repos) {}`, "touches no repository"},
		"an area of the API opens a transaction": {"adapters/httpapi/catalog/x.go",
			`package catalog; import "sundry/ports"; type d struct { store ports.Store }`, "touches no repository"},
		"the store fills the repositories": {"adapters/gormstore/x.go",
			`package gormstore; import "sundry/ports"; func f() ports.Repos { return ports.Repos{} }`, ""},
		"a driving adapter's test may use a store": {"adapters/jobs/x_test.go",
			`package jobs; import "sundry/ports"; func f(r ports.Repos) {}`, ""},
		"a module without a line": {"modules/gossip/x.go", `package gossip`, "no line in mayTouch"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := parse(token.NewFileSet(), c.path, c.path, c.text)
			if err != nil {
				t.Fatal(err)
			}
			faults := known.faults([]source{s})
			switch {
			case c.want == "" && len(faults) > 0:
				t.Errorf("good code is refused: %v", faults)
			case c.want != "" && (len(faults) != 1 || !strings.Contains(faults[0], c.want)):
				t.Errorf("faults %q, want exactly one with %q", faults, c.want)
			}
		})
	}
}

func TestPortsAreReadFromTheirDeclarations(t *testing.T) {
	t.Parallel()
	s, err := parse(token.NewFileSet(), "ports/x.go", "ports/x.go", `package ports
		type Network interface{}
		type Mailer interface { Network; Send() }
		type Sessions interface { Get() }
		type Repos struct { Clock Clock; Tasks Tasks; Checkout CheckoutRepos }
		type CheckoutRepos struct { Sessions Sessions }
	`)
	if err != nil {
		t.Fatal(err)
	}
	if got := networkPorts([]source{s}); !slices.Equal(got, []string{"Mailer"}) {
		t.Errorf("network ports %v, want the one that embeds Network", got)
	}
	repositories := repositoriesOf([]source{s})
	if got := fmt.Sprint(repositories); got != "map[Checkout:[Sessions] Tasks:[]]" {
		t.Errorf("repositories %s", got)
	}
	table := map[string][]string{"checkout": {"Checkout.Sessions", "Tasks"}, "catalog": {"Catalog", "Checkout.Plans"}}
	if faults := tableFaults(repositories, table); len(faults) != 2 {
		t.Errorf("faults %q, want one for each unknown name", faults)
	}
}
