package arch

import (
	"go/token"
	"slices"
	"strings"
	"testing"
)

// leastFiles bounds from below what the rules must have seen per room, so that they cannot pass by looking nowhere.
var leastFiles = map[room]int{
	core: 10, ports: 8, driving: 7, driven: 6, configuration: 1, bootstrap: 4, command: 1, tests: 5,
}

func TestTheArrows(t *testing.T) {
	t.Parallel()
	all, err := load("../..")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[room]int{}
	for _, s := range all {
		seen[locate(s.dir()).room]++
	}
	for r, least := range leastFiles {
		if seen[r] < least {
			t.Errorf("room %d: %d files seen, expected at least %d", r, seen[r], least)
		}
	}
	repositories := repositoryNames(all)
	if len(repositories) < 4 {
		t.Errorf("found the repositories %v in ports.Repos, expected more", repositories)
	}
	for _, fault := range faultsOf(all, repositories, mayTouch) {
		t.Error(fault)
	}
}

// faultsOf runs every rule.
func faultsOf(all []source, repositories []string, table map[string][]string) []string {
	var faults []string
	for _, s := range all {
		faults = slices.Concat(faults, importFaults(s), purityFaults(s), statusFaults(s), repositoryFaults(s, repositories, table))
	}
	for _, files := range packages(all) {
		faults = append(faults, transactionFaults(files)...)
	}
	return faults
}

