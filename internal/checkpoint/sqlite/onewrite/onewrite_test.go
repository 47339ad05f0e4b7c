package onewrite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	_ "modernc.org/sqlite"
	"pgregory.net/rapid"
)

// tester is what the tests here need of testing.T and rapid.T.
type tester interface {
	Helper()
	Fatalf(format string, args ...any)
	Cleanup(func())
}

// conn is one connection.
type conn struct {
	t  tester
	db *sql.DB
	*sql.Conn
}

// connect opens a connection, through the VFS of this package or the default. It does not wait for the disk unless a pragma
// says so.
func connect(t tester, path string, through bool, pragmas ...string) conn {
	t.Helper()
	text := "file:" + path + "?_pragma=busy_timeout(10000)&_pragma=synchronous(OFF)"
	if through {
		name, err := VFS()
		if err != nil {
			t.Fatalf("%v", err)
		}
		text += "&vfs=" + name
	}
	for _, p := range pragmas {
		text += "&_pragma=" + p
	}
	db, err := sql.Open("sqlite", text)
	if err != nil {
		t.Fatalf("%v", err)
	}
	t.Cleanup(func() { db.Close() })
	c, err := db.Conn(context.Background())
	if err != nil {
		t.Fatalf("connect: %v", err)
	}
	t.Cleanup(func() { c.Close() })
	return conn{t: t, db: db, Conn: c}
}

// leave closes the connection before the test ends.
func (c conn) leave() {
	c.t.Helper()
	if err := errors.Join(c.Close(), c.db.Close()); err != nil {
		c.t.Fatalf("close: %v", err)
	}
}

func (c conn) try(text string, args ...any) error {
	_, err := c.ExecContext(context.Background(), text, args...)
	return err
}

func (c conn) exec(text string, args ...any) {
	c.t.Helper()
	if err := c.try(text, args...); err != nil {
		c.t.Fatalf("%s: %v", text, err)
	}
}

// rows are the table of a test: of each key, what its value is filled with and how long it is.
type rows map[int]string

func value(fill byte, size int) string { return strings.Repeat(string(rune('a'+fill%26)), size) }

func (c conn) rows() rows {
	c.t.Helper()
	got, err := c.tryRows()
	if err != nil {
		c.t.Fatalf("read: %v", err)
	}
	return got
}

func (c conn) tryRows() (rows, error) {
	found, err := c.QueryContext(context.Background(), "SELECT k, v FROM t")
	if err != nil {
		return nil, err
	}
	defer found.Close()
	got := rows{}
	for found.Next() {
		var k int
		var v string
		if err := found.Scan(&k, &v); err != nil {
			return nil, err
		}
		got[k] = v
	}
	return got, found.Err()
}

// holds checks that the table is as it should be, and the file whole.
func (c conn) holds(want rows) {
	c.t.Helper()
	if got := c.rows(); !maps.Equal(got, want) {
		c.t.Fatalf("the table has the keys %v, want %v", slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
	}
	var result string
	if err := c.QueryRowContext(context.Background(), "PRAGMA integrity_check").Scan(&result); err != nil || result != "ok" {
		c.t.Fatalf("integrity: %q (%v)", result, err)
	}
}

// found makes a database with an empty table.
func found(t tester, dir string) string {
	path := filepath.Join(dir, "test.db")
	c := connect(t, path, false)
	c.exec("PRAGMA auto_vacuum = INCREMENTAL")
	c.exec("PRAGMA journal_mode = WAL")
	c.exec("CREATE TABLE t (k INTEGER PRIMARY KEY, v TEXT)")
	c.leave()
	return path
}

// asLeft opens what is in the files now, as a process does that comes after all others died.
func asLeft(t tester, path string) conn {
	t.Helper()
	dir, err := os.MkdirTemp(filepath.Dir(path), "left")
	if err != nil {
		t.Fatalf("%v", err)
	}
	copied := filepath.Join(dir, "copy.db")
	for _, suffix := range []string{"", "-wal"} {
		data, err := os.ReadFile(path + suffix)
		if err == nil {
			err = os.WriteFile(copied+suffix, data, 0o600)
		}
		if err != nil {
			t.Fatalf("%v", err)
		}
	}
	return connect(t, copied, false)
}

// small is a cache of some pages, so that a transaction goes to the log before it is committed.
const small = "cache_size(5)"

// session is a writer under test with what it and others should see.
type session struct {
	path           string
	writer, reader conn
	other          conn
	committed      rows
	within         rows // while a transaction is open, otherwise nil
	savepoints     []rows
}

func (s *session) put(t *rapid.T) {
	k := rapid.IntRange(0, 12).Draw(t, "key")
	v := value(rapid.Byte().Draw(t, "fill"), rapid.SampledFrom([]int{1, 900, 3000, 20_000, 150_000}).Draw(t, "size"))
	s.writer.exec("INSERT OR REPLACE INTO t VALUES (?, ?)", k, v)
	s.change(k, v)
}

func (s *session) change(k int, v string) {
	to := s.within
	if to == nil {
		to = s.committed
	}
	to[k] = v
	if v == "" {
		delete(to, k)
	}
}

// check looks from all sides: the writer sees its own, others what is committed, and so does who comes after a crash.
func (s *session) check() {
	s.reader.holds(s.committed)
	mine := s.within
	if mine == nil {
		mine = s.committed
		asLeft(s.writer.t, s.path).holds(s.committed)
	}
	if got := s.writer.rows(); !maps.Equal(got, mine) {
		s.writer.t.Fatalf("the writer sees the keys %v, want %v", slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(mine)))
	}
}

