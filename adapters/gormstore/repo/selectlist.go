package repo

import (
	"reflect"
	"regexp"
	"strings"
	"sync"
)

// everyColumn matches the * of a select list, all columns of a table. The * of a derived table stays, whose columns its
// own select list names.
var everyColumn = regexp.MustCompile(`\b(\w+)\.\*|\b(SELECT|RETURNING) \*(\s+FROM\s+\()?`)

// listed remembers the queries with their columns: they are few.
var listed sync.Map // listedQuery → string

type listedQuery struct {
	row   reflect.Type
	query string
}

// WithColumns names the columns of R where a query asks for all of a table. A migration of the next version may add
// columns while this one runs: PostgreSQL refuses a prepared query whose result gets more of them. What is wrong with R
// is reported where the rows are read.
func WithColumns[R any](b *Base, query string) string {
	key := listedQuery{reflect.TypeFor[R](), query}
	if known, ok := listed.Load(key); ok {
		return known.(string) //nolint:forcetypeassert,errcheck // it is only written below
	}
	of, err := schemaOf(b.DB, new(R))
	if err != nil {
		return query
	}
	named := everyColumn.ReplaceAllStringFunc(query, func(all string) string {
		parts := everyColumn.FindStringSubmatch(all)
		table, verb, derived := parts[1], parts[2], parts[3]
		switch {
		case derived != "":
			return all
		case table == "":
			return verb + ` "` + strings.Join(of.DBNames, `", "`) + `"` + derived
		}
		return table + `."` + strings.Join(of.DBNames, `", `+table+`."`) + `"`
	})
	listed.Store(key, named)
	return named
}
