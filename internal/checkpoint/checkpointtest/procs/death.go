//go:build unix

package procs

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/checkpointtest"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/checkpointtest/servers"
)

// seedVar repeats the chances of a run that failed.
const seedVar = "HITL_TEST_SEED"

// chances are those of one test.
func chances(t *testing.T) *rand.Rand {
	t.Helper()
	seed := rand.Uint64()
	if text := os.Getenv(seedVar); text != "" {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatalf("%s: %v", seedVar, err)
		}
		seed = n
	}
	t.Logf("%s=%d", seedVar, seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// kill kills a process that writes many threads at once, at random, and finds everything it was promised.
func kill(t *testing.T, url string) {
	random := chances(t)
	for round := range 4 {
		p := start(t, "writer", url, fmt.Sprint("round", round))
		p.begin()
		said := make(promises)
		said.hear(p, 10+random.IntN(200))
		if err := p.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		said.hear(p, -1) // what it said before it died
		_ = p.Wait()
		said.kept(t, openStore(t, url))
	}
}

// KillServer kills the server of a store, which is one that loses nothing it has acknowledged, while a process writes many
// threads at once: the process goes on by itself when the server is there again, and everything it was promised is kept.
func KillServer(t *testing.T, s *servers.Server) {
	random := chances(t)
	for round := range 3 {
		p := start(t, "writer", s.URL, fmt.Sprint("round", round))
		p.begin()
		said := make(promises)
		said.hear(p, 10+random.IntN(200))
		s.Kill()
		s.Start()
		said.hear(p, 50) // it went on
		s.Kill()
		if err := p.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		said.hear(p, -1)
		_ = p.Wait()
		s.Start()
		said.kept(t, openStore(t, s.URL))
	}
}

// written is how many threads a writer writes at once.
const written = 4

// beWriter commits without end to several threads, each step with a decision, and says each time that it was told so.
func beWriter(ctx context.Context, s checkpoint.Store, name string) error {
	ready()
	errs := make(chan error)
	var mu sync.Mutex
	for i := range written {
		go func() {
			for c := decided(checkpointtest.First(fmt.Sprint(name, "-", i))); ; c = decided(checkpointtest.Next(c)) {
				if _, err := s.Commit(ctx, c); err != nil {
					errs <- err
					return
				}
				mu.Lock()
				fmt.Println(c.Checkpoint.Thread, c.Checkpoint.Step)
				mu.Unlock()
			}
		}()
	}
	return <-errs
}

func decided(c checkpoint.Commit) checkpoint.Commit {
	c.Decisions = []checkpoint.Decision{{ID: c.ID, ResponseID: c.ID, Data: raws(fmt.Sprint(c.Checkpoint.Step))[0]}}
	return c
}

func raws(all ...string) []json.RawMessage {
	var list []json.RawMessage
	for _, s := range all {
		list = append(list, json.RawMessage(s))
	}
	return list
}

// promises are the last steps that were acknowledged, by thread.
type promises map[string]int64

// hear takes up so many lines of a writer, or all there are.
func (all promises) hear(p *process, lines int) {
	p.t.Helper()
	silent := time.AfterFunc(2*time.Minute, func() { _ = p.Process.Kill() })
	defer silent.Stop()
	for n := 0; n != lines; n++ {
		if !p.out.Scan() {
			if lines > 0 {
				p.t.Fatalf("the writer ended after %d lines of %d", n, lines)
			}
			return
		}
		var thread string
		var step int64
		if _, err := fmt.Sscan(p.out.Text(), &thread, &step); err == nil {
			all[thread] = step
		}
	}
}

// kept demands that each thread has every step that was acknowledged, none of them half, with its decision, and goes on.
func (all promises) kept(t *testing.T, s checkpoint.Store) {
	t.Helper()
	if len(all) == 0 {
		t.Fatal("nothing was written")
	}
	for thread, last := range all {
		head := lastWhole(t, s, thread)
		if head < last {
			t.Errorf("thread %s has steps up to %d, %d was acknowledged", thread, head, last)
		}
		info, err := s.Thread(t.Context(), thread)
		if err != nil || info.Step != head || info.Decisions != head+1 {
			t.Fatalf("thread %s: row %+v (%v), last step %d", thread, info, err, head)
		}
		n := int64(0)
		for d, err := range s.Decisions(t.Context(), thread) {
			if err != nil || d.ID != fmt.Sprint(thread, "-", n) || string(d.Data) != fmt.Sprint(n) {
				t.Fatalf("thread %s: decision %d is %+v (%v)", thread, n, d, err)
			}
			n++
		}
		if err := checkpoint.VerifyChain(thread, s.Decisions(t.Context(), thread), checkpoint.Chain{Count: info.Decisions, Last: info.DecisionHash}); err != nil {
			t.Errorf("thread %s: %v", thread, err)
		}
		c := checkpointtest.First(thread)
		c.Checkpoint.Step = head
		if _, err := s.Commit(t.Context(), decided(checkpointtest.Next(c))); err != nil {
			t.Errorf("thread %s does not go on: %v", thread, err)
		}
	}
}

// lastWhole reads all steps of a thread, which follow one another with the state that belongs to each, and gives the last.
func lastWhole(t *testing.T, s checkpoint.Store, thread string) int64 {
	t.Helper()
	n := int64(-1)
	for c, err := range s.History(t.Context(), thread, true) {
		if err != nil {
			t.Fatalf("thread %s: %v", thread, err)
		}
		n++
		log := string(c.Channels["log"])
		if c.Step != n || !strings.HasSuffix(log, fmt.Sprintf("%d]", n)) || strings.Count(log, ",") != int(n) {
			t.Fatalf("thread %s: step %d with state %s where %d belongs", thread, c.Step, log, n)
		}
	}
	return n
}
