package redis_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/checkpointtest"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/checkpointtest/servers"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/redis"
)

// proxy stands between a store and its server, and once armed does something to the next script that writes.
type proxy struct {
	target string
	l      net.Listener
	wait   sync.WaitGroup

	mu       sync.Mutex
	script   string // command that runs a script of the kind that is meant
	before   func() // runs before the script is sent on
	answer   string // given instead of sending it on
	lose     bool   // the connection breaks when it has run
	meantime func() // runs between the two
	met      int    // how many scripts something was done to
}

// The commands that run the two kinds of script.
const (
	writing = "evalsha\r\n"
	reading = "evalsha_ro\r\n"
)

// startProxy gives the URL by which the store behind url is reached through a proxy.
func startProxy(t *testing.T, url string) (*proxy, string) {
	t.Helper()
	target, rest, _ := strings.Cut(strings.TrimPrefix(url, "redis://"), "/")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{target: target, l: l, script: writing}
	p.wait.Go(p.serve)
	t.Cleanup(func() {
		l.Close()
		p.wait.Wait()
	})
	return p, "redis://" + l.Addr().String() + "/" + rest
}

func (p *proxy) serve() {
	for {
		conn, err := p.l.Accept()
		if err != nil {
			return
		}
		p.wait.Go(func() { p.pass(conn) })
	}
}

// chunks reads a connection until it ends.
func (p *proxy) chunks(conn net.Conn) <-chan []byte {
	out := make(chan []byte)
	p.wait.Go(func() {
		defer close(out)
		for {
			b := make([]byte, 64<<10)
			n, err := conn.Read(b)
			if err != nil {
				return
			}
			out <- b[:n]
		}
	})
	return out
}

func (p *proxy) pass(conn net.Conn) {
	server, err := net.Dial("tcp", p.target)
	if err != nil {
		conn.Close()
		return
	}
	requests, replies := p.chunks(conn), p.chunks(server)
	defer func() { // let both readers end
		conn.Close()
		server.Close()
		for range replies {
		}
		for range requests {
		}
	}()
	for {
		select {
		case b, open := <-requests:
			if !open || !p.request(b, conn, server, replies) {
				return
			}
		case b, open := <-replies:
			if !open {
				return
			}
			conn.Write(b)
		}
	}
}

// armed is what is to be done to a script.
type armed struct {
	before, meantime func()
	answer           string
	lose             bool
}

// disarm gives what is to be done to a request, which is done once.
func (p *proxy) disarm(request []byte) armed {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !bytes.Contains(bytes.ToLower(request), []byte(p.script)) || p.before == nil && p.answer == "" && !p.lose {
		return armed{}
	}
	a := armed{p.before, p.meantime, p.answer, p.lose}
	p.before, p.answer, p.lose = nil, "", false
	p.met++
	return a
}

// request passes a request on and reports whether the connection is to stay.
func (p *proxy) request(b []byte, conn, server net.Conn, replies <-chan []byte) bool {
	a := p.disarm(b)
	if a.answer != "" {
		conn.Write([]byte(a.answer))
		return true
	}
	if a.before != nil {
		a.before()
	}
	server.Write(b)
	if !a.lose {
		return true
	}
	if reply := <-replies; bytes.HasPrefix(reply, []byte("-NOSCRIPT")) { // it has not run and is sent again as a whole
		p.mu.Lock()
		p.lose = true
		p.met--
		p.mu.Unlock()
		conn.Write(reply)
		return true
	}
	if a.meantime != nil {
		a.meantime()
	}
	return false
}

