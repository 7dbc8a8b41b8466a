package gormstore

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"gorm.io/gorm"

	"sundry/adapters/gormstore/repo"
	"sundry/ports"
)

// Traced records transactions and statements as spans, and has tasks continue the trace that scheduled them.
func Traced(tracer ports.Tracer) Option { return func(s *Store) { s.tracer = tracer } }

// maxStatementText bounds the statements that a span carries, in bytes.
const maxStatementText = 8 << 10

// beginStatement begins the span of a round trip. Statements carry no values: those are parameters.
func beginStatement(ctx context.Context, t ports.Tracer, system, name, text string) (context.Context, ports.Span) {
	return t.Begin(ctx, ports.CallSpan, name, ports.Attribute{Key: "db.system.name", Value: system},
		ports.Attribute{Key: "db.query.text", Value: text[:min(len(text), maxStatementText)]})
}

// operation is the first word of a statement.
func operation(query string) string {
	words := strings.Fields(query[:min(len(query), 64)])
	if len(words) == 0 {
		return "statement"
	}
	return strings.ToUpper(words[0])
}

// statementFailure is the SQLSTATE of an error, or its type. The text of an error may quote a value.
func statementFailure(err error) string {
	if refused, ok := errors.AsType[*pgconn.PgError](err); ok {
		return refused.Code
	}
	if errors.Is(err, pgx.ErrNoRows) || errors.Is(err, gorm.ErrRecordNotFound) {
		return ""
	}
	return ports.ErrorType(err)
}

// pgxTracer gives each round trip to PostgreSQL a span.
type pgxTracer struct{ ports.Tracer }

var (
	_ pgx.QueryTracer = pgxTracer{}
	_ pgx.BatchTracer = pgxTracer{}
)

type statementSpanKey struct{}

func (t pgxTracer) begin(ctx context.Context, name, text string) context.Context {
	ctx, span := beginStatement(ctx, t, "postgresql", name, text)
	return context.WithValue(ctx, statementSpanKey{}, span)
}

func (pgxTracer) end(ctx context.Context, err error) {
	if span, ok := ctx.Value(statementSpanKey{}).(ports.Span); ok {
		span.End(statementFailure(err))
	}
}

// TraceQueryStart implements pgx.QueryTracer.
func (t pgxTracer) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	return t.begin(ctx, operation(data.SQL), data.SQL)
}

// TraceQueryEnd implements pgx.QueryTracer.
func (t pgxTracer) TraceQueryEnd(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryEndData) {
	t.end(ctx, data.Err)
}

// TraceBatchStart implements pgx.BatchTracer.
func (t pgxTracer) TraceBatchStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceBatchStartData) context.Context {
	var text strings.Builder
	for _, query := range data.Batch.QueuedQueries {
		text.WriteString(query.SQL + ";\n")
	}
	ctx = t.begin(ctx, "BATCH", text.String())
	if span, ok := ctx.Value(statementSpanKey{}).(ports.Span); ok {
		span.Set(ports.Attribute{Key: "db.operation.batch.size", Value: strconv.Itoa(data.Batch.Len())})
	}
	return ctx
}

// TraceBatchQuery implements pgx.BatchTracer.
func (pgxTracer) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}

// TraceBatchEnd implements pgx.BatchTracer.
func (t pgxTracer) TraceBatchEnd(ctx context.Context, _ *pgx.Conn, data pgx.TraceBatchEndData) {
	t.end(ctx, data.Err)
}

// traceGorm gives each statement of gorm a span, on SQLite, where gorm runs nearly all of them.
func traceGorm(db *gorm.DB, t ports.Tracer) error {
	const name, key = "sundry:trace", "sundry:span"
	begin := func(db *gorm.DB) {
		_, span := t.Begin(db.Statement.Context, ports.CallSpan, "statement",
			ports.Attribute{Key: "db.system.name", Value: "sqlite"})
		db.InstanceSet(key, span)
	}
	end := func(db *gorm.DB) {
		kept, _ := db.InstanceGet(key)
		if span, ok := kept.(ports.Span); ok {
			query := db.Statement.SQL.String()
			span.Rename(operation(query))
			span.Set(ports.Attribute{Key: "db.query.text", Value: query[:min(len(query), maxStatementText)]})
			span.End(statementFailure(db.Error))
		}
	}
	c := db.Callback()
	return errors.Join(
		c.Create().Before("*").Register(name+"_begin", begin), c.Create().After("*").Register(name, end),
		c.Update().Before("*").Register(name+"_begin", begin), c.Update().After("*").Register(name, end),
		c.Delete().Before("*").Register(name+"_begin", begin), c.Delete().After("*").Register(name, end),
		c.Query().Before("*").Register(name+"_begin", begin), c.Query().After("*").Register(name, end),
		c.Row().Before("*").Register(name+"_begin", begin), c.Row().After("*").Register(name, end),
		c.Raw().Before("*").Register(name+"_begin", begin), c.Raw().After("*").Register(name, end))
}

// point reads one row outside of gorm.
type point func(ctx context.Context, query string, args ...any) repo.Scanner

// traced is p with a span, which ends when the row is read.
func (p point) traced(t ports.Tracer) point {
	return func(ctx context.Context, query string, args ...any) repo.Scanner {
		ctx, span := beginStatement(ctx, t, "sqlite", operation(query), query)
		return tracedRow{p(ctx, query, args...), span}
	}
}

type tracedRow struct {
	repo.Scanner
	span ports.Span
}

// Scan implements repo.Scanner.
func (r tracedRow) Scan(into ...any) error {
	err := r.Scanner.Scan(into...)
	r.span.End(statementFailure(err))
	return err
}

// beginTransaction begins the span of one try of a transaction, its wait for its turn to write included; nil where
// nothing is traced.
func (s *Store) beginTransaction(ctx context.Context) (context.Context, ports.Span) {
	if s.tracer == nil {
		return ctx, nil
	}
	return s.tracer.Begin(ctx, ports.InternalSpan, "transaction")
}
