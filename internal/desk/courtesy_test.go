package desk

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// claiming is the fake with claims.
type claiming struct {
	*fakeSource
	claims sync.Map // thread to held
}

type held struct {
	by    string
	until time.Time
}

func (c *claiming) Open(ctx context.Context, id string) (*Detail, error) {
	d, err := c.fakeSource.Open(ctx, id)
	if x, ok := c.claims.Load(id); ok && err == nil {
		d.Claimed, d.ClaimedUntil = x.(held).by, x.(held).until
	}
	return d, err
}

func (c *claiming) Claim(_ context.Context, thread, reviewer string, ttl time.Duration) error {
	c.claims.Store(thread, held{reviewer, time.Now().Add(ttl)})
	return nil
}

func (c *claiming) Release(_ context.Context, thread, reviewer string) error {
	if x, ok := c.claims.Load(thread); ok && x.(held).by == reviewer {
		c.claims.Delete(thread)
	}
	return nil
}

// TestCourtesyClaim walks a claim through what reviewers do. Times are of the virtual clock.
func TestCourtesyClaim(t *testing.T) {
	const min = time.Minute
	for name, tc := range map[string]struct {
		do   func(t *testing.T, d *Desk, c *claiming)
		want string        // who holds the claim afterwards
		left time.Duration // of it
	}{
		"while writing":    {func(t *testing.T, d *Desk, _ *claiming) { begin(t, d, "q1") }, "ana", 5 * min},
		"nothing is typed": {func(t *testing.T, d *Desk, _ *claiming) { begin(t, d, "q1"); end(t, d, "q1") }, "", 0},
		"ends by itself":   {func(t *testing.T, d *Desk, _ *claiming) { begin(t, d, "q1"); time.Sleep(5 * min) }, "", 0},
		"opened once more": {func(t *testing.T, d *Desk, _ *claiming) { begin(t, d, "q1"); time.Sleep(min); begin(t, d, "q1") }, "ana", 5 * min},
		"and left": {func(t *testing.T, d *Desk, _ *claiming) {
			begin(t, d, "q1")
			time.Sleep(min)
			begin(t, d, "q1")
			end(t, d, "q1")
		}, "", 0},
		"another is open": {func(t *testing.T, d *Desk, _ *claiming) { begin(t, d, "q1"); begin(t, d, "q2"); end(t, d, "q1") }, "ana", 5 * min},
		"both are left": {func(t *testing.T, d *Desk, _ *claiming) {
			begin(t, d, "q1")
			begin(t, d, "q2")
			end(t, d, "q1")
			end(t, d, "q2")
		}, "", 0},
		"never begun":      {func(t *testing.T, d *Desk, c *claiming) { claim(t, d, 30*min); end(t, d, "q1") }, "ana", 30 * min},
		"purposely before": {func(t *testing.T, d *Desk, _ *claiming) { claim(t, d, 30*min); begin(t, d, "q1"); end(t, d, "q1") }, "ana", 30 * min},
		"purposely after":  {func(t *testing.T, d *Desk, _ *claiming) { begin(t, d, "q1"); claim(t, d, 30*min); end(t, d, "q1") }, "ana", 30 * min},
		"purposely between": {func(t *testing.T, d *Desk, _ *claiming) {
			begin(t, d, "q1")
			claim(t, d, 30*min)
			begin(t, d, "q1")
			end(t, d, "q1")
		}, "ana", 30 * min},
		"about to end": {func(t *testing.T, d *Desk, _ *claiming) { claim(t, d, min); begin(t, d, "q1"); end(t, d, "q1") }, "ana", 5 * min},
		"elsewhere": {func(t *testing.T, d *Desk, c *claiming) {
			begin(t, d, "q1")
			time.Sleep(time.Second)
			c.claims.Store("thread-1", held{"ana", time.Now().Add(2 * min)})
			end(t, d, "q1")
		}, "ana", 2 * min},
		"another's before": {func(t *testing.T, d *Desk, c *claiming) {
			c.claims.Store("thread-1", held{"bob", time.Now().Add(min)})
			begin(t, d, "q1")
			end(t, d, "q1")
		}, "bob", min},
		"another's after": {func(t *testing.T, d *Desk, c *claiming) {
			begin(t, d, "q1")
			c.claims.Store("thread-1", held{"bob", time.Now().Add(5 * min)})
			end(t, d, "q1")
		}, "bob", 5 * min},
		"another's of the past": {func(t *testing.T, d *Desk, c *claiming) {
			c.claims.Store("thread-1", held{"bob", time.Now()})
			begin(t, d, "q1")
		}, "ana", 5 * min},
		"sent": {func(t *testing.T, d *Desk, _ *claiming) { begin(t, d, "q1"); answer(t, d, "q1") }, "", 0},
		"sent, another is open": {func(t *testing.T, d *Desk, _ *claiming) {
			begin(t, d, "q1")
			begin(t, d, "q2")
			answer(t, d, "q1")
		}, "ana", 5*min - 5*time.Second},
		"sent, purposely claimed": {func(t *testing.T, d *Desk, _ *claiming) { claim(t, d, 30*min); begin(t, d, "q1"); answer(t, d, "q1") }, "ana", 30*min - 5*time.Second},
		"sent, claimed by another": {func(t *testing.T, d *Desk, c *claiming) {
			begin(t, d, "q1")
			c.Claim(t.Context(), "thread-1", "bob", min)
			answer(t, d, "q1")
		}, "bob", min - 5*time.Second},
		"sent without a pane": {func(t *testing.T, d *Desk, _ *claiming) { claim(t, d, min); answer(t, d, "q1") }, "ana", min - 5*time.Second},
		"not sent yet": {func(t *testing.T, d *Desk, _ *claiming) {
			begin(t, d, "q1")
			respond(t, d, decide("thread-1", "q1", "reject"), "no")
		}, "ana", 5 * min},
		"taken back": {func(t *testing.T, d *Desk, _ *claiming) {
			begin(t, d, "q1")
			respond(t, d, decide("thread-1", "q1", "reject"), "no")
			must2(d.TakeBack(""))
		}, "ana", 5 * min},
		"refused, and a draft then": {func(t *testing.T, d *Desk, c *claiming) {
			begin(t, d, "q1")
			respond(t, d, decide("thread-1", "q1", "reject"), "no")
			c.byOthers("thread-1", "thread-1/q1", "approve", "bob")
			time.Sleep(5 * time.Second)
		}, "ana", 5*min - 5*time.Second},
		"deleted meanwhile": {func(t *testing.T, d *Desk, c *claiming) {
			begin(t, d, "q1")
			delete(c.threads, "thread-1")
			c.claims.Clear()
			end(t, d, "q1")
		}, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := &claiming{fakeSource: newFake()}
				c.add("thread-1", 2)
				d, err := New(c, Options{Reviewer: "ana"})
				if err != nil {
					t.Fatal(err)
				}
				tc.do(t, d, c)
				synctest.Wait()
				got := held{until: time.Now()}
				if x, ok := c.claims.Load("thread-1"); ok && x.(held).until.After(time.Now()) {
					got = x.(held)
				}
				if left := time.Until(got.until); got.by != tc.want || left != tc.left {
					t.Errorf("claimed by %q for %v more, want %q for %v", got.by, left, tc.want, tc.left)
				}
				must(d.KeepAsDrafts())
				must(d.Close(t.Context()))
			})
		})
	}
}

