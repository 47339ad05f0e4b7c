package file

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/checkpointtest"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/memory"
)

// act is one call of a script of all that changes a store. Said again after it was done it is refused, or done once more
// with the same outcome.
type act struct {
	name string
	do   func(ctx context.Context, s *Store) error
}

func commitOf(c checkpoint.Commit) func(context.Context, *Store) error {
	return func(ctx context.Context, s *Store) error {
		_, err := s.Commit(ctx, c)
		return err
	}
}

func putOf(c checkpoint.Checkpoint, revision int64) func(context.Context, *Store) error {
	return func(ctx context.Context, s *Store) error {
		_, err := s.Put(ctx, c, &revision)
		return err
	}
}

func pruneOf(q checkpoint.PruneQuery) func(context.Context, *Store) error {
	return func(ctx context.Context, s *Store) error {
		_, err := s.Prune(ctx, q)
		return err
	}
}

// script does everything that writes, in an order in which leftovers of one act could hurt those after it.
func script() []act {
	const ttl = time.Hour
	first := checkpoint.Commit{ID: "c0", Checkpoint: checkpoint.Checkpoint{Thread: "T/1"}, Parent: -1, Lease: "one",
		NewThread: &checkpoint.NewThread{Workdir: "/srv"}, NewLease: &checkpoint.LeaseRequest{Thread: "T/1", Token: "one", TTL: ttl},
		Decisions: []checkpoint.Decision{{ID: "d0"}}, Ops: []checkpoint.Op{set("log", "[]"), set("n", "0")},
		Summary: checkpoint.Summary{Phase: checkpoint.Stalled}}
	acts := []act{
		{"define", func(ctx context.Context, s *Store) error {
			return s.PutDefinition(ctx, checkpointtest.Definition("a: 1\n", "b"))
		}},
		{"begin", commitOf(first)},
	}
	at := first
	step := func(name string, gap int64, change func(*checkpoint.Commit)) {
		c := at
		c.NewThread, c.NewLease, c.Decisions, c.Release = nil, nil, nil, false
		c.Parent, c.Checkpoint.Step = at.Checkpoint.Step, at.Checkpoint.Step+gap
		c.ID = fmt.Sprint("c", c.Checkpoint.Step)
		c.Ops = []checkpoint.Op{{Kind: checkpoint.OpAppend, Channel: "log", Value: fmt.Appendf(nil, "[%d]", c.Checkpoint.Step)}}
		if change != nil {
			change(&c)
		}
		acts, at = append(acts, act{name, commitOf(c)}), c
	}
	lease := func(token string, seen int) {
		head := at.Checkpoint.Version()
		acts = append(acts, act{"lease " + token, func(ctx context.Context, s *Store) error {
			_, err := s.AcquireLease(ctx, checkpoint.LeaseRequest{Thread: "T/1", Token: token, TTL: ttl, Head: head, Seen: seen,
				Answers: []json.RawMessage{[]byte(`{"a": 1}`)}, Decisions: []checkpoint.Decision{{ID: "d-" + token, ResponseID: token}}})
			return err
		}})
		at.Lease = token
	}
	step("step", 1, nil)
	step("a gap", 3, nil)
	acts = append(acts, act{"result", func(ctx context.Context, s *Store) error {
		return s.AddResult(ctx, "T/1", "one", checkpoint.PendingResult{Step: 5, Path: "p", Data: []byte("1")})
	}}, act{"heartbeat", func(ctx context.Context, s *Store) error {
		_, err := s.Heartbeat(ctx, "T/1", "one", ttl)
		return err
	}}, act{"cancel", func(ctx context.Context, s *Store) error { return s.RequestCancel(ctx, "T/1", "ann") }})
	step("rest", 1, func(c *checkpoint.Commit) { c.Release = true })
	lease("two", 0)
	acts = append(acts, act{"withdraw", func(ctx context.Context, s *Store) error {
		return s.ReleaseLease(ctx, checkpoint.Release{Thread: "T/1", Token: "two", Withdraw: true,
			Decisions: []checkpoint.Decision{{ID: "w", Outcome: checkpoint.Withdrawn, Withdraws: "d-two"}}})
	}})
	lease("three", 0)
	step("answered", 1, func(c *checkpoint.Commit) { c.Release, c.Decisions = true, []checkpoint.Decision{{ID: "e"}} })
	head := at.Checkpoint.Step
	acts = append(acts,
		act{"claim", func(ctx context.Context, s *Store) error { return s.Claim(ctx, "T/1", "ann", ttl) }},
		act{"put between", putOf(checkpoint.Checkpoint{Thread: "T/1", Step: 2, Channels: checkpoint.Channels{"x": []byte("2")}}, 0)},
		act{"put over", putOf(checkpoint.Checkpoint{Thread: "T/1", Step: 4, Channels: checkpoint.Channels{"x": []byte("4")}}, 1)},
		act{"put over the head", putOf(checkpoint.Checkpoint{Thread: "T/1", Step: head, Channels: checkpoint.Channels{"x": []byte("h")}}, 1)},
		act{"put above", putOf(checkpoint.Checkpoint{Thread: "T/1", Step: head + 2, Channels: checkpoint.Channels{"x": []byte("a")}}, 0)},
		act{"put another", putOf(checkpoint.Checkpoint{Thread: "other", Step: 3}, 0)},
		act{"decide on another", func(ctx context.Context, s *Store) error {
			_, err := s.AcquireLease(ctx, checkpoint.LeaseRequest{Thread: "other", Token: "o", TTL: ttl, Head: checkpoint.Version{Step: 3},
				Decisions: []checkpoint.Decision{{ID: "o", ResponseID: "o"}}})
			return err
		}},
		act{"prune", pruneOf(checkpoint.PruneQuery{Threads: []string{"T/1"}, BeforeStep: 5})},
	)
	at.Checkpoint.Step = head + 2
	lease("four", 0)
	step("on", 1, nil)
	step("on and on", 1, func(c *checkpoint.Commit) { c.Release = true })
	return append(acts,
		act{"prune again", pruneOf(checkpoint.PruneQuery{All: true, BeforeStep: head + 4})},
		act{"delete", func(ctx context.Context, s *Store) error { return s.DeleteThread(ctx, "T/1") }},
		act{"return", func(ctx context.Context, s *Store) error {
			err := commitOf(first)(ctx, s)
			if !errors.Is(err, checkpoint.ErrConflict) {
				return fmt.Errorf("a deleted thread came back (%w)", err)
			}
			return nil
		}},
		act{"import", importOf(checkpoint.ImportOptions{})},
		act{"delete what came", func(ctx context.Context, s *Store) error { return s.DeleteThread(ctx, "moved") }},
		act{"revive", importOf(checkpoint.ImportOptions{Revive: true})},
		act{"bury", func(ctx context.Context, s *Store) error {
			return s.Bury(ctx, checkpoint.Tombstone{Thread: "elsewhere", DeletedAt: checkpointtest.NewClock().Now(), Decisions: 1, DecisionHash: "h"})
		}},
		act{"last", putOf(checkpoint.Checkpoint{Thread: "last", Step: 0}, 0)},
	)
}

