package gormstore

import (
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/callbacks"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/logger"
	"gorm.io/gorm/schema"
)

// sqliteDialector tells gorm how to write SQLite's SQL. It makes no tables: those come from the migrations.
type sqliteDialector struct{ conn gorm.ConnPool }

// Name implements gorm.Dialector.
func (sqliteDialector) Name() string { return "sqlite" }

// Initialize implements gorm.Dialector.
func (d sqliteDialector) Initialize(db *gorm.DB) error {
	db.ConnPool = d.conn
	callbacks.RegisterDefaultCallbacks(db, &callbacks.Config{})
	// SQLite has no row locks and refuses FOR UPDATE.
	db.ClauseBuilders["FOR"] = func(clause.Clause, clause.Builder) {}
	return nil
}

// BindVarTo implements gorm.Dialector.
func (sqliteDialector) BindVarTo(writer clause.Writer, _ *gorm.Statement, _ any) {
	_ = writer.WriteByte('?')
}

// QuoteTo implements gorm.Dialector. In double quotes SQLite would take the name of a missing column for a text.
func (sqliteDialector) QuoteTo(writer clause.Writer, name string) {
	_, _ = writer.WriteString("`" + strings.ReplaceAll(name, ".", "`.`") + "`")
}

// Explain implements gorm.Dialector.
func (sqliteDialector) Explain(sql string, vars ...any) string {
	return logger.ExplainSQL(sql, nil, `"`, vars...)
}

// Migrator implements gorm.Dialector: there is none.
func (sqliteDialector) Migrator(*gorm.DB) gorm.Migrator { return nil }

// DataTypeOf implements gorm.Dialector for a migrator.
func (sqliteDialector) DataTypeOf(field *schema.Field) string { return string(field.DataType) }

// DefaultValueOf implements gorm.Dialector for columns that the database fills, of which there are none.
func (sqliteDialector) DefaultValueOf(*schema.Field) clause.Expression {
	return clause.Expr{SQL: "NULL"}
}
