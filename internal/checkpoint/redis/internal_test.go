package redis

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/checkpointtest/servers"
)

// TestMembersOrderAsKeys compares members by their bytes where a listing compares keys.
func TestMembersOrderAsKeys(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.OneOf(rapid.Int64(), rapid.SampledFrom([]int64{0, -1, 1, checkpoint.Never, -checkpoint.Never}))
		text := rapid.OneOf(rapid.String(), rapid.StringOfN(rapid.SampledFrom([]rune{0, 1, 'a', 0xff}), 0, 5, -1))
		order := rapid.SampledFrom([]checkpoint.Sort{checkpoint.SortDue, checkpoint.SortWaiting, checkpoint.SortUpdated, checkpoint.SortName}).Draw(t, "order")
		draw := func(name string) checkpoint.Key {
			k := checkpoint.Key{Thread: text.Draw(t, name)}
			if order == checkpoint.SortName {
				k.Name = text.Draw(t, name)
			} else {
				k.First = number.Draw(t, name)
			}
			if order == checkpoint.SortDue {
				k.Second = number.Draw(t, name)
			}
			return k
		}
		a, b := draw("a"), draw("b")
		if got, want := strings.Compare(member(a, order), member(b, order)), a.Compare(b); got != want {
			t.Errorf("%s: %+v and %+v compare as %d, want %d", order, a, b, got, want)
		}
		if got := threadOf(member(a, order), order); got != a.Thread {
			t.Errorf("%s: %+v stands for %q", order, a, got)
		}
	})
}

// TestRowsComeBack writes and reads a row with every field filled in, also with bytes that are no text.
func TestRowsComeBack(t *testing.T) {
	now := checkpoint.Micro(time.Now())
	h := head{claim: checkpoint.Claim{Reviewer: "ann", Until: now}, results: 3, answers: 2, stored: totals{5, 6}}
	h.info = checkpoint.ThreadInfo{Step: 4, Revision: 2, Workflow: "\xff\x00\n", Fingerprint: "fp", Workdir: "/w", StartedBy: "bob",
		Summary: checkpoint.Summary{Phase: checkpoint.Failed, Title: "é", Node: "n", Questions: 1, Answered: 2, WaitingSince: &now, Due: &now,
			Assignee: "a", Group: "g", Priority: "high", Error: "\xfe"},
		Created: now, Updated: now, Origin: &checkpoint.Origin{Thread: "old", Step: 9}, Decisions: 7, DecisionHash: "hash"}
	h.lease = checkpoint.LeaseState{Token: "t", Holder: "h", Until: now, Own: 1, Cancel: true, CancelledBy: "c"}
	h.frames.Keyframe(3, 100)
	h.frames.Step(10)
	packed := pack(h.tell)
	var got head
	if err := unpack(packed, got.tell); err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(h, got, gocmp.AllowUnexported(head{}, totals{})); diff != "" {
		t.Errorf("(-written +read):\n%s", diff)
	}
	for i := range packed {
		if err := unpack(packed[:i], new(head).tell); err == nil {
			t.Errorf("a row cut off at %d was read", i)
		}
	}
}

// TestOldServer refuses what has no scripts that are refused whole.
func TestOldServer(t *testing.T) {
	f := facts{"redis_version": "6.2.14", "maxmemory_policy": "noeviction", "role": "master"}
	if err := f.refuse(false); err == nil || !strings.Contains(err.Error(), "version 7 or newer") {
		t.Errorf("error %v", err)
	}
	f["redis_version"] = "7.2.4"
	if err := f.refuse(false); err != nil {
		t.Error(err)
	}
}

// TestIndexesFollowRows runs random writes and then finds every thread in just the sorted sets its row says, the totals
// right, and after deletion no key left.
func TestIndexesFollowRows(t *testing.T) {
	url := servers.RedisStore(t)
	runs := 0
	rapid.Check(t, func(r *rapid.T) {
		runs++
		now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
		s, err := Open(t.Context(), fmt.Sprint(url, runs, ":"), Options{Now: func() time.Time { return now }})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		u := &indexUse{s: s, now: &now}
		defer u.end(r)
		r.Repeat(map[string]func(*rapid.T){"put": u.put, "commit": u.commit, "lease": u.lease, "release": u.release, "claim": u.claim,
			"prune": u.prune, "delete": u.delete})
		u.check(r)
	})
}

