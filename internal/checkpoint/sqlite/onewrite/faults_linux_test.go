package onewrite

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"
)

type pwriteFunc = func(tls *libc.TLS, fd int32, data uintptr, n libc.Tsize_t, offset libc.Toff_t) libc.Tssize_t

// kernel is what stands between the VFS below and the system while a test runs: functions that SQLite calls have nothing
// else to know it by.
var kernel struct {
	real   pwriteFunc
	writes int
	// before is called with the number of the write, from 1. With half only that is written; with an error the write fails.
	before func(n int) (half bool, err syscall.Errno)
}

func pwrite(tls *libc.TLS, fd int32, data uintptr, n libc.Tsize_t, offset libc.Toff_t) libc.Tssize_t {
	kernel.writes++
	half, errno := kernel.before(kernel.writes)
	if half {
		n /= 2
	}
	if half || errno == 0 {
		if got := kernel.real(tls, fd, data, n, offset); errno == 0 {
			return got
		}
	}
	*at[int32](libc.X__errno_location(tls)) = int32(errno)
	return -1
}

// intercept has the system's writes go through before until the test ends.
func intercept(t *testing.T, before func(n int) (bool, syscall.Errno)) {
	t.Helper()
	tls := libc.NewTLS()
	name, err := libc.CString("pwrite")
	if err != nil {
		t.Fatal(err)
	}
	base := lib.Xsqlite3_vfs_find(tls, 0)
	set := function[func(*libc.TLS, uintptr, uintptr, uintptr) int32](at[lib.Tsqlite3_vfs](base).FxSetSystemCall)
	get := function[func(*libc.TLS, uintptr, uintptr) uintptr](at[lib.Tsqlite3_vfs](base).FxGetSystemCall)
	set(tls, base, name, 0) // the system's own, should a test be within another
	kernel.real = function[pwriteFunc](get(tls, base, name))
	kernel.writes, kernel.before = 0, before
	if rc := set(tls, base, name, address(pwrite)); rc != lib.SQLITE_OK {
		t.Fatalf("SQLite's error %d", rc)
	}
	t.Cleanup(func() {
		set(tls, base, name, 0)
		libc.Xfree(tls, name)
		tls.Close()
	})
}

func undisturbed(int) (bool, syscall.Errno) { return false, 0 }

// TestWritesOfACommit counts what the system is asked for.
func TestWritesOfACommit(t *testing.T) {
	for _, mode := range []string{"OFF", "NORMAL", "FULL", "EXTRA"} {
		t.Run(mode, func(t *testing.T) {
			path := found(t, t.TempDir())
			w := connect(t, path, true, "synchronous("+mode+")", "wal_autocheckpoint(0)")
			w.exec("INSERT INTO t VALUES (0, 'x')") // begins the log
			intercept(t, undisturbed)
			for i, c := range []struct{ size, writes int }{{100, 1}, {2000, 1}, {30_000, 1}, {150_000, 3}, {100, 1}} {
				before := kernel.writes
				w.exec("INSERT INTO t VALUES (?, ?)", 10+i, value(1, c.size))
				if got := kernel.writes - before; got != c.writes {
					t.Errorf("%d writes for a row of %d bytes, want %d", got, c.size, c.writes)
				}
			}
		})
	}
}

// script is a transaction with all that a log meets: pages that do not fit into the cache, a savepoint undone, pages that
// are written twice and read back.
type script struct {
	t      *testing.T
	writer conn
	old    rows
}

func newScript(t *testing.T) (*script, string) {
	path := found(t, t.TempDir())
	s := &script{t: t, writer: connect(t, path, true, small, "wal_autocheckpoint(0)"), old: rows{}}
	for k := range 4 {
		s.old[k] = value(byte(k), 9000)
		s.writer.exec("INSERT INTO t VALUES (?, ?)", k, s.old[k])
	}
	return s, path
}

func (s *script) statements() []string {
	put := func(k, size int) string {
		return fmt.Sprintf("INSERT OR REPLACE INTO t VALUES (%d, '%s')", k, value(byte(k+size), size))
	}
	return []string{"BEGIN IMMEDIATE", put(10, 30_000), put(1, 100), put(11, 70_000), "SAVEPOINT a", put(12, 20_000), "DELETE FROM t WHERE k < 2",
		"ROLLBACK TO a", put(13, 9000), "UPDATE t SET v = v || 'z' WHERE k < 11", put(14, 500)}
}

