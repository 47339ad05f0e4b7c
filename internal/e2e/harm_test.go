//go:build linux

package e2e

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint/checkpointtest/servers"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/verbatim"
)

// harm is what can be done to one kind of store behind the program's back. The store has the thread thread-1, which waits
// at step 3.
type harm struct {
	damage   func(w *world)        // overwrites some of the state of that step
	tamper   func(w *world)        // puts another reviewer into the record of the thread
	newer    func(w *world)        // makes it the store of a later version, 99
	readOnly func(w *world)        // lets nothing be written to it any more
	lock     func(w *world) func() // has another program hold it, until the function is called
	contents func(w *world) string // all that is in it, to be compared
}

// harms are those of each kind, by its name.
func harms() map[string]harm {
	return map[string]harm{
		"sqlite": {
			damage: func(w *world) {
				w.change("UPDATE checkpoints SET state = CAST(x'00ff7b' || substr(state, 4) AS BLOB) WHERE thread = 'thread-1' AND step = 3")
			},
			tamper:   func(w *world) { w.change("UPDATE decisions SET reviewer = 'nobody'") },
			newer:    func(w *world) { w.edit(w.store, func(b []byte) { binary.BigEndian.PutUint32(b[60:], 99) }) },
			readOnly: func(w *world) { w.asNobody(); w.protect(filepath.Dir(w.store)) },
			lock:     (*world).lockFile,
			contents: func(w *world) string { return string(w.bytes()) },
		},
		"file": {
			damage: func(w *world) {
				w.edit(w.threadFile("steps/00000003.json"), func(b []byte) { b[len(b)/2] ^= 1 })
			},
			tamper: func(w *world) {
				w.edit(w.threadFile("decisions.jsonl"), func(b []byte) { copy(b[bytes.Index(b, []byte("tester")):], "nobody") })
			},
			newer:    newerFolder,
			readOnly: func(w *world) { w.asNobody(); w.protect(w.folder) },
			lock:     (*world).lockFolder,
			contents: (*world).folderContents,
		},
		"redis": {
			damage: func(w *world) {
				w.redisField("states:thread-1", "3", func(s string) string { return s[:len(s)-1] + "\x00" })
			},
			tamper: func(w *world) {
				w.redis("LSET", "hitl:decisions:thread-1", 0, strings.Replace(fmt.Sprint(w.redis("LINDEX", "hitl:decisions:thread-1", 0)), "tester", "nobody", 1))
			},
			newer:    func(w *world) { w.redis("HSET", "hitl:store", "schema", 99) },
			readOnly: func(w *world) { w.redis("REPLICAOF", "127.0.0.1", "1") },
			lock: func(w *world) func() { // nobody can hold it; but the server can hang
				w.server.Signal(syscall.SIGSTOP)
				return func() { w.server.Signal(syscall.SIGCONT) }
			},
			contents: (*world).redisContents,
		},
		"postgres": {
			damage: func(w *world) {
				servers.SQL(w.t, w.url, "UPDATE checkpoints SET state = set_byte(state, length(state) - 1, 0) WHERE thread = 'thread-1' AND step = 3")
			},
			tamper: func(w *world) { servers.SQL(w.t, w.url, "UPDATE decisions SET reviewer = 'nobody'") },
			newer: func(w *world) {
				servers.SQL(w.t, w.url, "INSERT INTO hitl_tui_schema (version_id, is_applied) VALUES (99, true)")
			},
			readOnly: func(w *world) { w.keepIn(w.kind, servers.With(w.t, w.url, "default_transaction_read_only", "on")) },
			lock:     (*world).lockTable,
			contents: (*world).postgresContents,
		},
	}
}

// everyHarm runs a test on each kind of store, in which some threads wait at their first question.
func everyHarm(t *testing.T, threads []string, test func(t *testing.T, w *world, h harm)) {
	everyStore(t, func(t *testing.T, w *world) { w.ask(threads...); test(t, w, harms()[w.kind]) })
}

// change runs SQL on a SQLite store.
func (w *world) change(statement string) {
	w.t.Helper()
	db, err := sql.Open("sqlite", "file:"+w.store)
	if err != nil {
		w.t.Fatal(err)
	}
	defer db.Close()
	done, err := db.Exec(statement)
	if err != nil {
		w.t.Fatal(err)
	}
	if n, err := done.RowsAffected(); err != nil || n != 1 {
		w.t.Fatalf("%s changed %d rows, %v", statement, n, err)
	}
}

// bytes is the file of a SQLite store as it is.
func (w *world) bytes() []byte {
	w.t.Helper()
	b, err := os.ReadFile(w.store)
	if err != nil {
		w.t.Fatal(err)
	}
	return b
}