func begin(t *testing.T, d *Desk, key string) {
	t.Helper()
	if err := d.BeginWriting(t.Context(), Question{Thread: "thread-1", ID: "thread-1/" + key}); err != nil {
		t.Error(err)
	}
}

func end(t *testing.T, d *Desk, key string) {
	t.Helper()
	if err := d.EndWriting(t.Context(), Question{Thread: "thread-1", ID: "thread-1/" + key}); err != nil {
		t.Error(err)
	}
}

func claim(t *testing.T, d *Desk, ttl time.Duration) {
	t.Helper()
	if err := d.Claim(t.Context(), "thread-1", ttl); err != nil {
		t.Error(err)
	}
}

// answer answers a question and waits until it is sent.
func answer(t *testing.T, d *Desk, key string) {
	t.Helper()
	respond(t, d, decide("thread-1", key, "approve"), "")
	time.Sleep(5 * time.Second)
	synctest.Wait()
	if !slices.ContainsFunc(d.Outbox(), func(e Entry) bool { return e.State == Sent }) {
		t.Errorf("not sent: %s", states(d))
	}
}

// TestWritingWhereNothingIsClaimed: a store without claims, and a desk that only reads, are no error to a pane.
func TestWritingWhereNothingIsClaimed(t *testing.T) {
	f := newFake()
	f.add("thread-1", 1)
	d := openDesk(t, f, Options{})
	begin(t, d, "q1")
	end(t, d, "q1")
	c := &claiming{fakeSource: f}
	d, err := New(c, Options{ReadOnly: true})
	must(err)
	begin(t, d, "q1")
	if _, ok := c.claims.Load("thread-1"); ok {
		t.Error("a desk that is read-only claims")
	}
	must(d.Close(t.Context()))
}