// run runs the transaction, going on after errors or giving up at the first, and tells what then must be in the table.
func (s *script) run(goOn bool) (want rows, failed bool) {
	for _, text := range s.statements() {
		err := s.writer.try(text)
		if err == nil {
			continue
		}
		failed = true
		// SQLite may have undone it all: then there is no transaction to go on with.
		if !goOn || s.writer.try("BEGIN IMMEDIATE") == nil {
			_ = s.writer.try("ROLLBACK")
			return s.old, true
		}
	}
	want, err := s.writer.tryRows()
	if err != nil {
		_ = s.writer.try("ROLLBACK")
		return s.old, true
	}
	if s.writer.try("COMMIT") != nil {
		_ = s.writer.try("ROLLBACK")
		return s.old, true
	}
	return want, failed
}

// TestEveryWriteFails lets each write of a transaction fail, in each way, once or from then on. It is never silent, and what
// is there afterwards is the transaction as it was acknowledged or nothing of it.
func TestEveryWriteFails(t *testing.T) {
	s, _ := newScript(t)
	intercept(t, undisturbed)
	if _, failed := s.run(false); failed {
		t.Fatal("it fails undisturbed")
	}
	writes := kernel.writes
	if writes < 5 {
		t.Fatalf("%d writes, too few for a test", writes)
	}
	for name, c := range map[string]failure{
		"full, once, given up":             {err: syscall.ENOSPC},
		"full after half, once, gone on":   {err: syscall.ENOSPC, half: true, goOn: true},
		"full, lasting, gone on":           {err: syscall.ENOSPC, lasting: true, goOn: true},
		"broken, once, gone on":            {err: syscall.EIO, goOn: true},
		"broken after half, lasting, ends": {err: syscall.EIO, half: true, lasting: true},
	} {
		for n := 1; n <= writes; n++ {
			t.Run(fmt.Sprintf("%s, write %d", name, n), func(t *testing.T) { c.at(t, n) })
		}
	}
}

// failure is how a write fails.
type failure struct {
	err     syscall.Errno
	half    bool // after half of it is written
	lasting bool // and all that come after it
	goOn    bool // the transaction goes on with its other statements
}

func (f failure) at(t *testing.T, number int) {
	s, path := newScript(t)
	hit, healed := false, false
	intercept(t, func(n int) (bool, syscall.Errno) {
		if healed || n != number && (!f.lasting || n < number) {
			return false, 0
		}
		hit = true
		return f.half, f.err
	})
	want, failed := s.run(f.goOn)
	healed = true
	if hit != failed {
		t.Fatalf("failed %t, told %t", hit, failed)
	}
	reader := connect(t, path, false)
	reader.holds(want)
	asLeft(t, path).holds(want)
	want = maps.Clone(want)
	want[99] = "after"
	s.writer.exec("INSERT INTO t VALUES (99, 'after')")
	s.writer.holds(want)
	asLeft(t, path).holds(want)
}

// TestKilledAtEveryWrite keeps the files as they are before each write and amid it, and opens all of them later: what was
// acknowledged is there, of what was not all or nothing.
func TestKilledAtEveryWrite(t *testing.T) {
	for _, mode := range []string{"NORMAL", "FULL"} {
		t.Run(mode, func(t *testing.T) {
			path := found(t, t.TempDir())
			writer, other := connect(t, path, true, small, "synchronous("+mode+")"), connect(t, path, false)
			states := []rows{{}}
			type image struct {
				path  string
				acked int
			}
			var images []image
			keep := func() {
				to := filepath.Join(t.TempDir(), "image.db")
				for _, suffix := range []string{"", "-wal"} {
					data, err := os.ReadFile(path + suffix)
					if err == nil {
						err = os.WriteFile(to+suffix, data, 0o600)
					}
					if err != nil && !os.IsNotExist(err) {
						t.Fatal(err)
					}
				}
				images = append(images, image{path: to, acked: len(states) - 1})
			}
			intercept(t, func(n int) (bool, syscall.Errno) {
				keep()
				return n%2 == 1, 0 // the other half is then a write of its own
			})
			next := rows{}
			for i := range 6 {
				next = maps.Clone(next)
				next[i], next[i/2] = value(byte(i), 25_000*(i%3)+1), value(byte(i+9), 6000)
				writer.exec("BEGIN IMMEDIATE")
				for _, k := range slices.Sorted(maps.Keys(next)) {
					writer.exec("INSERT OR REPLACE INTO t VALUES (?, ?)", k, next[k])
				}
				writer.exec("COMMIT")
				states = append(states, next)
				if i == 3 {
					other.exec("PRAGMA wal_checkpoint(RESTART)")
				}
			}
			keep()
			kernel.before = undisturbed
			states = append(states, next)
			for i, image := range images {
				c := connect(t, image.path, false)
				got := c.rows()
				if !maps.Equal(got, states[image.acked]) && !maps.Equal(got, states[image.acked+1]) {
					t.Fatalf("image %d of %d has the keys %v, want those of transaction %d or the next", i, len(images),
						slices.Sorted(maps.Keys(got)), image.acked)
				}
				c.holds(got)
				c.leave()
			}
		})
	}
}