// importOf takes in a thread of another store, of several steps.
func importOf(o checkpoint.ImportOptions) func(context.Context, *Store) error {
	return func(ctx context.Context, s *Store) error {
		from := memory.New(memory.Options{Now: checkpointtest.NewClock().Now})
		defer from.Close()
		c := checkpoint.Commit{Parent: -1, NewThread: &checkpoint.NewThread{}, Lease: "l", Checkpoint: checkpoint.Checkpoint{Thread: "moved"},
			NewLease:    &checkpoint.LeaseRequest{Thread: "moved", Token: "l", TTL: time.Hour, Answers: []json.RawMessage{[]byte("1")}},
			KeepAnswers: 1, Summary: checkpoint.Summary{Phase: checkpoint.Stalled}, Decisions: []checkpoint.Decision{{ID: "m"}}}
		for i := range int64(4) {
			c.ID, c.Checkpoint.Step = fmt.Sprint("m", i), i
			if _, err := from.Commit(ctx, c); err != nil {
				return err
			}
			c.NewThread, c.NewLease, c.Parent = nil, nil, i
			c.Decisions = []checkpoint.Decision{{ID: fmt.Sprint("m", i)}}
			c.Ops = []checkpoint.Op{{Kind: checkpoint.OpAppend, Channel: "log", Value: []byte("[1]")}}
		}
		if err := from.AddResult(ctx, "moved", "l", checkpoint.PendingResult{Step: 4, Path: "p"}); err != nil {
			return err
		}
		b, err := from.Export(ctx, "moved")
		if err != nil {
			return err
		}
		return s.Import(ctx, b, o)
	}
}

