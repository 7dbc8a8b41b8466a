package gormstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/pressly/goose/v3"

	"sundry/adapters/gormstore/repo"
)

// phase says whether the program before a migration can go on beside it.
type phase string

const (
	// expand adds what the program before does not see. Contract takes away, or refuses, what it may still use. Neutral is
	// neither. The table migration_phases has these words.
	neutral  phase = "data"
	expand   phase = "expand"
	contract phase = "contract"
)

// change is a statement of a migration.
type change struct {
	statement string
	phase     phase
	// table is the table that is locked; "" when the statement locks none that existed before the migration.
	table string
	// lock is PostgreSQL's name of the lock, and blocks says whom it keeps waiting.
	lock, blocks string
	// scans is set if the lock is held for as long as it takes to read or write the whole table.
	scans bool
	// concurrently is set if PostgreSQL refuses the statement inside a transaction.
	concurrently bool
}

// Kinds of locks, with those that wait for them.
const (
	accessExclusive = "ACCESS EXCLUSIVE"
	share           = "SHARE"
	shareUpdate     = "SHARE UPDATE EXCLUSIVE"
	rowExclusive    = "ROW EXCLUSIVE"
)

var blocked = map[string]string{
	accessExclusive: "reads and writes wait", share: "writes wait", shareUpdate: "nothing waits",
	rowExclusive: "writers of the same rows wait",
}

// rule describes the statements that match a pattern, whose first group is the table.
type rule struct {
	pattern *regexp.Regexp
	phase   phase
	lock    string
	scans   bool
}

func statementRule(pattern string, p phase, lock string, scans bool) rule {
	return rule{regexp.MustCompile(`(?is)^` + strings.ReplaceAll(pattern, " ", `\s+`)), p, lock, scans}
}

// rules are tried in their order.
var rules = []rule{
	statementRule(`CREATE INDEX CONCURRENTLY .*?ON (?:ONLY )?(\w+)`, expand, shareUpdate, true),
	statementRule(`CREATE UNIQUE INDEX CONCURRENTLY .*?ON (?:ONLY )?(\w+)`, contract, shareUpdate, true),
	statementRule(`CREATE INDEX .*?ON (?:ONLY )?(\w+)`, expand, share, true),
	statementRule(`CREATE UNIQUE INDEX .*?ON (?:ONLY )?(\w+)`, contract, share, true),
	statementRule(`CREATE (?:CONSTRAINT )?TRIGGER .*?ON (\w+)`, contract, "SHARE ROW EXCLUSIVE", false),
	statementRule(`CREATE (?:OR REPLACE )?FUNCTION ()`, expand, "", false),
	statementRule(`CREATE EXTENSION ()`, expand, "", false),
	statementRule(`ALTER TABLE (\w+) ADD COLUMN (?:\w+ )(?:[^;]*NOT NULL(?:[^;]*DEFAULT)|[^;]*DEFAULT)`, expand,
		accessExclusive, false),
	statementRule(`ALTER TABLE (\w+) ADD COLUMN [^;]*NOT NULL`, contract, accessExclusive, false),
	statementRule(`ALTER TABLE (\w+) ADD COLUMN `, expand, accessExclusive, false),
	statementRule(`ALTER TABLE (\w+) ADD CONSTRAINT [^;]*NOT VALID`, contract, accessExclusive, false),
	statementRule(`ALTER TABLE (\w+) VALIDATE CONSTRAINT `, neutral, shareUpdate, true),
	statementRule(`ALTER TABLE (\w+) ADD `, contract, accessExclusive, true),
	statementRule(`ALTER TABLE (\w+) (?:DROP CONSTRAINT|ALTER (?:COLUMN )?\w+ DROP NOT NULL)`, expand, accessExclusive,
		false),
	statementRule(`ALTER TABLE (\w+) ALTER (?:COLUMN )?\w+ SET DEFAULT`, expand, accessExclusive, false),
	statementRule(`ALTER TABLE (\w+) SET \(`, neutral, shareUpdate, false),
	statementRule(`ALTER TABLE (\w+) REPLICA IDENTITY `, neutral, accessExclusive, false),
	statementRule(`ALTER TABLE (\w+) (?:DROP|RENAME) `, contract, accessExclusive, false),
	statementRule(`ALTER TABLE (\w+) `, contract, accessExclusive, true),
	statementRule(`DROP TABLE (?:IF EXISTS )?(\w+)`, contract, accessExclusive, false),
	statementRule(`DROP TRIGGER (?:IF EXISTS )?\w+ ON (\w+)`, expand, accessExclusive, false),
	statementRule(`DROP (?:INDEX|FUNCTION|TRIGGER|VIEW|TYPE|SEQUENCE) ()`, contract, accessExclusive, false),
	statementRule(`(?:INSERT INTO|UPDATE|DELETE FROM) (\w+)`, neutral, rowExclusive, true),
	statementRule(`(?:SELECT|WITH|SET|DO|CREATE SEQUENCE|ALTER SEQUENCE|CREATE TYPE) ?()`, neutral, "", false),
}

