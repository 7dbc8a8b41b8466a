package main

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"sundry/tests/loopback"
	"sundry/tests/testenv"
)

// environment holds the services, the address and the folder that a shop runs with.
type environment struct {
	// database and redis are its own, address is where it listens, and folder where it is installed.
	database, redis, address, folder string
	// postmaster is the process of PostgreSQL; 0 where it is on another machine.
	postmaster int
}

// url returns the shop's origin.
func (e environment) url() string { return "http://" + e.address }

// vars are the variables of a Node.js shop, and more.
func (e environment) vars(more ...string) []string {
	return slices.Concat([]string{"NODE_ENV=production", "DATABASE_URL=" + e.database, "REDIS_URL=" + e.redis,
		"MEDUSA_DISABLE_TELEMETRY=true", "PORT=" + e.address[strings.LastIndexByte(e.address, ':')+1:]}, more)
}

// newEnvironment makes the database and the folder of a shop.
func newEnvironment(ctx context.Context, name string, n int) (e environment, drop func() error, err error) {
	server := testenv.Get(testenv.Database)
	if server == "" {
		return e, nil, errors.New("set " + testenv.Database + " to the address of a PostgreSQL")
	}
	cfg, err := pgx.ParseConfig(server)
	if err != nil {
		return e, nil, err
	}
	if e.redis, err = redisDatabase(n); err != nil {
		return e, nil, err
	}
	if e.address, err = loopback.FreeAddress(ctx); err != nil {
		return e, nil, err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return e, nil, err
	}
	e.folder = filepath.Join(cache, "sundry-tests", "peers", name)
	database := "sundry_peer_" + name
	// Node.js shops read no more of the address than these parts.
	address := url.URL{Scheme: "postgres", User: url.UserPassword(cfg.User, cfg.Password), Path: database,
		Host: net.JoinHostPort(cfg.Host, strconv.Itoa(int(cfg.Port))), RawQuery: "sslmode=disable"}
	e.database = address.String()
	const postmaster = `SELECT split_part(pg_read_file('postmaster.pid'), E'\n', 1)::int WHERE inet_server_addr() <<= '127.0.0.0/8'`
	err = withConnection(ctx, cfg, func(c *pgx.Conn) error {
		if err := c.QueryRow(ctx, postmaster).Scan(&e.postmaster); err != nil {
			e.postmaster = 0 // it is elsewhere, or the user may not see it: what it uses is left out
		}
		_, err := c.Exec(ctx, "DROP DATABASE IF EXISTS "+database+" WITH (FORCE)")
		if err == nil {
			_, err = c.Exec(ctx, "CREATE DATABASE "+database)
		}
		return err
	})
	return e, func() error {
		return withConnection(context.WithoutCancel(ctx), cfg, func(c *pgx.Conn) error {
			_, err := c.Exec(ctx, "DROP DATABASE "+database+" WITH (FORCE)")
			return err
		})
	}, err
}

func withConnection(ctx context.Context, cfg *pgx.ConnConfig, do func(c *pgx.Conn) error) error {
	c, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return err
	}
	return errors.Join(do(c), c.Close(ctx))
}

//go:embed medusa vendure
var files embed.FS

// install writes the files of a Node.js shop into its folder, and has npm install what they need.
func (e environment) install(ctx context.Context, name string) error {
	from, err := fs.Sub(files, name)
	if err != nil {
		return err
	}
	if err := writeFiles(from, e.folder); err != nil {
		return err
	}
	fmt.Printf("%s: npm install in %s\n", name, e.folder)
	_, err = e.run(ctx, "npm", "install", "--no-audit", "--no-fund", "--loglevel=error", "--legacy-peer-deps")
	return err
}

func writeFiles(from fs.FS, folder string) error {
	return fs.WalkDir(from, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		raw, err := fs.ReadFile(from, path)
		if err != nil {
			return err
		}
		to := filepath.Join(folder, filepath.FromSlash(path))
		return errors.Join(os.MkdirAll(filepath.Dir(to), 0o750), os.WriteFile(to, raw, 0o600))
	})
}

// run runs a command in the shop's folder.
func (e environment) run(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...) //nolint:gosec // of the benches
	cmd.Dir = e.folder
	cmd.Env = append(os.Environ(), e.vars()...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, out[max(0, len(out)-2000):])
	}
	return string(out), nil
}

// seeded is the line by which a seed says what a buyer has to name.
var seeded = regexp.MustCompile(`SEEDED (\{.*\})`)

// seed fills the database by a command, and reads what it prints.
func (e environment) seed(ctx context.Context, into any, args ...string) error {
	out, err := e.run(ctx, args...)
	if err != nil {
		return err
	}
	found := seeded.FindStringSubmatch(out)
	if found == nil {
		return errors.New("the seed did not say what it made: " + strconv.Quote(out))
	}
	return json.Unmarshal([]byte(found[1]), into)
}