func set(channel, value string) checkpoint.Op {
	return checkpoint.Op{Kind: checkpoint.OpSet, Channel: channel, Value: []byte(value)}
}

// picture is all that a store holds, but for what a heartbeat changes and the numbers of changes.
type picture struct {
	Threads     map[string]thread
	Tombstones  []string
	Definitions int
}

type thread struct {
	Info      checkpoint.ThreadInfo
	Steps     []checkpoint.Checkpoint
	Decisions []checkpoint.Decision
	Results   []checkpoint.PendingResult
}

// see reads all of a store. Whatever is there can be read.
func see(t *testing.T, s *Store) picture {
	t.Helper()
	ctx := context.Background()
	no := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	p := picture{Threads: make(map[string]thread)}
	page, err := s.Threads(ctx, checkpoint.Query{Limit: 100})
	no(err)
	for _, info := range page.Threads {
		seen := thread{Info: info}
		one, err := s.Thread(ctx, info.Thread)
		no(err)
		seen.Info.Cursor = ""
		if diff := cmp.Diff(&seen.Info, one); diff != "" {
			t.Fatalf("the list and the thread differ:\n%s", diff)
		}
		seen.Info.Seq = 0
		if seen.Info.Lease != nil {
			seen.Info.Lease.Until = time.Time{}
		}
		for c, err := range s.History(ctx, info.Thread, true) {
			no(err)
			again, err := s.Get(ctx, info.Thread, c.Step)
			no(err)
			if diff := cmp.Diff(c, again); diff != "" {
				t.Fatalf("history and step differ:\n%s", diff)
			}
			c.SizeBytes = 0 // a keyframe has another
			seen.Steps = append(seen.Steps, *c)
		}
		for d, err := range s.Decisions(ctx, info.Thread) {
			no(err)
			seen.Decisions = append(seen.Decisions, *d)
		}
		no(checkpoint.VerifyChain(info.Thread, s.Decisions(ctx, info.Thread), checkpoint.Chain{Count: info.Decisions, Last: info.DecisionHash}))
		h, err := s.readHead(info.Thread)
		no(err)
		seen.Results, err = s.pending(h)
		no(err)
		p.Threads[info.Thread] = seen
	}
	stones, err := s.Tombstones(ctx)
	no(err)
	for _, b := range stones {
		p.Tombstones = append(p.Tombstones, fmt.Sprint(b.Thread, b.Decisions, b.DecisionHash))
	}
	slices.Sort(p.Tombstones) // a power cut may take the numbers that order those of one moment
	if _, err := s.Definition(ctx, checkpointtest.Definition("a: 1\n", "b").Fingerprint); err == nil {
		p.Definitions++
	} else if !errors.Is(err, checkpoint.ErrNotFound) {
		t.Fatal(err)
	}
	return p
}

func openSim(t *testing.T, d *simDisk) (*Store, error) {
	t.Helper()
	return openOn(context.Background(), d, "/kept/store", Options{Now: checkpointtest.NewClock().Now, BusyTimeout: time.Millisecond})
}

