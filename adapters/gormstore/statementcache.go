package gormstore

import (
	"container/list"
	"context"
	"database/sql/driver"
)

// maxStatements bounds the prepared statements that a connection to SQLite keeps. Each has about 6 kB.
const maxStatements = 200

// cachingConnector opens connections to SQLite that keep their statements prepared. The driver prepares each statement
// again, which takes longer than running most of them.
type cachingConnector struct{ driver.Connector }

// Connect implements driver.Connector.
func (c cachingConnector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	lent := conn.(sqliteConn) //nolint:forcetypeassert,errcheck // the driver's
	return &cachingConn{sqliteConn: lent, idle: map[string]*list.Element{}}, nil
}

// sqliteConn lists what database/sql knows of a connection of the driver.
type sqliteConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.Pinger
	driver.SessionResetter
	driver.Validator
}

// cachingConn is a connection with the statements that it ran last. Like any driver.Conn it is used by one goroutine at
// a time. A statement that runs is not among them, so that the same text can run beside it. SQLite itself prepares a
// statement again once the schema has changed.
type cachingConn struct {
	sqliteConn
	idle map[string]*list.Element // by text
	used list.List                // of *keptStatement, the last used first
}

// keptStatement is prepared, and reset after each run.
type keptStatement struct {
	sqliteStmt
	text string
}

type sqliteStmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// ExecContext implements driver.ExecerContext. What has no parameters runs once, as migrations do, or would have to be
// prepared each time, as some pragmas.
func (c *cachingConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if len(args) == 0 {
		return c.sqliteConn.ExecContext(ctx, query, args)
	}
	s, err := c.take(ctx, query)
	if err != nil {
		return nil, err
	}
	defer c.keep(s)
	return s.ExecContext(ctx, args)
}

// QueryContext implements driver.QueryerContext.
func (c *cachingConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if len(args) == 0 {
		return c.sqliteConn.QueryContext(ctx, query, args)
	}
	s, err := c.take(ctx, query)
	if err != nil {
		return nil, err
	}
	rows, err := s.QueryContext(ctx, args)
	if err != nil {
		c.keep(s)
		return nil, err
	}
	return &cachedRows{rows, c, s}, nil
}

// Close implements driver.Conn.
func (c *cachingConn) Close() error {
	for c.used.Len() > 0 {
		c.drop()
	}
	return c.sqliteConn.Close()
}

// take returns a statement that nothing else runs.
func (c *cachingConn) take(ctx context.Context, text string) (*keptStatement, error) {
	if element, ok := c.idle[text]; ok {
		delete(c.idle, text)
		return c.used.Remove(element).(*keptStatement), nil //nolint:forcetypeassert,errcheck // it is only written by keep
	}
	prepared, err := c.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	return &keptStatement{prepared.(sqliteStmt), text}, nil //nolint:forcetypeassert,errcheck // the driver's
}

// keep stores a statement for its next run, and drops the one that was used longest ago where there are too many.
func (c *cachingConn) keep(s *keptStatement) {
	if _, ok := c.idle[s.text]; ok { // it ran beside another one
		_ = s.Close()
		return
	}
	c.idle[s.text] = c.used.PushFront(s)
	if c.used.Len() > maxStatements {
		c.drop()
	}
}

// drop closes the statement that was used longest ago.
func (c *cachingConn) drop() {
	s := c.used.Remove(c.used.Back()).(*keptStatement) //nolint:forcetypeassert,errcheck // it is only written by keep
	delete(c.idle, s.text)
	_ = s.Close()
}

// cachedRows store their statement for its next run when they are closed.
type cachedRows struct {
	driver.Rows
	conn      *cachingConn
	statement *keptStatement // nil once they are closed
}

// Close implements driver.Rows.
func (r *cachedRows) Close() error {
	if r.statement == nil {
		return nil
	}
	defer r.conn.keep(r.statement)
	r.statement = nil
	return r.Rows.Close()
}
