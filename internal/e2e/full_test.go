//go:build linux

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/checkpointtest/servers"
)

// smallDisk mounts a disk of so many megabytes at a folder, for the user who owns that, and gives what makes it larger.
func smallDisk(t *testing.T, folder string, megabytes int) (grow func()) {
	t.Helper()
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Dir(folder))
	if err != nil {
		t.Fatal(err)
	}
	owner := info.Sys().(*syscall.Stat_t)
	options := func(megabytes int) string {
		return fmt.Sprintf("size=%dm,mode=0700,uid=%d,gid=%d", megabytes, owner.Uid, owner.Gid)
	}
	if err := syscall.Mount("tmpfs", folder, "tmpfs", 0, options(megabytes)); err != nil {
		t.Skipf("a small disk cannot be mounted here: %v", err) // a right that is missing, no tool: so also with CI=true
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(folder, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return func() {
		t.Helper()
		if err := syscall.Mount("tmpfs", folder, "tmpfs", syscall.MS_REMOUNT, options(megabytes+16)); err != nil {
			t.Fatal(err)
		}
	}
}

// small are stores with little room, by their kind, and what makes more of it.
func small() map[string]func(t *testing.T) (*world, func()) {
	onDisk := func(kind string) func(t *testing.T) (*world, func()) {
		return func(t *testing.T) (*world, func()) {
			w := kinds()[kind](t)
			return w, smallDisk(t, filepath.Join(filepath.Dir(w.dir), "data"), 1)
		}
	}
	return map[string]func(t *testing.T) (*world, func()){
		"sqlite": onDisk("sqlite"),
		"file":   onDisk("file"),
		"redis": func(t *testing.T) (*world, func()) {
			w := kinds()["redis"](t)
			_, used, _ := strings.Cut(fmt.Sprint(w.redis("INFO", "memory")), "used_memory:")
			used, _, _ = strings.Cut(used, "\r")
			n, err := strconv.Atoi(used)
			if err != nil {
				t.Fatal(err)
			}
			w.redis("CONFIG", "SET", "maxmemory", n+1<<20)
			return w, func() { w.redis("CONFIG", "SET", "maxmemory", 0) }
		},
		"postgres": func(t *testing.T) (*world, func()) {
			s := servers.StartPostgres(t)
			folder := filepath.Join(s.Folder, "small")
			grow := smallDisk(t, folder, 2)
			t.Cleanup(s.Kill) // before its disk goes
			servers.SQL(t, s.URL, "CREATE TABLESPACE small LOCATION '"+folder+"'")
			w := newWorld(t)
			w.keepIn("postgres", servers.With(t, s.URL, "default_tablespace", "small"))
			return w, grow
		},
	}
}

// TestFullDisk puts the store where there is little room and answers until there is none: the command says so with exit code 5,
// what was acknowledged before is there, and with room again the thread goes on.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	for kind, open := range small() {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			w, grow := open(t)
			fillUp(t, w, grow)
		})
	}
}

func fillUp(t *testing.T, w *world, grow func()) {
	file := w.file("grow.yaml", `workflow: grow
input: {properties: {log: {type: string}}, required: [log]}
env: {LOG: "{{.log}}"}
nodes:
  make: {shell: 'head -c 60000 /dev/urandom | base64 -w0; echo "$HITL_THREAD" >> "$LOG"', output: blob, then: ask}
  ask: {human: approval, message: More?, actions: [continue, stop], then: make}
`)
	w.must(0, "run", file, "-F", "log="+w.lines, "--thread", "thread-1", "--json")
	var last int64
	full := result{}
	for range 40 {
		r := w.run("resume", "thread-1", "continue", "--json")
		if r.exit != 0 {
			full = r
			break
		}
		last = *r.envelope(t).Step
	}
	if full.exit != 5 || !strings.Contains(full.out, "full") || !strings.Contains(full.out, "store_unavailable") {
		t.Errorf("want exit code 5 and an error that says full: %s", full)
	}
	w.sound()
	if info := w.thread("thread-1"); info.Step < last {
		t.Errorf("step %d was acknowledged, the head is %d", last, info.Step)
	}
	grow()
	w.await("the lease runs out", func() bool { return w.thread("thread-1").Status != checkpoint.Running })
	args := []string{"resume", "thread-1", "--json"}
	if w.thread("thread-1").Status == checkpoint.Interrupted { // not even the answer found room
		args = []string{"resume", "thread-1", "continue", "--json"}
	}
	if e := w.must(0, args...).envelope(t); status(e) != "interrupted" {
		t.Errorf("with room again it came to %s", status(e))
	}
	w.sound()
}
