//go:build linux

package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/checkpointtest/servers"
	"github.com/hitl-tui/hitl-tui/internal/desk/wire"
)

// TestKilledAtRandom starts many threads and keeps answering them with processes of which most are killed at a random
// moment. Whatever was acknowledged stays, what had finished never runs again, each decision is applied once, and in
// the end every thread is done.
func TestKilledAtRandom(t *testing.T) {
	everyStore(t, func(t *testing.T, w *world) { newMassacre(t, w).run() })
}

// TestServerKilledAtRandom kills the server of the store as well, while processes run threads on it. Those that had begun go
// on when it is there again, those that just begin say that they cannot reach it, and the same holds.
func TestServerKilledAtRandom(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]func(t testing.TB) *servers.Server{
		"redis":    func(t testing.TB) *servers.Server { return servers.StartRedis(t, servers.Durable()...) },
		"postgres": servers.StartPostgres,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.server = start(t)
			w.keepIn(name, w.server.URL)
			m := newMassacre(t, w)
			m.serverDies, m.odds = true, 1
			m.run()
			t.Logf("%d processes outlived the server", m.outlived)
			if m.outlived == 0 {
				t.Error("no process outlived the server: the test proves less than it says")
			}
		})
	}
}

func newMassacre(t *testing.T, w *world) *massacre {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv("HITL_E2E_SEED"); text != "" {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		seed = n
	}
	t.Logf("HITL_E2E_SEED=%d", seed)
	m := &massacre{world: w, file: w.copyOf("batch.yaml"), odds: 3, random: rand.New(rand.NewPCG(seed, 1)), acked: map[string]ack{}, finished: map[string]int{}}
	for i := range 6 {
		m.threads = append(m.threads, fmt.Sprintf("thread-%d", i))
	}
	return m
}

// massacre drives the threads of one store by processes that die.
type massacre struct {
	*world
	file    string
	threads []string
	random  *rand.Rand
	killed  int

	odds       int            // of four processes that many are killed
	serverDies bool           // and begins again, in each of the rounds with deaths
	dying      bool           // such a round is on
	outlived   int            // processes that came to their end although the server died
	acked      map[string]ack // by thread: the last result that a process acknowledged
	finished   map[string]int // lines of runs seen to have finished: they must stay as many
}

// ack is what a process told before it ended with 0.
type ack struct {
	step   int64
	status string
}

// run carries all threads to their end through many deaths.
func (m *massacre) run() {
	m.t.Helper()
	const atOnce = 4
	rounds := 6
	if m.serverDies {
		rounds = 4 // it takes its time to come back
	}
	for range rounds {
		m.round(atOnce, true)
	}
	for n := 0; !m.allDone(); {
		if n == 40 {
			m.t.Fatalf("not all threads came to their end: %v", m.where())
		}
		// Rounds that begin nothing would be over before the leases of the dead have run out.
		m.await("a thread can be carried on", m.anyFree)
		if m.round(atOnce, false) > 0 {
			n++
		}
	}
	m.checkEnd()
	m.sound()
}

// anyFree reports whether there is something to do for a thread, or nothing for any of them any more.
func (m *massacre) anyFree() bool {
	return m.allDone() || slices.ContainsFunc(m.threads, func(thread string) bool { return m.next(thread) != nil })
}

// round lets some processes each carry one thread on, kills most of them, and looks at what is left. It gives how many there were.
func (m *massacre) round(atOnce int, kill bool) (began int) {
	m.t.Helper()
	m.dying = kill
	type running struct {
		*process
		thread string
	}
	var all []running
	var wg sync.WaitGroup
	for _, i := range m.random.Perm(len(m.threads))[:atOnce] {
		args := m.next(m.threads[i])
		if args == nil {
			continue
		}
		p := running{m.start(nil, args...), m.threads[i]}
		all = append(all, p)
		if kill && m.random.IntN(4) < m.odds {
			after := time.Duration(10+m.random.IntN(400)) * time.Millisecond
			wg.Go(func() {
				timer := time.NewTimer(after)
				defer timer.Stop()
				<-timer.C
				_ = p.cmd.Process.Signal(syscall.SIGKILL)
			})
		}
	}
	if kill && m.serverDies {
		m.killServer(atOnce)
	}
	for _, p := range all {
		m.took(p.thread, p.wait())
	}
	wg.Wait()
	m.whole()
	m.look()
	return len(all)
}

// killServer kills the server of the store once a few programs of this round have begun, so that processes are in the midst
// of their work.
func (m *massacre) killServer(after int) {
	m.t.Helper()
	began, late := len(m.written()), time.Now().Add(time.Second)
	m.await("programs begin", func() bool { return len(m.written()) >= began+after || time.Now().After(late) })
	m.server.Kill()
	m.server.Start()
}

