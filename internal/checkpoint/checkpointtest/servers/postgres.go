//go:build unix

package servers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
)

var schemas counter

// PostgresStore names a store of t's own on the shared server: a schema, which is dropped when t ends.
func PostgresStore(t testing.TB) string {
	t.Helper()
	server := cmp.Or(os.Getenv("HITL_TEST_POSTGRES"), "postgres://postgres@127.0.0.1:5432/postgres?sslmode=disable&connect_timeout=5")
	conn, err := pgx.Connect(t.Context(), server)
	if err != nil {
		Missing(t, "no PostgreSQL server (HITL_TEST_POSTGRES): %v", err)
	}
	conn.Close(t.Context())
	schema := fmt.Sprintf("test_%d_%d", os.Getpid(), schemas.Add(1))
	t.Cleanup(func() { SQL(t, server, "DROP SCHEMA IF EXISTS "+schema+" CASCADE") })
	return With(t, server, "search_path", schema)
}

// SQL runs statements on the server of a store beside it.
func SQL(t testing.TB, store, statements string) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	conn, err := pgx.Connect(ctx, store)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, statements); err != nil {
		t.Fatal(err)
	}
}

// StartPostgres makes a PostgreSQL cluster of t's own, which nobody but t uses, and starts it.
func StartPostgres(t testing.TB) *Server {
	t.Helper()
	bin := postgresBin(t)
	folder, err := os.MkdirTemp("", "hitl-postgres") // that of a test keeps other users out
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(folder); err != nil {
			t.Error(err)
		}
	})
	port := FreePort(t)
	s := &Server{t: t, Port: port, Folder: folder, as: unprivileged(t),
		URL: "postgres://postgres@127.0.0.1:" + port + "/postgres?connect_timeout=5&sslmode=disable"}
	if s.as != nil {
		if err := os.Chown(folder, int(s.as.Uid), int(s.as.Gid)); err != nil {
			t.Fatal(err)
		}
	}
	data := filepath.Join(folder, "db")
	initdb := exec.Command(filepath.Join(bin, "initdb"), "-D", data, "-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C", "--no-sync")
	initdb.Dir, initdb.SysProcAttr = folder, &syscall.SysProcAttr{Credential: s.as}
	if out, err := initdb.CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	s.argv = []string{filepath.Join(bin, "postgres"), "-D", data, "-p", port, "-c", "listen_addresses=127.0.0.1",
		"-c", "unix_socket_directories=", "-c", "shared_buffers=16MB"}
	s.ready = func(ctx context.Context, pid int) error { return postgresReady(ctx, s.URL, data, pid) }
	t.Cleanup(s.Kill)
	s.Start()
	return s
}

// postgresBin is the folder of the server's programs.
func postgresBin(t testing.TB) string {
	t.Helper()
	var found []string
	for _, pattern := range []string{"/usr/lib/postgresql/*/bin/initdb", "/usr/pgsql-*/bin/initdb"} {
		all, _ := filepath.Glob(pattern)
		found = append(found, all...)
	}
	if program, err := exec.LookPath("initdb"); err == nil {
		found = append(found, program)
	}
	if len(found) == 0 {
		Missing(t, "no initdb of PostgreSQL")
	}
	newest := slices.MaxFunc(found, func(a, b string) int { return cmp.Compare(majorOf(a), majorOf(b)) })
	return filepath.Dir(newest)
}

// majorOf is the number in the path of a server's program, 0 without one.
func majorOf(path string) int {
	for _, part := range strings.FieldsFunc(path, func(r rune) bool { return r == '/' || r == '-' }) {
		if n, err := strconv.Atoi(part); err == nil {
			return n
		}
	}
	return 0
}

// unprivileged is who the server runs as: it refuses root. Nil is whoever runs the tests.
func unprivileged(t testing.TB) *syscall.Credential {
	t.Helper()
	if os.Getuid() != 0 {
		return nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.ParseUint(u.Uid, 10, 32)
		gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
		if err := errors.Join(err, err2); err != nil {
			t.Fatal(err)
		}
		return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	}
	Missing(t, "no user other than root to run PostgreSQL as")
	return nil
}

// postgresReady demands that the process says it is ready in its folder, and answers.
func postgresReady(ctx context.Context, url, data string, pid int) error {
	text, err := os.ReadFile(filepath.Join(data, "postmaster.pid"))
	if err != nil {
		return err
	}
	lines := strings.Split(string(text), "\n")
	if len(lines) < 8 || lines[0] != strconv.Itoa(pid) || strings.TrimSpace(lines[7]) != "ready" {
		return errors.New("it is not ready yet")
	}
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	return conn.Close(ctx)
}