func TestEveryRuleFindsItsBadSample(t *testing.T) {
	t.Parallel()
	table := map[string][]string{"selling": {"Sessions", "Tasks"}, "catalog": {"Listings"}}
	const selling = `package selling
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
		"core imports the standard library":    {"core/tax/x.go", `package tax; import "net/url"; var _ url.URL`, ""},
		"core imports its own shared kernel":   {"core/tax/x.go", `package tax; import "sundry/core/money"`, ""},
		"core imports the decimal library":     {"core/tax/x.go", `package tax; import "github.com/cockroachdb/apd/v3"`, ""},
		"core imports another library":         {"core/tax/x.go", `package tax; import "github.com/google/uuid"`, "standard library only"},
		"core imports a port":                  {"core/tax/x.go", `package tax; import "sundry/ports"`, "other way"},
		"a core test imports an adapter":       {"core/tax/x_test.go", `package tax; import "sundry/adapters/gormstore"`, "other way"},
		"a core test imports a test library":   {"core/tax/x_test.go", `package tax; import "pgregory.net/rapid"`, ""},
		"a port imports core":                  {"ports/x.go", `package ports; import "sundry/core/money"`, ""},
		"a port imports a module":              {"ports/x.go", `package ports; import "sundry/modules/selling"`, "other way"},
		"a port imports a library":             {"ports/x.go", `package ports; import "gorm.io/gorm"`, "standard library only"},
		"a module imports core and ports":      {"modules/selling/x.go", `package selling; import ("sundry/core/money"; "sundry/ports")`, ""},
		"a module imports its own sub-package": {"modules/selling/x.go", `package selling; import "sundry/modules/selling/links"`, ""},
		"a module imports another module":      {"modules/selling/x.go", `package selling; import "sundry/modules/catalog"`, "siblings"},
		"a module imports an adapter":          {"modules/selling/x.go", `package selling; import "sundry/adapters/gormstore"`, "other way"},
		"a module's test uses the store":       {"modules/selling/x_test.go", `package selling; import "sundry/adapters/gormstore"`, ""},
		"a module's test uses a sibling":       {"modules/selling/x_test.go", `package selling; import "sundry/modules/catalog"`, "siblings"},
		"a driving adapter imports a module":   {"adapters/httpapi/x.go", `package httpapi; import "sundry/modules/catalog"`, ""},
		"an adapter imports its sub-package":   {"adapters/httpapi/x.go", `package httpapi; import "sundry/adapters/httpapi/strictjson"`, ""},
		"a driving adapter imports a driven":   {"adapters/httpapi/x.go", `package httpapi; import "sundry/adapters/gormstore"`, "other way"},
		"a driving adapter imports a sibling":  {"adapters/web/x.go", `package web; import "sundry/adapters/httpapi"`, "siblings"},
		"a driving adapter reads bootstrap":    {"adapters/web/x.go", `package web; import "sundry/bootstrap"`, "other way"},
		"a driven adapter imports a module":    {"adapters/mail/x.go", `package mail; import "sundry/modules/notify"`, "other way"},
		"a driven adapter imports a sibling":   {"adapters/mail/x.go", `package mail; import "sundry/adapters/system"`, "siblings"},
		"an adapter's test runs a suite":       {"adapters/mail/x_test.go", `package mail; import "sundry/tests/contract"`, ""},
		"an adapter ships a suite":             {"adapters/mail/x.go", `package mail; import "sundry/tests/contract"`, "other way"},
		"configuration imports core":           {"config/x.go", `package config; import "sundry/core/money"`, "other way"},
		"bootstrap imports main's package":     {"bootstrap/x.go", `package bootstrap; import "sundry"`, "other way"},
		"bootstrap imports every room":         {"bootstrap/x.go", `package bootstrap; import ("sundry/adapters/gormstore"; "sundry/adapters/web"; "sundry/modules/selling")`, ""},
		"main reaches past bootstrap":          {"main.go", `package main; import "sundry/adapters/gormstore"`, "other way"},
		"a folder that is no room":             {"util/x.go", `package util`, "not in any room"},
		"gorm outside the store":               {"adapters/jobs/x.go", `package jobs; import "gorm.io/gorm"`, "home elsewhere"},
		"fiber at its home":                    {"adapters/web/x.go", `package web; import "github.com/gofiber/fiber/v2"`, ""},
		"a test may import anything":           {"tests/e2e/x.go", `package e2e; import "gorm.io/gorm"`, ""},

		"core reads the clock":             {"core/tax/x.go", `package tax; import "time"; var now = time.Now`, "time.Now"},
		"core reads the clock by an alias": {"core/tax/x.go", `package tax; import clock "time"; var now = clock.Since`, "time.Since"},
		"core computes with times":         {"core/tax/x.go", `package tax; import "time"; func f(t time.Time) { t.After(t); _ = time.Hour }`, ""},
		"a module takes a chance":          {"modules/catalog/x.go", `package catalog; import "crypto/rand"`, "arrives through a port"},
		"a module rolls a die":             {"modules/catalog/x.go", `package catalog; import "math/rand/v2"`, "arrives through a port"},
		"a port opens a file":              {"ports/x.go", `package ports; import "os"`, "arrives through a port"},
		"a module hashes":                  {"modules/catalog/x.go", `package catalog; import "crypto/sha256"`, ""},
		"a module hides names":             {"modules/catalog/x.go", `package catalog; import . "strings"`, "dot import"},
		"a core test may use os":           {"core/tax/x_test.go", `package tax; import "os"`, ""},
		"an adapter reads the clock":       {"adapters/system/x.go", `package system; import "time"; var now = time.Now`, ""},

		"jobs names a status":            {"adapters/jobs/x.go", `package jobs; import "net/http"; var s = http.StatusConflict`, "statuses belong"},
		"bootstrap names a status":       {"bootstrap/x.go", `package bootstrap; import "github.com/gofiber/fiber/v2"; var s = fiber.StatusOK`, "statuses belong"},
		"httpapi names a status":         {"adapters/httpapi/x.go", `package httpapi; import "net/http"; var s = http.StatusConflict`, ""},
		"a client reads a status":        {"adapters/stripepay/x.go", `package stripepay; import "net/http"; var s = http.StatusConflict`, ""},
		"web keeps a second status map":  {"adapters/web/x.go", `package web; import "sundry/core/fault"; var s = map[fault.Code]int{}`, "the one map"},
		"httpapi keeps the status map":   {"adapters/httpapi/x.go", `package httpapi; import "sundry/core/fault"; var s = map[fault.Code]int{}`, ""},
		"web keeps words for the faults": {"adapters/web/x.go", `package web; import "sundry/core/fault"; var s = map[fault.Code]string{}`, ""},

		"the processor inside a transaction": {"modules/selling/x.go", selling + `
			func (s *Service) Pay(ctx context.Context) { s.store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error { s.processor.Charge(ctx); return nil }) }`,
			"processor.Charge waits"},
		"the processor inside, through two functions": {"modules/selling/x.go", selling + `
			func (s *Service) Pay(ctx context.Context) { s.store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error { s.indirectly(ctx); return nil }) }`,
			"indirectly waits"},
		"the processor in a listener": {"modules/selling/x.go", selling + `
			func (s *Service) Hear(ctx context.Context, r ports.Repos) { s.mail.Send(ctx) }`,
			"mail.Send waits"},
		"the processor after the transaction": {"modules/selling/x.go", selling + `
			func (s *Service) Pay(ctx context.Context) { s.store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error { s.loads(ctx); return nil }); s.indirectly(ctx) }`,
			""},
		"a test may do it": {"modules/selling/x_test.go", selling + `
			func (s *Service) Hear(ctx context.Context, r ports.Repos) { s.mail.Send(ctx) }`, ""},

		"a module uses its own repository": {"modules/selling/x.go", `package selling; import "sundry/ports"; func f(r ports.Repos) { r.Sessions.Find(); r.Tasks.Schedule() }`, ""},
		"a module uses a sibling's": {"modules/selling/x.go", `package selling; import "sundry/ports"; func f(r ports.Repos) { r.Listings.Find() }`,
			"touches Listings"},
		"a module reads a sibling's": {"modules/selling/x.go", `package selling; func f(s *Service) { s.store.Read(ctx).Listings.Find() }`,
			"touches Listings"},
		"a module reads a sibling's by a variable": {"modules/selling/x.go", `package selling; func f(s *Service) { repos := s.store.Read(ctx); repos.Listings.Find() }`,
			"touches Listings"},
		"a field of the same name is no repository": {"modules/selling/x.go", `package selling; func f(s *Service) { s.Listings.Find() }`, ""},
		"a module without a line":                   {"modules/gossip/x.go", `package gossip`, "no line in mayTouch"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := parse(token.NewFileSet(), c.path, c.path, c.text)
			if err != nil {
				t.Fatal(err)
			}
			faults := faultsOf([]source{s}, []string{"Sessions", "Listings", "Tasks"}, table)
			switch {
			case c.want == "" && len(faults) > 0:
				t.Errorf("good code is refused: %v", faults)
			case c.want != "" && (len(faults) != 1 || !strings.Contains(faults[0], c.want)):
				t.Errorf("faults %q, want exactly one with %q", faults, c.want)
			}
		})
	}
}