func (s *session) begin(t *rapid.T) {
	if s.within != nil {
		t.Skip()
	}
	s.writer.exec("BEGIN IMMEDIATE")
	s.within = maps.Clone(s.committed)
}

func (s *session) end(t *rapid.T, commit bool) {
	if s.within == nil {
		t.Skip()
	}
	if commit {
		s.writer.exec("COMMIT")
		s.committed = s.within
	} else {
		s.writer.exec("ROLLBACK")
	}
	s.within, s.savepoints = nil, nil
}

func (s *session) back(t *rapid.T) {
	if len(s.savepoints) == 0 {
		t.Skip()
	}
	n := rapid.IntRange(0, len(s.savepoints)-1).Draw(t, "savepoint")
	s.writer.exec("ROLLBACK TO s" + strconv.Itoa(n))
	s.within, s.savepoints = maps.Clone(s.savepoints[n]), s.savepoints[:n+1]
}

// TestTransactions runs random transactions, savepoints and checkpoints beside a reader and another writer, which know
// nothing of the VFS.
func TestTransactions(t *testing.T) {
	for _, mode := range []string{"FULL", "NORMAL"} {
		t.Run(mode, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				dir, err := os.MkdirTemp("", "onewrite")
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { os.RemoveAll(dir) })
				path := found(t, dir)
				s := &session{path: path, committed: rows{}, reader: connect(t, path, false), other: connect(t, path, false, small),
					writer: connect(t, path, true, small, "synchronous("+mode+")", "journal_size_limit(50000)", "wal_autocheckpoint(0)")}
				t.Repeat(s.actions())
				s.check()
			})
		})
	}
}

func (s *session) actions() map[string]func(*rapid.T) {
	outside := func(fn func(*rapid.T)) func(*rapid.T) {
		return func(t *rapid.T) {
			if s.within != nil {
				t.Skip()
			}
			fn(t)
		}
	}
	return map[string]func(*rapid.T){
		"put":   s.put,
		"begin": s.begin,
		"delete": func(t *rapid.T) {
			k := rapid.IntRange(0, 12).Draw(t, "key")
			s.writer.exec("DELETE FROM t WHERE k = ?", k)
			s.change(k, "")
		},
		"commit":   func(t *rapid.T) { s.end(t, true) },
		"rollback": func(t *rapid.T) { s.end(t, false) },
		"savepoint": func(t *rapid.T) {
			if s.within == nil {
				t.Skip()
			}
			s.writer.exec("SAVEPOINT s" + strconv.Itoa(len(s.savepoints)))
			s.savepoints = append(s.savepoints, maps.Clone(s.within))
		},
		"back": s.back,
		"other": outside(func(t *rapid.T) {
			v := value(rapid.Byte().Draw(t, "fill"), rapid.SampledFrom([]int{10, 30_000}).Draw(t, "size"))
			s.other.exec("INSERT OR REPLACE INTO t VALUES (100, ?)", v)
			s.committed[100] = v
		}),
		"checkpoint": outside(func(t *rapid.T) {
			mode := rapid.SampledFrom([]string{"PASSIVE", "RESTART", "TRUNCATE"}).Draw(t, "mode")
			s.other.exec("PRAGMA wal_checkpoint(" + mode + ")")
		}),
		"vacuum": outside(func(t *rapid.T) { s.writer.exec("PRAGMA incremental_vacuum(5)") }),
		"check":  func(*rapid.T) { s.check() },
	}
}