func mustOpenSim(t *testing.T, d *simDisk) *Store {
	t.Helper()
	s, err := openSim(t, d)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// pictures are what is there before the script and after each act of it, on a disk that does not fail, and how many events
// that takes.
func pictures(t *testing.T, acts []act) ([]picture, int) {
	t.Helper()
	d := newSimDisk()
	s := mustOpenSim(t, d)
	all := []picture{see(t, s)}
	for _, a := range acts {
		if err := a.do(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", a.name, err)
		}
		all = append(all, see(t, s))
	}
	return all, d.events
}

// refused reports whether an act that is repeated may fail like that: it was done before.
func refused(err error) bool {
	return errors.Is(err, checkpoint.ErrConflict) || errors.Is(err, checkpoint.ErrLeased) || errors.Is(err, checkpoint.ErrNotFound)
}

// goOn does the acts from one on, the first of them perhaps again, and demands that all come out as if nothing had been.
func goOn(t *testing.T, s *Store, acts []act, from int, want []picture) {
	t.Helper()
	for i := from; i < len(acts); i++ {
		if err := acts[i].do(t.Context(), s); err != nil && !(i == from && refused(err)) {
			t.Fatalf("%s: %v", acts[i].name, err)
		}
		if i > from+2 && i < len(acts)-1 { // it tells little for the time it takes
			continue
		}
		if diff := cmp.Diff(want[i+1], see(t, s)); diff != "" {
			t.Fatalf("after %s (-want +got):\n%s", acts[i].name, diff)
		}
	}
	clean(t, s)
}

// clean demands that Compact leaves nothing over and takes nothing that counts.
func clean(t *testing.T, s *Store) {
	t.Helper()
	before := see(t, s)
	if err := s.Compact(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, see(t, s)); diff != "" {
		t.Fatalf("compact changed something:\n%s", diff)
	}
	stats, err := s.Stats(t.Context())
	if err != nil || stats.FreeBytes != 0 {
		t.Fatalf("%+v (%v): something is left over", stats, err)
	}
	err = s.survey(t.Context(), func(name string, u usage) error {
		if len(u.spareFiles) > 0 || u.spareRows || u.unfinished || u.nobodyKnows {
			return fmt.Errorf("%s: %+v", name, u)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestCrashAtEveryPoint ends the process, or the power, at each write, name and sync in turn. What is found is what was
// before the act or what is after it; what was acknowledged is there; and everything goes on from there.
func TestCrashAtEveryPoint(t *testing.T) {
	acts := script()
	want, events := pictures(t, acts)
	const chances = 12
	for at := 1; at <= events; at++ {
		d := newSimDisk()
		d.at, d.fail = at, crash
		begun, err := runUntil(t, d, acts)
		if !errors.Is(err, errCrashed) {
			t.Fatalf("event %d of %d: %v", at, events, err)
		}
		for i, how := range append([]string{processDied, powerLost}, slices.Repeat([]string{powerChance}, chances)...) {
			t.Run(fmt.Sprintf("%d/%s%d", at, how, i), func(t *testing.T) {
				found := d.after(how, rand.New(rand.NewPCG(uint64(at), uint64(i))))
				s := mustOpenSim(t, found)
				got := see(t, s)
				from := max(begun, 0)
				if cmp.Diff(want[from], got) != "" {
					if begun < 0 {
						t.Fatalf("%s: not an empty store: %v", d, got)
					}
					if diff := cmp.Diff(want[from+1], got); diff != "" {
						t.Fatalf("%s, in %s: neither before nor after it (-after +got):\n%s", d, acts[from].name, diff)
					}
				}
				if how != powerChance || i == 2 && at%7 == 0 { // the rest tells little for the time it takes
					goOn(t, s, acts, from, want)
				}
			})
		}
	}
}

// runUntil opens a store and does the acts until one fails; it gives which, -1 for the opening.
func runUntil(t *testing.T, d *simDisk, acts []act) (int, error) {
	t.Helper()
	s, err := openSim(t, d)
	if err != nil {
		return -1, err
	}
	for i, a := range acts {
		if err := a.do(t.Context(), s); err != nil {
			return i, err
		}
	}
	return len(acts), nil
}

// TestFullAndBrokenAtEveryPoint lets the disk be full, or a sync fail, at each event in turn: who is refused is told why,
// and once there is space the same store goes on as if nothing had been.
func TestFullAndBrokenAtEveryPoint(t *testing.T) {
	acts := script()
	want, events := pictures(t, acts)
	for fail, cause := range map[failure]error{full: checkpoint.ErrFull, broken: errBroken} {
		failures := 0
		for at := 1; at <= events; at++ {
			d := newSimDisk()
			d.at, d.fail = at, fail
			s, err := openSim(t, d)
			i := 0
			if err == nil {
				for ; i < len(acts) && err == nil; i++ {
					err = acts[i].do(t.Context(), s)
				}
				i--
			}
			d.at = 0
			if err == nil { // nothing failed, or nothing that matters
				continue
			}
			failures++
			if !errors.Is(err, cause) {
				t.Fatalf("%s: %v, want %v", d, err, cause)
			}
			t.Run(fmt.Sprint(fail, "/", at), func(t *testing.T) {
				if s == nil {
					s = mustOpenSim(t, d)
				}
				if got := see(t, s); cmp.Diff(want[i], got) != "" {
					if diff := cmp.Diff(want[i+1], got); diff != "" {
						t.Fatalf("%s, in %s: neither before nor after it (-after +got):\n%s", d, acts[i].name, diff)
					}
				}
				goOn(t, s, acts, i, want)
			})
		}
		if failures < events/4 {
			t.Errorf("failure %d: only %d of %d events failed", fail, failures, events)
		}
	}
}

// TestRepeatedCommitIsDurable lets the last sync of a commit fail, has the commit repeated, and cuts the power: what was
// acknowledged the second time is there, though the head was in its place already.
func TestRepeatedCommitIsDurable(t *testing.T) {
	acts := script()[:3]
	_, events := pictures(t, acts)
	repeated := 0
	for at := 1; at <= events; at++ {
		d := newSimDisk()
		d.at, d.fail = at, broken
		s, err := openSim(t, d)
		if err != nil {
			continue
		}
		for _, a := range acts {
			if err := a.do(t.Context(), s); err != nil {
				repeated++
				if err := a.do(t.Context(), s); err != nil {
					t.Fatalf("%s, in %s: %v", d, a.name, err)
				}
			}
		}
		found := mustOpenSim(t, d.after(powerLost, nil))
		if head, err := found.Latest(t.Context(), "T/1"); err != nil || head.Step != 1 {
			t.Fatalf("%s: head %v (%v)", d, head, err)
		}
	}
	if repeated == 0 {
		t.Error("no commit had to be repeated")
	}
}

// TestLeftoversDoNotCount finds steps that were written and not committed, and goes on with others: at no time are they
// there.
func TestLeftoversDoNotCount(t *testing.T) {
	s := mustOpenSim(t, newSimDisk())
	c := chainOf(t, s, "t", 2)
	steps := func() (list []int64) {
		for c, err := range s.History(t.Context(), "t", true) {
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, c.Step)
		}
		return list
	}
	for _, n := range []int64{2, 4, 7} {
		lost := step{Checkpoint: checkpoint.Checkpoint{Thread: "t", Step: n}, keyframe: true}
		b, _, err := lost.encode()
		if err == nil {
			err = s.disk.Write(s.stepFile("t", n), b)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if got := steps(); !slices.Equal(got, []int64{0, 1}) {
		t.Fatalf("steps %v", got)
	}
	c.Checkpoint.Step = 9
	if _, err := s.Commit(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if got := steps(); !slices.Equal(got, []int64{0, 1, 9}) {
		t.Errorf("steps %v", got)
	}
	for n := range int64(9) {
		if _, err := s.Get(t.Context(), "t", n); (n > 1) != errors.Is(err, checkpoint.ErrNotFound) {
			t.Errorf("step %d: %v", n, err)
		}
	}
}