// during has the proxy do something to the next script, in which do has to succeed all the same.
func (p *proxy) during(t *testing.T, do func() error, arm func()) {
	t.Helper()
	p.mu.Lock()
	before := p.met
	arm()
	p.mu.Unlock()
	if err := do(); err != nil {
		t.Fatal(err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.met != before+1 {
		t.Fatalf("%d scripts met the proxy, want 1", p.met-before)
	}
}

// write is one kind of write, which may be the one whose reply is lost.
type write struct {
	name string
	do   func(s *redis.Store) error
}

// lifetime is what a thread may live through, each write in it once.
func lifetime(ctx context.Context) []write {
	c := checkpointtest.First("t")
	c.NewLease.TTL = time.Hour
	c.Decisions = []checkpoint.Decision{{ID: "d1", ResponseID: "r1"}}
	n := checkpointtest.Next(c)
	n.Release = true
	last := checkpointtest.Next(n)
	last.Lease, last.Release, last.Decisions = "token", false, []checkpoint.Decision{{ID: "d4", ResponseID: "r4"}}
	acquire := func(s *redis.Store, token string, seen int, ds ...checkpoint.Decision) error {
		l, err := s.AcquireLease(ctx, checkpoint.LeaseRequest{Thread: "t", Token: token, TTL: time.Hour, Head: checkpoint.Version{Step: 1, Revision: 1},
			Seen: seen, Answers: []json.RawMessage{json.RawMessage(`1`)}, Decisions: ds})
		if err == nil && (l.Token != token || len(l.Answers) != seen+1 || !l.Until.After(time.Now().Add(50*time.Minute))) {
			err = fmt.Errorf("lease %+v", l)
		}
		return err
	}
	return append([]write{
		{"first commit", func(s *redis.Store) error { return second(s.Commit(ctx, c)) }},
		{"heartbeat", func(s *redis.Store) error { return second(s.Heartbeat(ctx, "t", "t", time.Hour)) }},
		{"result", func(s *redis.Store) error {
			return s.AddResult(ctx, "t", "t", checkpoint.PendingResult{Step: 1, Path: "a", Data: []byte("1")})
		}},
		{"cancel", func(s *redis.Store) error { return s.RequestCancel(ctx, "t", "ann") }},
		{"next commit", func(s *redis.Store) error { return second(s.Commit(ctx, n)) }},
		{"lease", func(s *redis.Store) error {
			return acquire(s, "withdrawn", 0, checkpoint.Decision{ID: "d2", ResponseID: "r2"})
		}},
		{"withdrawal", func(s *redis.Store) error {
			return s.ReleaseLease(ctx, checkpoint.Release{Thread: "t", Token: "withdrawn", Withdraw: true, Decisions: []checkpoint.Decision{{ID: "d3", ResponseID: "r3"}}})
		}},
		{"lease again", func(s *redis.Store) error { return acquire(s, "token", 0) }},
		{"last commit", func(s *redis.Store) error { return second(s.Commit(ctx, last)) }},
	}, ending(ctx)...)
}

// ending is the rest of the life of a thread, whose lease is "token".
func ending(ctx context.Context) []write {
	none, one := int64(0), int64(1)
	return []write{
		{"put", func(s *redis.Store) error {
			return second(s.Put(ctx, checkpoint.Checkpoint{Thread: "t", Step: 7, Next: []string{"x"}}, &none))
		}},
		{"put over", func(s *redis.Store) error {
			revision, err := s.Put(ctx, checkpoint.Checkpoint{Thread: "t", Step: 7, Next: []string{"x"}}, &one)
			if err == nil && revision != 2 {
				err = fmt.Errorf("revision %d", revision)
			}
			return err
		}},
		{"release", func(s *redis.Store) error {
			return s.ReleaseLease(ctx, checkpoint.Release{Thread: "t", Token: "token"})
		}},
		{"claim", func(s *redis.Store) error { return s.Claim(ctx, "t", "ann", time.Hour) }},
		{"release of the claim", func(s *redis.Store) error { return s.ReleaseClaim(ctx, "t", "ann") }},
		{"prune", pruneTo(ctx, 2, 2)},
		{"put an end", func(s *redis.Store) error {
			return second(s.Put(ctx, checkpoint.Checkpoint{Thread: "u", Ended: checkpoint.Done}, nil))
		}},
		{"prune ended threads", func(s *redis.Store) error {
			r, err := s.Prune(ctx, checkpoint.PruneQuery{All: true, FinishedBefore: time.Now().Add(time.Hour)})
			if err == nil && r.Deleted != 1 {
				err = fmt.Errorf("pruned %+v", r)
			}
			return err
		}},
		{"delete", func(s *redis.Store) error { return s.DeleteThread(ctx, "t") }},
	}
}

// TestLostReply breaks the connection after a write has run and before its reply has arrived, each write in turn, also
// with somebody else writing to the thread before it is sent again. What becomes of the thread is what becomes of it on an
// unbroken connection.
func TestLostReply(t *testing.T) {
	for _, interfere := range []bool{false, true} {
		for i, w := range lifetime(t.Context()) {
			t.Run(fmt.Sprintf("%s, interference %v", w.name, interfere), func(t *testing.T) {
				url := servers.RedisStore(t)
				direct := open(t, url, redis.Options{})
				p, through := startProxy(t, url)
				s := open(t, through, redis.Options{})
				if interfere {
					p.meantime = func() {
						if err := direct.Claim(context.Background(), "t", "eve", time.Hour); err != nil && !errors.Is(err, checkpoint.ErrNotFound) {
							t.Error(err)
						}
					}
				}
				writes := lifetime(t.Context())
				for j, w := range writes {
					if i != j {
						if err := w.do(s); err != nil {
							t.Fatalf("%s: %v", w.name, err)
						}
						continue
					}
					p.during(t, func() error { return w.do(s) }, func() { p.lose = true })
					stones, err := direct.Tombstones(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					if !slices.ContainsFunc(stones, func(b checkpoint.Tombstone) bool { return b.Thread == "t" }) {
						verifyChain(t, direct, "t")
					} else if stones[1].Decisions != 4 {
						t.Errorf("the tombstone counts %d decisions", stones[1].Decisions)
					}
				}
				if want := int64(len(writes) - 3); !interfere && seqOf(t, direct) != want { // heartbeat, result and prune are quiet
					t.Errorf("%d changes, want %d", seqOf(t, direct), want)
				}
				if stats, err := direct.Stats(t.Context()); err != nil || stats.Checkpoints != 0 || stats.Bytes != 0 || stats.Threads != 0 {
					t.Errorf("stats %+v (%v)", stats, err)
				}
			})
		}
	}
}

func verifyChain(t *testing.T, s *redis.Store, thread string) {
	t.Helper()
	info, err := s.Thread(t.Context(), thread)
	if err != nil {
		t.Fatal(err)
	}
	if err := checkpoint.VerifyChain(thread, s.Decisions(t.Context(), thread), checkpoint.Chain{Count: info.Decisions, Last: info.DecisionHash}); err != nil {
		t.Error(err)
	}
}

// between is a write, another that comes in between what it was judged by and itself, and what becomes of it.
type between struct {
	do, meanwhile func(s *redis.Store) error
	want          error
}

func betweens(ctx context.Context) map[string]between {
	none := int64(0)
	lease := func(token string) checkpoint.LeaseRequest {
		return checkpoint.LeaseRequest{Thread: "t", Token: token, Holder: "h", TTL: time.Hour, Head: checkpoint.Version{Step: 2}}
	}
	begin := func(s *redis.Store) error { return second(s.Commit(ctx, checkpointtest.First("new"))) }
	acquire := func(s *redis.Store) error { return second(s.AcquireLease(ctx, lease("eve"))) }
	put := func(s *redis.Store) error {
		return second(s.Put(ctx, checkpoint.Checkpoint{Thread: "t", Step: 9}, &none))
	}
	return map[string]between{
		"begin, begun and deleted": {begin, func(s *redis.Store) error {
			return errors.Join(second(s.Put(ctx, checkpoint.Checkpoint{Thread: "new"}, nil)), s.DeleteThread(ctx, "new"))
		}, checkpoint.ErrConflict},
		"begin, begun by another": {begin, func(s *redis.Store) error {
			return second(s.Put(ctx, checkpoint.Checkpoint{Thread: "new"}, nil))
		}, checkpoint.ErrConflict},
		"put on nothing, put":      {put, put, checkpoint.ErrConflict},
		"lease, leased":            {acquire, func(s *redis.Store) error { return second(s.AcquireLease(ctx, lease("bob"))) }, checkpoint.ErrLeased},
		"lease, deleted":           {acquire, func(s *redis.Store) error { return s.DeleteThread(ctx, "t") }, checkpoint.ErrNotFound},
		"lease, put over the head": {acquire, put, checkpoint.ErrConflict},
		"lease, claimed":           {acquire, func(s *redis.Store) error { return s.Claim(ctx, "t", "ann", time.Hour) }, nil},
		"delete, leased":           {func(s *redis.Store) error { return s.DeleteThread(ctx, "t") }, acquire, checkpoint.ErrLeased},
		"delete, deleted":          {func(s *redis.Store) error { return s.DeleteThread(ctx, "t") }, func(s *redis.Store) error { return s.DeleteThread(ctx, "t") }, checkpoint.ErrNotFound},
		"claim, deleted":           {func(s *redis.Store) error { return s.Claim(ctx, "t", "ann", time.Hour) }, func(s *redis.Store) error { return s.DeleteThread(ctx, "t") }, checkpoint.ErrNotFound},
		"put in the middle, pruned": {func(s *redis.Store) error {
			return second(s.Put(ctx, checkpoint.Checkpoint{Thread: "t", Step: 0}, nil))
		}, pruneTo(ctx, 2, 2), nil},
		"prune, pruned": {pruneTo(ctx, 2, 2), pruneTo(ctx, 1, 1), nil},
		"prune, leased": {func(s *redis.Store) error {
			r, err := s.Prune(ctx, checkpoint.PruneQuery{All: true, BeforeStep: 2})
			if err == nil && (r.Steps != 0 || len(r.Skipped) != 1) {
				err = fmt.Errorf("pruned %+v", r)
			}
			return err
		}, acquire, nil},
	}
}

// TestBetweenReadAndWrite has another write come in between what a write was judged by and the write itself.
func TestBetweenReadAndWrite(t *testing.T) {
	for name, c := range betweens(t.Context()) {
		t.Run(name, func(t *testing.T) {
			url := servers.RedisStore(t)
			direct := open(t, url, redis.Options{})
			p, through := startProxy(t, url)
			s := open(t, through, redis.Options{})
			checkpointtest.Chain(t, direct, "t", 3)
			p.during(t, func() error {
				if err := c.do(s); !errors.Is(err, c.want) {
					t.Errorf("error %v, want %v", err, c.want)
				}
				return nil
			}, func() {
				p.before = func() {
					if err := c.meanwhile(direct); err != nil {
						t.Error(err)
					}
				}
			})
		})
	}
}

func pruneTo(ctx context.Context, before, steps int64) func(*redis.Store) error {
	return func(s *redis.Store) error {
		r, err := s.Prune(ctx, checkpoint.PruneQuery{All: true, BeforeStep: before})
		if err == nil && r.Steps != steps {
			err = fmt.Errorf("pruned %+v, want %d steps", r, steps)
		}
		return err
	}
}

// TestLeaseEndsUnderway has a lease run out between what a write was judged by and the write itself.
func TestLeaseEndsUnderway(t *testing.T) {
	for name, do := range map[string]func(s *redis.Store) error{
		"commit": func(s *redis.Store) error {
			return second(s.Commit(t.Context(), checkpointtest.Next(checkpointtest.First("t"))))
		},
		"heartbeat": func(s *redis.Store) error { return second(s.Heartbeat(t.Context(), "t", "t", time.Hour)) },
		"result": func(s *redis.Store) error {
			return s.AddResult(t.Context(), "t", "t", checkpoint.PendingResult{Step: 1, Path: "a"})
		},
		"release": func(s *redis.Store) error {
			return s.ReleaseLease(t.Context(), checkpoint.Release{Thread: "t", Token: "t"})
		},
	} {
		t.Run(name, func(t *testing.T) {
			now, calls := time.Now(), 0
			s := open(t, servers.RedisStore(t), redis.Options{Now: func() time.Time {
				if calls++; calls > 3 { // row and script of the first commit, row of the write
					return now.Add(time.Hour)
				}
				return now
			}})
			commit(t, s, checkpointtest.First("t"))
			if err := do(s); !errors.Is(err, checkpoint.ErrConflict) {
				t.Errorf("error %v, want ErrConflict", err)
			}
			if calls < 5 {
				t.Errorf("the clock was asked %d times: the write was not judged again", calls)
			}
		})
	}
}

// TestPassingErrors has the server answer as it does while it loads or another script runs.
func TestPassingErrors(t *testing.T) {
	p, url := startProxy(t, servers.RedisStore(t))
	s := open(t, url, redis.Options{})
	c := checkpointtest.First("t")
	commit(t, s, c)
	for _, answer := range []string{"LOADING Redis is loading the dataset in memory", "BUSY Redis is busy running a script.", "MASTERDOWN Link with MASTER is down"} {
		c = checkpointtest.Next(c)
		p.during(t, func() error { return second(s.Commit(t.Context(), c)) }, func() { p.answer = "-" + answer + "\r\n" })
	}
	want := []int64{0, 1, 2, 3}
	var got []int64
	for c, err := range s.History(t.Context(), "t", false) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, c.Step)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestForgottenScripts has the server forget all scripts between calls.
func TestForgottenScripts(t *testing.T) {
	srv := servers.StartRedis(t)
	s := open(t, srv.URL, redis.Options{})
	raw := servers.RedisClient(t, srv.URL)
	c := checkpointtest.First("t")
	for range 3 {
		if err := raw.ScriptFlush(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
		commit(t, s, c)
		if _, err := s.Latest(t.Context(), "t"); err != nil {
			t.Fatal(err)
		}
		c = checkpointtest.Next(c)
	}
}