// TestUndoneThenWrittenByOthers leaves a transaction half in the log, undoes it, and lets another writer take its place.
func TestUndoneThenWrittenByOthers(t *testing.T) {
	path := found(t, t.TempDir())
	writer, other := connect(t, path, true, small), connect(t, path, false)
	want := rows{}
	for i := range 5 {
		writer.exec("BEGIN IMMEDIATE")
		for k := range 30 {
			writer.exec("INSERT INTO t VALUES (?, ?)", 1000+k, value(1, 3000))
		}
		writer.exec("ROLLBACK")
		want[i] = value(byte(i), 40_000)
		other.exec("INSERT INTO t VALUES (?, ?)", i, want[i])
		asLeft(t, path).holds(want)
		want[50+i] = value(byte(i), 10)
		writer.exec("INSERT INTO t VALUES (?, ?)", 50+i, want[50+i])
		writer.holds(want)
		asLeft(t, path).holds(want)
	}
}

// TestStoresBesideEachOther has several databases open, one of them attached to another and one without a log for a time.
func TestStoresBesideEachOther(t *testing.T) {
	a, b := found(t, t.TempDir()), found(t, t.TempDir())
	first, second := connect(t, a, true, small), connect(t, b, true, small)
	first.exec("ATTACH ? AS b", b)
	for k := range 5 {
		first.exec("BEGIN IMMEDIATE")
		first.exec("INSERT INTO main.t VALUES (?, ?)", k, value(1, 30_000))
		first.exec("INSERT INTO b.t VALUES (?, ?)", k, value(2, 30_000))
		first.exec("COMMIT")
		second.exec("INSERT INTO t VALUES (?, ?)", 100+k, value(3, 100))
	}
	first.exec("DETACH b")
	second.exec("PRAGMA journal_mode = DELETE")
	second.exec("INSERT INTO t VALUES (50, 'x')")
	second.exec("PRAGMA journal_mode = WAL")
	second.exec("DELETE FROM t WHERE k >= 100")
	want := rows{50: "x"}
	for k := range 5 {
		want[k] = value(2, 30_000)
	}
	asLeft(t, b).holds(want)
	delete(want, 50)
	for k := range want {
		want[k] = value(1, 30_000)
	}
	asLeft(t, a).holds(want)
}

// TestOtherWaysOfLocking writes where the log's locks are not those of the wal-index, and where the disk is not to be trusted.
func TestOtherWaysOfLocking(t *testing.T) {
	for name, more := range map[string]string{"exclusive": "&_pragma=locking_mode(EXCLUSIVE)", "unsafe disk": "&psow=0"} {
		t.Run(name, func(t *testing.T) {
			path := found(t, t.TempDir())
			writer := connect(t, path, true, small+more)
			want := rows{}
			for i := range 6 {
				writer.exec("BEGIN IMMEDIATE")
				for k := range 20 {
					writer.exec("INSERT INTO t VALUES (?, ?)", 1000+k, value(1, 3000))
				}
				writer.exec("ROLLBACK")
				want[i] = value(byte(i), 20_000)
				writer.exec("INSERT INTO t VALUES (?, ?)", i, want[i])
				if i%2 == 1 {
					writer.exec("PRAGMA wal_checkpoint(RESTART)")
				}
				asLeft(t, path).holds(want)
			}
			writer.holds(want)
		})
	}
}

// TestRegisteredOnce asks for the VFS from many sides.
func TestRegisteredOnce(t *testing.T) {
	names := make(chan string)
	for range 8 {
		go func() {
			name, err := VFS()
			names <- fmt.Sprint(name, err)
		}()
	}
	for range 8 {
		if got, want := <-names, fmt.Sprint("onewrite", error(nil)); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
