//go:build unix

package faults

import (
	"context"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"

	"sundry/tests/harness"
)

// server is a PostgreSQL or Redis of one test's own, to be stopped without warning and started again.
type server struct {
	t    testing.TB
	path string
	args []string
	env  []string            // beside the caller's; nil: the caller's
	as   *syscall.Credential // nil: the caller
	dir  string
	addr string
	// disk is the file system of its own that has its data, "" for none.
	disk string
	// ready reports whether it serves.
	ready func() bool
	cmd   *exec.Cmd
	log   *lockedBuffer
}

func (s *server) start() {
	s.t.Helper()
	s.cmd = exec.CommandContext(context.WithoutCancel(s.t.Context()), s.path, s.args...)
	if s.env != nil {
		s.cmd.Env = append(os.Environ(), s.env...)
	}
	s.cmd.Dir, s.cmd.Stdout, s.cmd.Stderr = s.dir, s.log, s.log
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.as}
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	harness.Eventually(s.t, s.path+" is ready", s.ready)
}

// listens reports whether the server takes connections.
func (s *server) listens() bool {
	conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(s.t.Context(), "tcp", s.addr)
	if err != nil {
		return false
	}
	return conn.Close() == nil
}

// run runs a program to its end as the server's account.
func (s *server) run(path string, args ...string) {
	s.t.Helper()
	cmd := exec.CommandContext(s.t.Context(), path, args...)
	cmd.Dir, cmd.SysProcAttr = s.dir, &syscall.SysProcAttr{Credential: s.as}
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Fatalf("%s %v: %v\n%s", path, args, err, out)
	}
}

// die ends the server by a signal and waits until it is gone.
func (s *server) die(how os.Signal) {
	_ = s.cmd.Process.Signal(how) // gone is as good as stopped
	_ = s.cmd.Wait()
}

// installed finds a program on PATH or, of several versions in a place, the newest.
func installed(name, place string) (string, bool) {
	if path, err := exec.LookPath(name); err == nil {
		return path, true
	}
	matches, err := filepath.Glob(place)
	if err != nil || len(matches) == 0 {
		return "", false
	}
	return matches[len(matches)-1], true
}

// newServer is a server that is not started yet, with a folder that its account owns.
func newServer(t testing.TB, path, account string) *server {
	t.Helper()
	dir, err := os.MkdirTemp("", "sundry-server-") //nolint:usetesting // another account has to reach it
	if err != nil {
		t.Fatal(err)
	}
	s := &server{t: t, path: path, dir: dir, addr: freeAddress(t), log: &lockedBuffer{}}
	s.ready = s.listens
	if os.Geteuid() == 0 && account != "" { // PostgreSQL refuses root
		owner, err := user.Lookup(account)
		if err != nil {
			t.Fatal(err)
		}
		uid, uidErr := strconv.ParseUint(owner.Uid, 10, 32)
		gid, gidErr := strconv.ParseUint(owner.Gid, 10, 32)
		if uidErr != nil || gidErr != nil {
			t.Fatal(uidErr, gidErr)
		}
		s.as = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		if err := os.Chown(dir, int(uid), int(gid)); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		if s.cmd != nil {
			s.die(syscall.SIGKILL)
		}
		if t.Failed() {
			t.Logf("log of %s:\n%s", path, s.log.String())
		}
		_ = os.RemoveAll(dir)
	})
	return s
}

// postgresServer is an empty cluster of the test's own, running; false where PostgreSQL's programs are not installed.
func postgresServer(t testing.TB) (_ *server, address string, ok bool) {
	t.Helper()
	s, address, ok := newPostgresServer(t)
	if ok {
		s.start()
	}
	return s, address, ok
}

// newPostgresServer is postgresServer before its start. Its data are in the folder data of its own.
func newPostgresServer(t testing.TB) (_ *server, address string, ok bool) {
	t.Helper()
	return newPostgresServerOn(t, func(*server) {})
}