var (
	createsTable = regexp.MustCompile(`(?is)^CREATE\s+TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?(\w+)`)
	lineComment  = regexp.MustCompile(`(?m)--.*$`)
	spaces       = regexp.MustCompile(`\s+`)
)

// changesOf reads the statements of a migration that it runs on the way up. A statement that no rule knows is an error.
func changesOf(content string) ([]change, error) {
	created := map[string]bool{}
	var all []change
	for _, statement := range statementsOf(content) {
		if match := createsTable.FindStringSubmatch(statement); match != nil {
			created[strings.ToLower(match[1])] = true
			all = append(all, change{statement: statement, phase: expand})
			continue
		}
		at := slices.IndexFunc(rules, func(r rule) bool { return r.pattern.MatchString(statement) })
		if at < 0 {
			return nil, fmt.Errorf("what does this do to a program that runs beside it? %.60s", statement)
		}
		r := rules[at]
		c := change{statement: statement, phase: r.phase, lock: r.lock, blocks: blocked[r.lock], scans: r.scans,
			table:        strings.ToLower(r.pattern.FindStringSubmatch(statement)[1]),
			concurrently: strings.Contains(strings.ToUpper(statement), " CONCURRENTLY ")}
		if created[c.table] { // nobody else knows it yet
			c.table, c.lock, c.blocks, c.scans = "", "", "", false
			if c.phase == contract {
				c.phase = expand
			}
		}
		all = append(all, c)
	}
	return all, nil
}

// statementsOf splits the part of a migration above its way down.
func statementsOf(content string) []string {
	up, _, _ := strings.Cut(content, "-- +goose Down")
	if _, after, ok := strings.Cut(up, "-- +goose Up"); ok {
		up = after
	}
	var all []string
	add := func(text string) {
		if text = strings.TrimSpace(spaces.ReplaceAllString(lineComment.ReplaceAllString(text, ""), " ")); text != "" {
			all = append(all, text)
		}
	}
	for i, part := range strings.Split(up, "-- +goose StatementBegin") {
		if i > 0 {
			whole, rest, _ := strings.Cut(part, "-- +goose StatementEnd")
			add(whole)
			part = rest
		}
		for statement := range strings.SplitSeq(lineComment.ReplaceAllString(part, ""), ";") {
			add(statement)
		}
	}
	return all
}

// phasesOf are the phases of a migration, which has one of them at most when the program before may run beside it.
func phasesOf(changes []change) []phase {
	found := map[phase]bool{}
	for _, c := range changes {
		found[c.phase] = true
	}
	delete(found, neutral)
	return slices.Sorted(maps.Keys(found))
}

// judged are the phases of migrations that their statements alone do not tell.
var judged = map[int64]phase{
	66:  expand,  // its triggers refuse nothing: they write to a table that older programs do not know
	354: neutral, // no program reads its indexes, or needs what the unique one refuses
}

// phaseOf returns what a migration does to programs that do not know it.
func phaseOf(version int64, changes []change) phase {
	if known, ok := judged[version]; ok {
		return known
	}
	phases := phasesOf(changes)
	switch {
	case slices.Contains(phases, contract):
		return contract
	case slices.Contains(phases, expand):
		return expand
	}
	return neutral
}

