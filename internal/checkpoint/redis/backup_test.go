package redis_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/checkpointtest"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/checkpointtest/servers"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/redis"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/sqlite"
)

// contents is all that a store tells of itself.
type contents struct {
	Threads     []checkpoint.ThreadInfo
	Steps       map[string][]*checkpoint.Checkpoint
	Decisions   map[string][]*checkpoint.Decision
	Leases      map[string]*checkpoint.Lease
	Tombstones  []checkpoint.Tombstone
	Definition  *checkpoint.Definition
	Counts      map[checkpoint.Status]int64
	Checkpoints int64
}

func read(t *testing.T, s checkpoint.Store) contents {
	t.Helper()
	c := contents{Steps: make(map[string][]*checkpoint.Checkpoint), Decisions: make(map[string][]*checkpoint.Decision), Leases: make(map[string]*checkpoint.Lease)}
	fail := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	page, err := s.Threads(t.Context(), checkpoint.Query{Limit: 1000})
	fail(err)
	c.Threads = page.Threads
	c.Counts, err = s.Counts(t.Context())
	fail(err)
	for i := range c.Threads {
		info := &c.Threads[i]
		for step, err := range s.History(t.Context(), info.Thread, true) {
			fail(err)
			c.Steps[info.Thread] = append(c.Steps[info.Thread], step)
		}
		for d, err := range s.Decisions(t.Context(), info.Thread) {
			fail(err)
			c.Decisions[info.Thread] = append(c.Decisions[info.Thread], d)
		}
		if info.Lease != nil && !info.Lease.Live {
			c.Leases[info.Thread], err = s.AcquireLease(t.Context(), checkpoint.LeaseRequest{Thread: info.Thread, Token: "x", TTL: time.Hour,
				Head: info.Version(), Seen: info.Lease.Answers})
			fail(err)
		}
	}
	c.Tombstones, err = s.Tombstones(t.Context())
	fail(err)
	if c.Definition, err = s.Definition(t.Context(), checkpointtest.Definition("a: <\n").Fingerprint); errors.Is(err, checkpoint.ErrNotFound) {
		err = nil
	}
	fail(err)
	stats, err := s.Stats(t.Context())
	fail(err)
	c.Checkpoints = stats.Checkpoints
	return c
}

func TestBackup(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	clock := func() time.Time { return now }
	s := open(t, servers.RedisStore(t), redis.Options{Now: clock})
	ctx := t.Context()
	fail := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	checkpointtest.Chain(t, s, "long", 130)
	checkpointtest.Chain(t, s, "pruned", 40)
	checkpointtest.Chain(t, s, "gone", 3)
	_, err := s.Prune(ctx, checkpoint.PruneQuery{Threads: []string{"pruned"}, BeforeStep: 30})
	fail(err)
	fail(s.DeleteThread(ctx, "gone"))
	fail(s.PutDefinition(ctx, checkpointtest.Definition("a: <\n")))
	due := now.Add(time.Hour)
	full := checkpoint.Checkpoint{Thread: "full", Step: 3, TS: now, Workflow: "w\xff", Fingerprint: "fp", Source: checkpoint.SourceStep, Origin: &checkpoint.Origin{Thread: "long", Step: 2},
		Interrupts: []checkpoint.Interrupt{{ID: "q", Node: "n", Payload: []byte(`{ "a" : 1 }`), Asked: now, Due: &due}}, Channels: checkpoint.Channels{"x": []byte("[ 1 ]")}}
	for range 3 {
		_, err = s.Put(ctx, full, nil)
		fail(err)
	}
	fail(s.Claim(ctx, "full", "ann", time.Hour))
	c := checkpointtest.First("answered")
	c.NewThread = &checkpoint.NewThread{Workdir: "/w", StartedBy: "bob"}
	c.Summary = checkpoint.Summary{Phase: checkpoint.Interrupted, Title: "T", Node: "n", Questions: 2, Answered: 1, WaitingSince: &now, Assignee: "a", Group: "g", Priority: "high"}
	c.Release = true
	c.Decisions = []checkpoint.Decision{{ID: "d", ResponseID: "r", Data: []byte(`{ "b": 1.0 }`), DecidedAt: now, WaitedSeconds: 0.1, Comment: "\xfe", Outcome: checkpoint.Applied}}
	commit(t, s, c)
	_, err = s.AcquireLease(ctx, checkpoint.LeaseRequest{Thread: "answered", Token: "y", Holder: "h", TTL: time.Hour, Answers: []json.RawMessage{[]byte(`{ }`), []byte("2")}})
	fail(err)
	for _, path := range []string{"b", "a"} {
		fail(s.AddResult(ctx, "answered", "y", checkpoint.PendingResult{Step: 1, Path: path, Data: []byte(`"` + path + `"`)}))
	}
	fail(s.ReleaseLease(ctx, checkpoint.Release{Thread: "answered", Token: "y"}))
	commit(t, s, checkpointtest.First("running"))

	folder := t.TempDir()
	file := filepath.Join(folder, "copy.db")
	fail(s.Backup(ctx, file))
	if err := s.Backup(ctx, file); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over a file: error %v", err)
	}
	left, err := os.ReadDir(folder)
	if fail(err); len(left) != 1 {
		t.Errorf("beside the copy there are %v", left)
	}
	copied, err := sqlite.Open(ctx, file, sqlite.Options{Now: clock})
	fail(err)
	defer copied.Close()
	if diff := cmp.Diff(read(t, s), read(t, copied)); diff != "" {
		t.Errorf("(-store +copy):\n%s", diff)
	}
	// The copy goes on where the store was.
	n := checkpointtest.Next(checkpointtest.First("running"))
	n.Checkpoint.Thread = "running"
	commit(t, copied, n)
}

