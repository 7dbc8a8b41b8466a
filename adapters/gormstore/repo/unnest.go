package repo

import "github.com/jackc/pgx/v5"

// Columns gathers rows into the arrays that a statement unnests, by their names.
type Columns map[string][]any

// NewColumns returns columns without a row.
func NewColumns(names ...string) Columns {
	c := make(Columns, len(names))
	for _, name := range names {
		c[name] = []any{}
	}
	return c
}

// Add adds a row to the columns that it names.
func (c Columns) Add(row map[string]any) {
	for name, value := range row {
		c[name] = append(c[name], value)
	}
}

// Args returns the arrays as the named parameters of the statement.
func (c Columns) Args() pgx.NamedArgs {
	args := make(pgx.NamedArgs, len(c))
	for name, values := range c {
		args[name] = values
	}
	return args
}
