package testdb

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/url"
	"strconv"

	"github.com/jackc/pgx/v5"

	"sundry/tests/testenv"
)

// cell is the schema of a database's tables on Citus, which distributes them by schema: all of a cell are on one node.
const cell = "cell"

// onCitus reports whether the databases of PostgreSQL are made on the cluster of TEST_CITUS_URL.
func onCitus() bool { return testenv.Get(testenv.Citus) != "" }

// node is a server of the cluster, as the others reach it.
type node struct {
	Name  string
	Port  int
	Group int  // 0 is the coordinator's
	Keeps bool // tables
}

// address returns where tests reach the node; "" is the address of TEST_CITUS_URL, the coordinator's.
func (n node) address() string {
	if n.Group == 0 {
		return ""
	}
	return net.JoinHostPort(n.Name, strconv.Itoa(n.Port))
}

func nodesOf(ctx context.Context, coordinator *pgx.Conn) ([]node, error) {
	rows, err := coordinator.Query(ctx,
		"SELECT nodename, nodeport, groupid, shouldhaveshards FROM pg_dist_node WHERE noderole = 'primary' ORDER BY groupid")
	if err != nil {
		return nil, fmt.Errorf("list the nodes of TEST_CITUS_URL: %w", err)
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[node])
}

// everywhere runs statements on the server, and on Citus on its workers too: each database is on every node.
func everywhere(ctx context.Context, admin *pgx.Conn, statements ...string) error {
	if err := execAll(ctx, admin, statements...); err != nil || !onCitus() {
		return err
	}
	nodes, err := nodesOf(ctx, admin)
	if err != nil {
		return err
	}
	for _, n := range nodes {
		if n.Group == 0 {
			continue
		}
		if err := onNode(ctx, n, admin.Config().Database, func(worker *pgx.Conn) error {
			return execAll(ctx, worker, statements...)
		}); err != nil {
			return fmt.Errorf("on the worker %s: %w", n.Name, err)
		}
	}
	return nil
}

// onNode runs work on a connection to a database of a node, with the name and the password of TEST_CITUS_URL.
func onNode(ctx context.Context, n node, database string, work func(conn *pgx.Conn) error) error {
	u, err := url.Parse(server())
	if err != nil {
		return errNoAddress
	}
	u.Host, u.Path = cmp.Or(n.address(), u.Host), "/"+database
	conn, err := pgx.Connect(ctx, u.String())
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	return work(conn)
}

// cluster makes a new database one of Citus, if there is one, with the cell's schema.
func cluster(ctx context.Context, admin *pgx.Conn, database string) error {
	if !onCitus() {
		return nil
	}
	nodes, err := nodesOf(ctx, admin)
	if err != nil {
		return err
	}
	if err := everywhere(ctx, admin, "ALTER DATABASE "+database+" SET citus.enable_unsafe_triggers = on"); err != nil {
		return err
	}
	for _, n := range nodes {
		if err := onNode(ctx, n, database, func(conn *pgx.Conn) error {
			return execAll(ctx, conn, "CREATE EXTENSION citus")
		}); err != nil {
			return err
		}
	}
	return onNode(ctx, node{}, database, func(coordinator *pgx.Conn) error {
		for _, n := range nodes {
			add := "SELECT citus_add_node($1, $2)"
			if n.Group == 0 {
				add = "SELECT citus_set_coordinator_host($1, $2)"
			}
			if _, err := coordinator.Exec(ctx, add, n.Name, n.Port); err != nil {
				return fmt.Errorf("%s: %w", add, err)
			}
			const keep = "SELECT citus_set_node_property($1, $2, 'shouldhaveshards', $3)"
			if _, err := coordinator.Exec(ctx, keep, n.Name, n.Port, n.Keeps); err != nil {
				return fmt.Errorf("%s: %w", keep, err)
			}
		}
		return execAll(ctx, coordinator, "CREATE SCHEMA "+cell)
	})
}

// distribute moves the migrated cell of a database to one of the workers of Citus.
func distribute(ctx context.Context, database string) error {
	return onNode(ctx, node{}, database, func(coordinator *pgx.Conn) error {
		return execAll(ctx, coordinator, "SELECT citus_schema_distribute('"+cell+"')")
	})
}

// disconnect ends what the nodes of Citus have connected to a database by themselves, which would be there again at
// once.
func disconnect(ctx context.Context, admin *pgx.Conn, database string) error {
	if !onCitus() {
		return nil
	}
	var found bool
	err := admin.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)", database).Scan(&found)
	if err != nil || !found {
		return err
	}
	if err := everywhere(ctx, admin, "ALTER DATABASE "+database+" WITH ALLOW_CONNECTIONS false"); err != nil {
		return err
	}
	return everywhere(ctx, admin, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '"+database+"'")
}

// reconnect lets the nodes of Citus and everybody connect again.
func reconnect(ctx context.Context, admin *pgx.Conn, database string) error {
	if !onCitus() {
		return nil
	}
	return everywhere(ctx, admin, "ALTER DATABASE "+database+" WITH ALLOW_CONNECTIONS true")
}