// edit changes bytes of a file.
func (w *world) edit(file string, change func(b []byte)) {
	w.t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		w.t.Fatal(err)
	}
	change(b)
	if err := os.WriteFile(file, b, 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// threadFile is a file of thread-1 in a store of files.
func (w *world) threadFile(name string) string {
	return filepath.Join(w.folder, "threads", "thread-1", filepath.FromSlash(name))
}

func newerFolder(w *world) {
	page, err := verbatim.PageOf(struct {
		Store   string `json:"store"`
		Version int    `json:"version"`
	}{"hitl-tui", 99})
	if err == nil {
		err = os.WriteFile(filepath.Join(w.folder, "format.json"), page.Seal(), 0o600)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// protect takes the right to write to a folder and all in it, until the test ends.
func (w *world) protect(folder string) {
	w.t.Helper()
	mode := func(file, folder fs.FileMode) func(string, fs.DirEntry, error) error {
		return func(path string, e fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case e.IsDir():
				return os.Chmod(path, folder)
			default:
				return os.Chmod(path, file)
			}
		}
	}
	w.t.Cleanup(func() { _ = filepath.WalkDir(folder, mode(0o600, 0o700)) })
	if err := filepath.WalkDir(folder, mode(0o400, 0o500)); err != nil {
		w.t.Fatal(err)
	}
}

// lockFile takes the write lock of a SQLite store.
func (w *world) lockFile() func() {
	w.t.Helper()
	db, err := sql.Open("sqlite", "file:"+w.store)
	if err != nil {
		w.t.Fatal(err)
	}
	conn, err := db.Conn(w.t.Context())
	if err == nil {
		_, err = conn.ExecContext(w.t.Context(), "BEGIN EXCLUSIVE")
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return func() {
		_, err := conn.ExecContext(context.Background(), "ROLLBACK")
		if err := errors.Join(err, conn.Close(), db.Close()); err != nil {
			w.t.Fatal(err)
		}
	}
}

// lockFolder takes the locks of all threads of a store of files.
func (w *world) lockFolder() func() {
	w.t.Helper()
	var held []*os.File
	for i := range 256 {
		f, err := os.OpenFile(filepath.Join(w.folder, "locks", fmt.Sprintf("%02x", i)), os.O_RDWR|os.O_CREATE, 0o600)
		if err == nil {
			err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		}
		if err != nil {
			w.t.Fatal(err)
		}
		held = append(held, f)
	}
	return func() {
		for _, f := range held {
			f.Close()
		}
	}
}

// lockTable takes a lock on the threads of a PostgreSQL store that lets others read them.
func (w *world) lockTable() func() {
	w.t.Helper()
	conn, err := pgx.Connect(w.t.Context(), w.url)
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := conn.Exec(w.t.Context(), "BEGIN; LOCK TABLE threads IN EXCLUSIVE MODE"); err != nil {
		w.t.Fatal(err)
	}
	return func() { _ = conn.Close(context.Background()) }
}

// redis runs a command on the world's own server.
func (w *world) redis(args ...any) any {
	w.t.Helper()
	reply, err := servers.RedisClient(w.t, w.url).Do(context.WithoutCancel(w.t.Context()), args...).Result()
	if err != nil {
		w.t.Fatalf("%v: %v", args, err)
	}
	return reply
}

// redisField changes a field of a hash of the store.
func (w *world) redisField(key, field string, change func(string) string) {
	w.t.Helper()
	w.redis("HSET", "hitl:"+key, field, change(fmt.Sprint(w.redis("HGET", "hitl:"+key, field))))
}

func (w *world) folderContents() string {
	w.t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(w.folder, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		fmt.Fprintf(&all, "%s: %s\n", path, b)
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return all.String()
}

func (w *world) redisContents() string {
	w.t.Helper()
	var all []string
	for _, key := range w.redis("KEYS", "*").([]any) {
		all = append(all, fmt.Sprintf("%s: %q\n", key, w.redis("DUMP", key)))
	}
	return sorted(all)
}

func (w *world) postgresContents() string {
	w.t.Helper()
	conn, err := pgx.Connect(w.t.Context(), w.url)
	if err != nil {
		w.t.Fatal(err)
	}
	defer conn.Close(w.t.Context())
	var all []string
	for _, table := range []string{"hitl_tui_schema", "threads", "checkpoints", "decisions", "results", "definitions", "tombstones"} {
		rows, err := conn.Query(w.t.Context(), "SELECT t::text FROM "+table+" AS t")
		if err != nil {
			w.t.Fatal(err)
		}
		found, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			w.t.Fatal(err)
		}
		for _, row := range found {
			all = append(all, table+": "+row+"\n")
		}
	}
	return sorted(all)
}