// indexUse is the random use of a store. What is refused is refused: only what is stored matters here.
type indexUse struct {
	s   *Store
	now *time.Time
	n   int
}

func (u *indexUse) thread(t *rapid.T) string {
	u.n++
	*u.now = u.now.Add(time.Second)
	return rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "thread")
}

func (u *indexUse) put(t *rapid.T) {
	c := checkpoint.Checkpoint{Thread: u.thread(t), Step: rapid.Int64Range(0, 4).Draw(t, "step"), TS: *u.now,
		Workflow: rapid.SampledFrom([]string{"", "w", "w\x00"}).Draw(t, "workflow")}
	if rapid.Bool().Draw(t, "waits") {
		c.Interrupts = []checkpoint.Interrupt{{ID: "q", Asked: *u.now}}
	}
	u.s.Put(context.Background(), c, nil)
}

func (u *indexUse) commit(t *rapid.T) {
	thread := u.thread(t)
	parent, token := int64(-1), fmt.Sprint("token", u.n)
	if info, err := u.s.Thread(context.Background(), thread); err == nil {
		parent = info.Step
	}
	c := checkpoint.Commit{ID: token, Parent: parent, Lease: token, Checkpoint: checkpoint.Checkpoint{Thread: thread, Step: parent + 1, TS: *u.now},
		Summary: checkpoint.Summary{Phase: rapid.SampledFrom(checkpoint.Phases()).Draw(t, "phase")}, Release: rapid.Bool().Draw(t, "release"),
		Ops: []checkpoint.Op{{Kind: checkpoint.OpSet, Channel: "a", Value: []byte("1")}}, Decisions: []checkpoint.Decision{{ID: token, ResponseID: token}}}
	if parent < 0 {
		c.NewThread, c.NewLease = &checkpoint.NewThread{}, &checkpoint.LeaseRequest{Thread: thread, Token: token, TTL: 5 * time.Second}
	} else {
		u.acquire(thread, token, nil)
	}
	u.s.Commit(context.Background(), c)
}

func (u *indexUse) acquire(thread, token string, answers []json.RawMessage) {
	if info, err := u.s.Thread(context.Background(), thread); err == nil {
		r := checkpoint.LeaseRequest{Thread: thread, Token: token, TTL: 5 * time.Second, Head: info.Version(), Answers: answers}
		if info.Lease != nil {
			r.Seen = info.Lease.Answers
		}
		u.s.AcquireLease(context.Background(), r)
		u.s.AddResult(context.Background(), thread, token, checkpoint.PendingResult{Path: "p"})
	}
}

func (u *indexUse) lease(t *rapid.T) {
	u.acquire(u.thread(t), "held", []json.RawMessage{json.RawMessage("1")})
}

func (u *indexUse) release(t *rapid.T) {
	u.s.ReleaseLease(context.Background(), checkpoint.Release{Thread: u.thread(t), Token: "held", Withdraw: rapid.Bool().Draw(t, "withdraw")})
}

func (u *indexUse) claim(t *rapid.T) {
	u.s.Claim(context.Background(), u.thread(t), "ann", time.Hour)
}

func (u *indexUse) prune(t *rapid.T) {
	u.s.Prune(context.Background(), checkpoint.PruneQuery{All: true, BeforeStep: rapid.Int64Range(1, 5).Draw(t, "before")})
}

func (u *indexUse) delete(t *rapid.T) { u.s.DeleteThread(context.Background(), u.thread(t)) }

// sets reads all sorted sets in which threads have places.
func (u *indexUse) sets(t *rapid.T) map[string]map[string]int64 {
	names := []string{u.s.keys.byName(), u.s.keys.byTail(), u.s.keys.leased(), u.s.keys.answered(), u.s.keys.bySeq()}
	for _, p := range checkpoint.Phases() {
		names = append(names, u.s.keys.byDue(p), u.s.keys.byWaiting(p))
	}
	sets := make(map[string]map[string]int64)
	for _, name := range names {
		found, err := u.s.client.ZRangeWithScores(context.Background(), name, 0, -1).Result()
		if err != nil {
			t.Fatal(err)
		}
		for _, z := range found {
			add(sets, name, z.Member.(string), int64(z.Score))
		}
	}
	return sets
}

func add(sets map[string]map[string]int64, name, member string, score int64) {
	if sets[name] == nil {
		sets[name] = make(map[string]int64)
	}
	sets[name][member] = score
}