// PlanMigrations describes, a line each, the migrations that Migrate would run now, with the locks that they take. It
// changes nothing.
func (s *Store) PlanMigrations(ctx context.Context) (lines []string, err error) {
	db, err := s.write.DB()
	if err != nil {
		return nil, fmt.Errorf("database handle: %w", err)
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return nil, fmt.Errorf("plan migrations: %w", err)
	}
	defer func() { err = errors.Join(err, tx.Rollback()) }()
	ran, err := s.ranMigrations(ctx, tx)
	if err != nil {
		return nil, err
	}
	return s.planAfter(ctx, tx, ran)
}

// PlanNewDatabase is PlanMigrations of a SQLite database that is not there yet.
func PlanNewDatabase(ctx context.Context) (lines []string, err error) {
	return (&Store{dialect: sqliteDialect{}}).planAfter(ctx, nil, nil)
}

// planAfter describes the migrations that follow those that ran. On SQLite it asks the database nothing.
func (s *Store) planAfter(ctx context.Context, tx *sql.Tx, ran map[int64]ranMigration) (lines []string, err error) {
	_, files, err := s.migrationFiles()
	if err != nil {
		return nil, err
	}
	known, err := readMigrations(files)
	if err != nil {
		return nil, err
	}
	later, err := compareSchema(ran, known)
	if err != nil {
		return nil, err
	}
	for _, version := range later {
		lines = append(lines, fmt.Sprintf("%05d of a later version ran before: this version runs beside it", version))
	}
	for _, m := range known {
		if _, done := ran[m.version]; done {
			continue
		}
		lines = append(lines, m.path+" ("+string(m.phase)+")")
		for _, c := range m.changes {
			line, err := s.describe(ctx, tx, c)
			if err != nil {
				return nil, err
			}
			lines = append(lines, "  "+line)
		}
	}
	return lines, nil
}

// bind returns what numbers the parameters of a statement as the engine wants them.
func (s *Store) bind() func(query string) string {
	if _, ok := s.dialect.(postgresDialect); ok {
		return repo.Numbered
	}
	return func(query string) string { return query }
}

// sourcesOf lists the migrations in their order.
func sourcesOf(files fs.FS) ([]*goose.Source, error) {
	entries, err := fs.ReadDir(files, ".")
	if err != nil {
		return nil, fmt.Errorf("embedded migrations: %w", err)
	}
	var all []*goose.Source
	for _, entry := range entries {
		if entry.IsDir() || !strings.HasSuffix(entry.Name(), ".sql") {
			continue
		}
		version, err := goose.NumericComponent(entry.Name())
		if err != nil {
			return nil, fmt.Errorf("migration %s: %w", entry.Name(), err)
		}
		all = append(all, &goose.Source{Type: goose.TypeSQL, Path: entry.Name(), Version: version})
	}
	slices.SortFunc(all, func(a, b *goose.Source) int { return int(a.Version - b.Version) })
	return all, nil
}

// bytesPerSecond is the speed at which a table is assumed to be read and written: that of a slow disk.
const bytesPerSecond = 50 << 20

// describe says what a statement locks, and for how long with the rows that are there.
func (s *Store) describe(ctx context.Context, tx *sql.Tx, c change) (string, error) {
	text := c.statement
	if len(text) > 72 {
		text = text[:69] + "..."
	}
	if c.lock == "" {
		return text + ": locks nothing that is there", nil
	}
	if _, ok := s.dialect.(postgresDialect); !ok {
		return text + ": all writers wait, as for every write of SQLite", nil
	}
	size := int64(0)
	if c.table != "" {
		err := tx.QueryRowContext(ctx, "SELECT COALESCE(pg_total_relation_size(to_regclass($1)), 0)", c.table).Scan(&size)
		if err != nil {
			return "", fmt.Errorf("size of %s: %w", c.table, err)
		}
	}
	took := "for an instant"
	if c.scans {
		took = "for about " + max(time.Duration(size)*time.Second/bytesPerSecond, time.Millisecond).
			Round(time.Millisecond).String()
	}
	what := c.lock + " lock"
	if c.table != "" {
		what += " on " + c.table
	}
	line := text + ": " + what + " " + took
	if c.blocks != "" {
		line += ", " + c.blocks
	}
	return line, nil
}