// next is the command that carries a thread on, as a person would find it out; nil when it is done or still leased.
func (m *massacre) next(thread string) []string {
	info := m.thread(thread)
	switch {
	case info == nil:
		return []string{"run", m.file, "-F", "log=" + m.lines, "-F", "pace=0.05", "--thread", thread, "--json"}
	case info.Status == checkpoint.Stalled:
		return []string{"resume", thread, "--json"}
	case info.Status != checkpoint.Interrupted:
		return nil
	case info.Node == "first":
		return []string{"resume", thread, "approve", "--response-id", "first-" + thread, "--json"}
	default:
		return []string{"resume", thread, "choose", "-d", `"ship"`, "--json"}
	}
}

// took notes what a process acknowledged. One that was not killed may fail only because the thread was in the hands of
// one that died.
func (m *massacre) took(thread string, r result) {
	m.t.Helper()
	switch {
	case r.signal == syscall.SIGKILL:
		m.killed++
	case r.exit == 0:
		e := r.envelope(m.t)
		m.acked[thread] = ack{*e.Step, status(e)}
		if m.serverDies && m.dying {
			m.outlived++
		}
	case r.exit == 4:
	case m.serverDies && r.exit == 5 && code(r.envelope(m.t)) == "store_unavailable":
	default:
		m.t.Errorf("neither done nor refused: %s", r)
	}
}

// look compares the store with what was acknowledged and with what had finished before.
func (m *massacre) look() {
	m.t.Helper()
	lines := m.written()
	for run, n := range m.finished {
		if lines[run] != n {
			m.t.Errorf("%s had finished with %d lines and now has %d: it ran again", run, n, lines[run])
		}
	}
	for _, thread := range m.threads {
		info := m.thread(thread)
		said, ok := m.acked[thread]
		switch {
		case !ok:
		case info == nil || info.Step < said.step:
			m.t.Errorf("thread %s: step %d was acknowledged, the store has %+v", thread, said.step, info)
		case info.Step == said.step && said.status == "done" && info.Status != checkpoint.Done:
			m.t.Errorf("thread %s was acknowledged as done and is %s", thread, info.Status)
		}
		if info != nil {
			for _, run := range finishedRuns(m.world, thread) {
				if _, seen := m.finished[thread+" "+run]; !seen {
					m.finished[thread+" "+run] = lines[thread+" "+run]
				}
			}
		}
	}
}

// finishedRuns lists the runs of a thread that the store knows to have finished: those of its history, and those whose
// result is kept for the coming step.
func finishedRuns(w *world, thread string) []string {
	w.t.Helper()
	var runs []string
	w.read(func(ctx context.Context, s checkpoint.Store) {
		for c, err := range s.History(ctx, thread, false) {
			if err != nil {
				w.t.Fatal(err)
			}
			for _, r := range c.Runs {
				if r.Status == "COMPLETED" {
					runs = append(runs, shortPath(r.Path))
				}
			}
		}
		b, err := s.Export(ctx, thread)
		if err != nil {
			w.t.Fatal(err)
		}
		for _, r := range b.Results {
			runs = append(runs, shortPath(r.Path))
		}
	})
	return runs
}

func (m *massacre) allDone() bool {
	for _, thread := range m.threads {
		if info := m.thread(thread); info == nil || info.Status != checkpoint.Done {
			return false
		}
	}
	return true
}

func (m *massacre) where() map[string]checkpoint.Status {
	all := map[string]checkpoint.Status{}
	for _, thread := range m.threads {
		if info := m.thread(thread); info != nil {
			all[thread] = info.Status
		}
	}
	return all
}

// checkEnd demands of every thread that each of its two questions was decided once.
func (m *massacre) checkEnd() {
	m.t.Helper()
	m.t.Logf("%d processes were killed", m.killed)
	if m.killed == 0 && !m.serverDies {
		m.t.Error("no process was killed: the test proves nothing")
	}
	for _, thread := range m.threads {
		var got []string
		for _, d := range m.decisions(thread) {
			got = append(got, told(d))
		}
		if want := []string{"first approve applied", "sign choose applied"}; fmt.Sprint(got) != fmt.Sprint(want) {
			m.t.Errorf("thread %s: the record is %q, want %q", thread, got, want)
		}
	}
}

func told(d wire.Decision) string {
	address := ""
	if d.Address != nil {
		address = *d.Address
	}
	return address + " " + d.Action + " " + d.Outcome
}