func (u *indexUse) check(t *rapid.T) {
	ctx := context.Background()
	want := make(map[string]map[string]int64)
	var sum totals
	for _, id := range []string{"a", "b", "c"} {
		h, err := u.s.head(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		for name, p := range u.s.places(h) {
			add(want, name, p.member, p.score)
		}
		steps, err := u.s.steps(ctx, id, "-inf", "+inf", 1000)
		if err != nil {
			t.Fatal(err)
		}
		var stored totals
		for i := range steps {
			stored.steps++
			stored.bytes += steps[i].size
		}
		if stored != h.stored {
			t.Fatalf("thread %s has %+v, its row says %+v", id, stored, h.stored)
		}
		if h.present {
			add(want, u.s.keys.bySeq(), id, h.info.Seq)
			u.checkThread(t, id, steps)
		}
		sum.steps, sum.bytes = sum.steps+stored.steps, sum.bytes+stored.bytes
	}
	if diff := gocmp.Diff(want, u.sets(t)); diff != "" {
		t.Fatalf("the sorted sets (-want +got):\n%s", diff)
	}
	stats, err := u.s.Stats(ctx)
	if err != nil || stats.Checkpoints != sum.steps || stats.Bytes != sum.bytes {
		t.Fatalf("totals %+v (%v), want %+v", stats, err, sum)
	}
}

// checkThread finds a record and a state for each step and nothing more, and the chain whole.
func (u *indexUse) checkThread(t *rapid.T, id string, steps []step) {
	ctx := context.Background()
	var want []string
	for i := range steps {
		want = append(want, fmt.Sprint(steps[i].step))
	}
	slices.Sort(want)
	for _, key := range []string{u.s.keys.records(id), u.s.keys.states(id)} {
		got := u.s.client.HKeys(ctx, key).Val()
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Fatalf("%s holds %v, want %v", key, got, want)
		}
	}
	info, err := u.s.Thread(ctx, id)
	if err == nil {
		err = checkpoint.VerifyChain(id, u.s.Decisions(ctx, id), checkpoint.Chain{Count: info.Decisions, Last: info.DecisionHash})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// end deletes all threads, finds that nothing of them is left, and removes the rest.
func (u *indexUse) end(t *rapid.T) {
	ctx := context.Background()
	*u.now = u.now.Add(time.Hour)
	for _, id := range []string{"a", "b", "c"} {
		u.s.DeleteThread(ctx, id)
	}
	var left []string
	for keys := u.s.client.Scan(ctx, 0, string(u.s.keys)+"*", 1000).Iterator(); keys.Next(ctx); {
		left = append(left, strings.TrimPrefix(keys.Val(), string(u.s.keys)))
		u.s.client.Unlink(ctx, keys.Val())
	}
	for _, key := range left {
		if !slices.Contains([]string{"store", "seq", "gone", "tombstones", "totals"}, key) {
			t.Errorf("%s is left after all threads were deleted", key)
		}
	}
}

// FuzzUnpack reads rows and steps that no program of ours wrote: an error or something that is written as it was read.
func FuzzUnpack(f *testing.F) {
	f.Add(pack(new(head).tell))
	f.Add(pack(tellDecision(&checkpoint.Decision{ID: "d", Data: json.RawMessage(`{}`)})))
	f.Add([]byte("keyframe 1 2 3 4 5 id with spaces"))
	f.Fuzz(func(t *testing.T, b []byte) {
		var h, again head
		if unpack(b, h.tell) == nil {
			if err := unpack(pack(h.tell), again.tell); err != nil {
				t.Errorf("a row: %v", err)
			}
			h.view(time.Now())
		}
		var d, same checkpoint.Decision
		if unpack(b, tellDecision(&d)) == nil {
			if err := unpack(pack(tellDecision(&d)), tellDecision(&same)); err != nil || checkpoint.ChainHash(&d) != checkpoint.ChainHash(&same) {
				t.Errorf("a decision: %v", err)
			}
		}
		if s, err := parseStep("t", string(b)); err == nil {
			if back, err := parseStep("t", s.member()); err != nil || back != s {
				t.Errorf("a step %+v: %+v (%v)", s, back, err)
			}
		}
		unpack(b, tellDefinition(new(checkpoint.Definition)))
		unpack(b, tellTombstone(new(checkpoint.Tombstone), new(string)))
	})
}