// TestBackupOfAMovingThread changes steps of a thread after its row was read and before they are.
func TestBackupOfAMovingThread(t *testing.T) {
	put := func(step int64) func(*redis.Store) error {
		return func(s *redis.Store) error {
			_, err := s.Put(context.Background(), checkpoint.Checkpoint{Thread: "t", Step: step, Channels: checkpoint.Channels{"log": []byte("[]")}}, nil)
			return err
		}
	}
	for name, change := range map[string]func(*redis.Store) error{
		"pruned": pruneTo(context.Background(), 25, 25), "head written over": put(29), "step written over": put(25),
	} {
		t.Run(name, func(t *testing.T) { backupWhile(t, change) })
	}
}

func backupWhile(t *testing.T, change func(*redis.Store) error) {
	url := servers.RedisStore(t)
	direct := open(t, url, redis.Options{})
	p, through := startProxy(t, url)
	s := open(t, through, redis.Options{})
	checkpointtest.Chain(t, direct, "t", 30)
	p.script = reading
	file := filepath.Join(t.TempDir(), "copy.db")
	p.during(t, func() error { return s.Backup(t.Context(), file) }, func() {
		p.before = func() {
			if err := change(direct); err != nil {
				t.Error(err)
			}
		}
	})
	copied, err := sqlite.Open(t.Context(), file, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer copied.Close()
	if diff := cmp.Diff(read(t, direct), read(t, copied)); diff != "" {
		t.Errorf("(-store +copy):\n%s", diff)
	}
	sameBase(t, file)
}

// sameBase finds rows and steps of a copy in agreement about the keyframes that the heads build on.
func sameBase(t *testing.T, file string) {
	t.Helper()
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var n int
	err = db.QueryRow(`SELECT count(*) FROM threads AS t WHERE NOT EXISTS (SELECT 1 FROM checkpoints AS c WHERE c.thread = t.thread
		AND c.step = t.step AND c.base = t.base AND t.chain_steps = (SELECT count(*) FROM checkpoints AS d WHERE d.thread = t.thread AND d.step > t.base))`).Scan(&n)
	if err != nil || n > 0 {
		t.Errorf("%d rows do not fit their steps (%v)", n, err)
	}
}

// TestBackupWhileInUse copies a store while threads run, are pruned, deleted and written over, and finds every thread of
// the copy whole.
func TestBackupWhileInUse(t *testing.T) {
	s := open(t, servers.RedisStore(t), redis.Options{})
	ctx, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for i := range 4 {
		told := make(chan string, 1)
		wg.Go(func() { writeUntil(ctx, s, fmt.Sprint("runs", i), told) })
		<-told
	}
	for i := range 30 {
		checkpointtest.Chain(t, s, fmt.Sprint("rests", i), 30)
	}
	wg.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			thread := fmt.Sprint("rests", i%30)
			s.Prune(ctx, checkpoint.PruneQuery{Threads: []string{thread}, BeforeStep: int64(i/30 + 1)})
			s.Put(ctx, checkpoint.Checkpoint{Thread: thread, Step: 29}, nil)
			if i%7 == 0 {
				s.DeleteThread(ctx, thread)
			}
		}
	})
	file := filepath.Join(t.TempDir(), "copy.db")
	err := s.Backup(t.Context(), file)
	stop()
	wg.Wait()
	if err != nil {
		t.Fatal(err)
	}
	copied, err := sqlite.Open(t.Context(), file, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer copied.Close()
	c := read(t, copied)
	sameBase(t, file)
	known := make(map[string]int)
	for _, b := range c.Tombstones {
		known[b.Thread]++
	}
	for _, info := range c.Threads {
		known[info.Thread]++
		steps := c.Steps[info.Thread]
		if len(steps) == 0 || steps[len(steps)-1].Step != info.Step {
			t.Errorf("thread %s has the head %d and %d steps", info.Thread, info.Step, len(steps))
		}
		if err := checkpoint.VerifyChain(info.Thread, copied.Decisions(t.Context(), info.Thread), checkpoint.Chain{Count: info.Decisions, Last: info.DecisionHash}); err != nil {
			t.Error(err)
		}
	}
	for i := range 34 {
		name := fmt.Sprint("runs", i)
		if i >= 4 {
			name = fmt.Sprint("rests", i-4)
		}
		if known[name] != 1 {
			t.Errorf("%s is in the copy %d times, as a thread or as a tombstone", name, known[name])
		}
	}
}

// writeUntil commits until its context ends, and tells of the first commit.
func writeUntil(ctx context.Context, s *redis.Store, thread string, told chan<- string) {
	for c := checkpointtest.First(thread); ctx.Err() == nil; c = checkpointtest.Next(c) {
		s.Commit(ctx, c)
		select {
		case told <- thread:
		default:
		}
	}
}
