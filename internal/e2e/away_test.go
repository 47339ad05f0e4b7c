//go:build linux

package e2e

import (
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint/checkpointtest/servers"
)

// TestServerGoesAway takes the server of a store away while a program of a thread runs, and brings it back. Whatever was in the
// middle says which store is gone and what to do, with the exit code of a store that cannot be used, and the same command line
// carries on afterwards with nothing lost.
func TestServerGoesAway(t *testing.T) {
	t.Parallel()
	stop := func(w *world) { w.server.Signal(syscall.SIGSTOP) }
	for name, c := range map[string]struct {
		start func(t testing.TB) *servers.Server
		leave func(w *world)
		back  func(w *world)
	}{
		"redis killed":  {durableRedis, func(w *world) { w.server.Kill() }, func(w *world) { w.server.Start() }},
		"redis stopped": {durableRedis, stop, func(w *world) { w.server.Signal(syscall.SIGCONT) }},
		"postgres killed": {servers.StartPostgres, func(w *world) { w.server.Kill() },
			func(w *world) { w.server.Start() }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.server = c.start(t)
			kind, _, _ := strings.Cut(name, " ")
			w.keepIn(kind, w.server.URL)
			w.env = append(w.env, "HITL_TUI_BUSY_TIMEOUT=300ms", "HITL_TUI_LEASE_TTL=3s")
			goneAway(t, w, func() { c.leave(w) }, func() { c.back(w) })
		})
	}
}

func durableRedis(t testing.TB) *servers.Server { return servers.StartRedis(t, servers.Durable()...) }

func goneAway(t *testing.T, w *world, leave, back func()) {
	file := w.file("hold.yaml", `workflow: hold
input: {properties: {log: {type: string}, hold: {type: string}}, required: [log, hold]}
env: {LOG: "{{.log}}", HOLD: "{{.hold}}"}
nodes:
  first: {shell: 'echo "$HITL_THREAD first" >> "$LOG"', then: long}
  long: {shell: 'echo "$HITL_THREAD began" >> "$LOG"; while [ -e "$HOLD" ]; do sleep 0.05; done', then: ask}
  ask: {human: approval, message: On?, then: again}
  again: {shell: 'echo "$HITL_THREAD again" >> "$LOG"; while [ -e "$HOLD" ]; do sleep 0.05; done', then: last}
  last: {shell: 'echo "$HITL_THREAD last" >> "$LOG"'}
`)
	start := []string{"run", file, "-F", "log=" + w.lines, "-F", "hold=" + w.dir + "/hold", "--thread"}
	w.must(0, append(start, "answered")...)
	hold := w.file("hold", "")
	began := []*process{
		w.start(nil, append(start, "told")...), w.start(nil, append(start, "in-json", "--json")...), w.start(nil, "resume", "answered", "approve"),
	}
	w.await("the programs run", func() bool {
		lines := w.written()
		return lines["told began"] == 1 && lines["in-json began"] == 1 && lines["answered again"] == 1
	})
	leave()
	if err := os.Remove(hold); err != nil {
		t.Fatal(err)
	}
	for _, p := range began {
		r := p.wait()
		if said := r.out + r.err; r.exit != 5 || !strings.Contains(said, w.server.Port) || !strings.Contains(said, "--wait` carries on") {
			t.Errorf("want exit code 5, the address of the server, and what to do: %s", r)
		}
	}
	if r := began[1]; code(result{out: r.out.String(), args: r.args}.envelope(t)) != "store_unavailable" {
		t.Errorf("the code of the refusal is another: %s", r.out.String())
	}
	for _, args := range [][]string{{"threads"}, {"show", "told"}, {"resume", "told", "approve"}, append(start, "late"), {"doctor"}} {
		if r := w.run(args...); args[0] != "doctor" && r.exit != 5 || !strings.Contains(r.out+r.err, w.server.Port) {
			t.Errorf("want exit code 5 and the address of the server: %s", r)
		}
	}
	back()
	for _, thread := range []string{"told", "in-json"} {
		w.must(0, "resume", thread, "--wait")
		w.must(0, "resume", thread, "approve")
	}
	w.must(0, "resume", "answered", "--wait")
	for _, thread := range []string{"told", "in-json", "answered"} {
		if lines := w.written(); lines[thread+" last"] != 1 || lines[thread+" first"] != 1 {
			t.Errorf("thread %s did not come to its end as it should: %v", thread, lines)
		}
	}
	w.sound()
}