// newPostgresServerOn is newPostgresServer where prepare makes what its data shall be on.
func newPostgresServerOn(t testing.TB, prepare func(*server)) (_ *server, address string, ok bool) {
	t.Helper()
	initdb, ok := installed("initdb", "/usr/lib/postgresql/*/bin/initdb")
	if !ok {
		return nil, "", false
	}
	initdb, err := filepath.EvalSymlinks(initdb) // the server lies beside the real one
	if err != nil {
		t.Fatal(err)
	}
	s := newServer(t, filepath.Join(filepath.Dir(initdb), "postgres"), "postgres")
	prepare(s)
	data := filepath.Join(s.dir, "data")
	s.run(initdb, "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync")
	host, port, _ := net.SplitHostPort(s.addr)
	// What was written is in the page cache: that survives the server, which is all that dies here.
	s.args = []string{
		"-D", data, "-p", port, "-c", "listen_addresses=" + host, "-c", "unix_socket_directories=", "-c", "fsync=off",
	}
	address = "postgres://postgres@" + s.addr + "/postgres?sslmode=disable"
	s.ready = func() bool { return accepts(t.Context(), address) }
	return s, address, true
}

// accepts reports whether a PostgreSQL lets anybody in, before which it listens.
func accepts(ctx context.Context, address string) bool {
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		return false
	}
	return conn.Close(ctx) == nil
}

// redisServer is a Redis of the test's own that keeps nothing, running; false where it is not installed.
func redisServer(t testing.TB) (_ *server, address string, ok bool) {
	t.Helper()
	path, ok := installed("redis-server", "/usr/local/bin/redis-server")
	if !ok {
		return nil, "", false
	}
	s := newServer(t, path, "")
	host, port, _ := net.SplitHostPort(s.addr)
	s.args = []string{"--port", port, "--bind", host, "--dir", s.dir, "--save", "", "--appendonly", "no"}
	s.start()
	return s, "redis://" + s.addr + "/0", true
}

// withServersToKill is Distributed over a PostgreSQL and a Redis of its own. Where one is not installed, a database
// of the shared server stands in, whose connections are cut and ended instead.
func withServersToKill(t testing.TB) (d *Deployment, postgres, redisToKill *server) {
	t.Helper()
	d = newDeployment(t)
	postgres, databaseURL, ownPostgres := postgresServer(t)
	redisToKill, redisURL, ownRedis := redisServer(t)
	if !ownPostgres || !ownRedis {
		t.Log("PostgreSQL or Redis is not installed here: the shared servers are cut off instead of killed")
		return WithRedisToEmpty(t), nil, nil
	}
	d.DatabaseURL, d.RedisURL = databaseURL, redisURL
	d.env["DATABASE_URL"], d.env["REDIS_URL"] = fewConnections(t, databaseURL), redisURL
	return d, postgres, redisToKill
}

// FlushRedis is FLUSHALL.
func (d *Deployment) FlushRedis(t testing.TB) {
	t.Helper()
	if d.Redis != nil { // shared: only what is ours
		d.EmptyRedis(t)
		return
	}
	options, err := redis.ParseURL(d.RedisURL)
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(options)
	defer func() { _ = client.Close() }()
	if err := client.FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
}

// forget drops the test's own connection, which a restarted database has ended.
func (d *Deployment) forget() {
	if d.direct != nil {
		_ = d.direct.Close()
		d.direct = nil
	}
}

// Pause stops the process where it is, and Continue lets it go on as if no time had passed.
func (p *Process) Pause(t testing.TB) {
	t.Helper()
	p.signal(t, syscall.SIGSTOP)
}

// Continue ends a Pause.
func (p *Process) Continue(t testing.TB) {
	t.Helper()
	p.signal(t, syscall.SIGCONT)
}

func (p *Process) signal(t testing.TB, what os.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(what); err != nil {
		t.Fatal(err)
	}
}
