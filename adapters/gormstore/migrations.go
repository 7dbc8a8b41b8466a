package gormstore

import (
	"embed"
	"io/fs"
	"strings"
)

// Migrations are SQL that both engines understand, in one row of numbers. What only one of them understands is in a
// folder of the engine's name, and both folders have a file of that number.
//
//go:embed migrations/*.sql migrations/postgres/*.sql migrations/sqlite/*.sql
var migrations embed.FS

//go:embed tuning/postgres.sql
var postgresTuning string

// Schema returns the text of every migration, of their records and of the tuning: two builds with the same text make
// the same database.
func Schema() string {
	var all strings.Builder
	for _, pattern := range []string{"migrations/*.sql", "migrations/*/*.sql"} {
		files, _ := fs.Glob(migrations, pattern) // the pattern is well formed
		for _, name := range files {
			text, _ := migrations.ReadFile(name) // embedded
			all.WriteString(name + "\n" + string(text))
		}
	}
	return all.String() + strings.Join(schemaTables, "") + postgresTuning
}

// engineFiles are the migrations of one engine as one folder.
type engineFiles struct{ shared, own fs.FS }

func migrationsOf(engine string) (fs.FS, error) {
	shared, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	own, err := fs.Sub(shared, engine)
	return engineFiles{shared, own}, err
}

// Open implements fs.FS.
func (f engineFiles) Open(name string) (fs.File, error) {
	if file, err := f.own.Open(name); name != "." && err == nil {
		return file, nil
	}
	return f.shared.Open(name)
}

// ReadDir implements fs.ReadDirFS.
func (f engineFiles) ReadDir(name string) ([]fs.DirEntry, error) {
	all, err := fs.ReadDir(f.shared, name)
	if err != nil {
		return nil, err
	}
	own, err := fs.ReadDir(f.own, name)
	return append(all, own...), err
}
