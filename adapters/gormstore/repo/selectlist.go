package repo

import (
	"reflect"
	"regexp"
	"strings"
)

// everyColumn matches the * of a select list, all columns of a table. The * of a derived table stays, whose columns its
// own select list names.
var everyColumn = regexp.MustCompile(`\b(\w+)\.\*|\b(SELECT|RETURNING) \*(\s+FROM\s+\()?`)

// listed are the queries with their columns.
var listed Memo[listedQuery, string]

type listedQuery struct {
	row   reflect.Type
	query string
}

// WithColumns names the columns of R where a query asks for all of a table. A migration of the next version may add
// columns while this one runs: PostgreSQL refuses a prepared query whose result gets more of them. What is wrong with R
// is reported where the rows are read.
func WithColumns[R any](b *Base, query string) string {
	row := reflect.TypeFor[R]()
	named, _ := listed.Get(listedQuery{row, query}, func() (string, error) {
		of, err := schemaOf(b.DB, row)
		if err != nil {
			return query, err
		}
		return everyColumn.ReplaceAllStringFunc(query, func(all string) string {
			parts := everyColumn.FindStringSubmatch(all)
			table, verb, derived := parts[1], parts[2], parts[3]
			switch {
			case derived != "":
				return all
			case table == "":
				return verb + ` "` + strings.Join(of.DBNames, `", "`) + `"` + derived
			}
			return table + `."` + strings.Join(of.DBNames, `", `+table+`."`) + `"`
		}), nil
	})
	return named
}
