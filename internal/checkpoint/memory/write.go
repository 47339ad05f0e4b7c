package memory

import (
	"context"
	"slices"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// Put implements checkpoint.Store.
func (s *Store) Put(ctx context.Context, c checkpoint.Checkpoint, ifRevision *int64) (int64, error) {
	if err := c.Validate(); err != nil {
		return 0, err
	}
	c.Shown = nil
	if err := s.lock(ctx); err != nil {
		return 0, err
	}
	defer s.mu.Unlock()
	t := s.threads[c.Thread]
	if t == nil && s.deleted(c.Thread) {
		return 0, checkpoint.AbsentConflict(c.Thread, c.Step, true)
	}
	var revision int64
	if t != nil {
		if old := t.step(c.Step); old != nil {
			revision = old.Revision
		}
	}
	if err := c.AdmitRevision(ifRevision, revision); err != nil {
		return 0, err
	}
	if t == nil {
		t = s.create(&c, checkpoint.NewThread{})
	}
	c.Revision = revision + 1
	if c.Channels == nil {
		c.Channels = checkpoint.Channels{}
	}
	t.put(c.Clone(), "")
	if c.Step >= t.info.Step {
		t.setHead(&c, checkpoint.SummaryOf(&c))
		t.results = nil
	}
	s.touch(t)
	return c.Revision, nil
}

func (s *Store) create(c *checkpoint.Checkpoint, n checkpoint.NewThread) *thread {
	t := &thread{info: checkpoint.ThreadInfo{Thread: c.Thread, Step: -1, Workdir: n.Workdir, StartedBy: n.StartedBy,
		Created: s.time()}}
	s.threads[c.Thread] = t
	return t
}

func (s *Store) deleted(id string) bool {
	return slices.ContainsFunc(s.tombstones, func(b tombstone) bool { return b.Thread == id })
}

func (t *thread) setHead(c *checkpoint.Checkpoint, summary checkpoint.Summary) {
	t.info.Step, t.info.Revision = c.Step, c.Revision
	t.info.Workflow, t.info.Fingerprint = c.Workflow, c.Fingerprint
	if c.Origin != nil {
		origin := *c.Origin
		t.info.Origin = &origin
	}
	t.info.Summary = summary.Stored()
}

func (t *thread) find(n int64) (int, bool) {
	return slices.BinarySearchFunc(t.steps, n, func(s *step, n int64) int { return int(s.Step - n) })
}

func (t *thread) step(n int64) *step {
	if i, ok := t.find(n); ok {
		return t.steps[i]
	}
	return nil
}

// put stores c, which the caller gives up.
func (t *thread) put(c *checkpoint.Checkpoint, commit string) {
	c.SizeBytes, c.Commit = 0, commit
	for name, value := range c.Channels {
		c.SizeBytes += int64(len(name) + len(value))
	}
	written := &step{Checkpoint: *c}
	i, ok := t.find(c.Step)
	if ok {
		t.steps[i] = written
		return
	}
	t.steps = slices.Insert(t.steps, i, written)
}

// Commit implements checkpoint.Store.
func (s *Store) Commit(ctx context.Context, c checkpoint.Commit) (checkpoint.Version, error) {
	if err := c.Validate(); err != nil {
		return checkpoint.Version{}, err
	}
	c.Show()
	if err := s.lock(ctx); err != nil {
		return checkpoint.Version{}, err
	}
	defer s.mu.Unlock()
	id := c.Checkpoint.Thread
	t := s.threads[id]
	if t != nil {
		if done := t.step(c.Checkpoint.Step); done != nil && done.Checkpoint.Commit == c.ID {
			return done.Version(), nil
		}
	}
	if err := s.admit(t, &c); err != nil {
		return checkpoint.Version{}, err
	}
	state, lease := checkpoint.Channels{}, checkpoint.LeaseState{}
	if t != nil {
		state, lease = t.step(t.info.Step).Channels, t.lease
	}
	state, err := checkpoint.Apply(state, c.Ops)
	if err != nil {
		return checkpoint.Version{}, err
	}
	if err := c.Settle(&lease, s.time()); err != nil {
		return checkpoint.Version{}, err
	}
	lease.Answers = checkpoint.CloneAll(lease.Answers)
	decisions, chain, err := t.link(id, c.AllDecisions())
	if err != nil {
		return checkpoint.Version{}, err
	}
	if t == nil {
		t = s.create(&c.Checkpoint, *c.NewThread)
	}
	c.Checkpoint.Revision, c.Checkpoint.Channels = 1, state
	t.put(c.Checkpoint.Clone(), c.ID)
	t.setHead(&c.Checkpoint, c.Summary)
	t.lease, t.results = lease, nil
	t.decisions, t.chain = append(t.decisions, decisions...), chain
	s.touch(t)
	return t.info.Version(), nil
}

// admit checks what a commit is conditional on.
func (s *Store) admit(t *thread, c *checkpoint.Commit) error {
	if t == nil {
		return c.AdmitNew(s.deleted(c.Checkpoint.Thread))
	}
	return c.AdmitNext(t.info.Version(), &t.lease, s.time())
}

// link gives the rows that continue t's chain with ds, and its new end; it changes nothing. t may be nil.
func (t *thread) link(id string, ds []checkpoint.Decision) ([]*checkpoint.Decision, checkpoint.Chain, error) {
	var chain checkpoint.Chain
	seen := make(map[string]bool)
	if t != nil {
		chain = t.chain
		for _, d := range t.decisions {
			seen[d.ResponseID] = true
		}
	}
	rows := make([]*checkpoint.Decision, len(ds))
	for i := range ds {
		d := ds[i].Clone()
		if d.ResponseID != "" && seen[d.ResponseID] {
			return nil, chain, checkpoint.DuplicateResponse(id, d.ResponseID)
		}
		seen[d.ResponseID] = true
		chain.Append(id, d)
		rows[i] = d
	}
	return rows, chain, nil
}

// AcquireLease implements checkpoint.Store.
func (s *Store) AcquireLease(ctx context.Context, r checkpoint.LeaseRequest) (*checkpoint.Lease, error) {
	t, err := s.enter(ctx, r.Thread)
	if err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	lease := t.lease
	r.Answers = checkpoint.CloneAll(r.Answers)
	if err := lease.Acquire(&r, t.info.Version(), s.time()); err != nil {
		return nil, err
	}
	decisions, chain, err := t.link(r.Thread, r.Decisions)
	if err != nil {
		return nil, err
	}
	t.lease, t.decisions, t.chain = lease, append(t.decisions, decisions...), chain
	s.touch(t)
	got := &checkpoint.Lease{Token: lease.Token, Until: lease.Until, Head: t.info.Version(),
		Answers: checkpoint.CloneAll(lease.Answers)}
	for _, r := range t.results {
		r.Data = slices.Clone(r.Data)
		got.Results = append(got.Results, r)
	}
	return got, nil
}

// enter begins a call on a thread that must be there.
func (s *Store) enter(ctx context.Context, id string) (*thread, error) {
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	t := s.threads[id]
	if t == nil {
		s.mu.Unlock()
		return nil, checkpoint.ThreadNotFound(id)
	}
	return t, nil
}

// hold begins a call under a lease. A thread that is gone has lost its lease.
func (s *Store) hold(ctx context.Context, id, token string) (*thread, error) {
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	t := s.threads[id]
	err := checkpoint.AbsentConflict(id, 0, s.deleted(id))
	if t != nil {
		err = t.lease.Held(id, token, s.time())
	}
	if err != nil {
		s.mu.Unlock()
		return nil, err
	}
	return t, nil
}

// Heartbeat implements checkpoint.Store.
func (s *Store) Heartbeat(ctx context.Context, id, token string, ttl time.Duration) (checkpoint.Heartbeat, error) {
	t, err := s.hold(ctx, id, token)
	if err != nil {
		return checkpoint.Heartbeat{}, err
	}
	defer s.mu.Unlock()
	return t.lease.Renew(ttl, s.time()), nil
}

// ReleaseLease implements checkpoint.Store.
func (s *Store) ReleaseLease(ctx context.Context, r checkpoint.Release) error {
	t, err := s.hold(ctx, r.Thread, r.Token)
	if err != nil {
		return err
	}
	defer s.mu.Unlock()
	decisions, chain, err := t.link(r.Thread, r.Decisions)
	if err != nil {
		return err
	}
	t.lease.GiveBack(r.Withdraw)
	if r.Withdraw {
		t.results = nil
	}
	t.decisions, t.chain = append(t.decisions, decisions...), chain
	s.touch(t)
	return nil
}

// RequestCancel implements checkpoint.Store.
func (s *Store) RequestCancel(ctx context.Context, id, by string) error {
	t, err := s.enter(ctx, id)
	if err != nil {
		return err
	}
	defer s.mu.Unlock()
	if !t.lease.Live(s.time()) {
		return checkpoint.NothingRuns(id)
	}
	t.lease.Cancel, t.lease.CancelledBy = true, by
	s.touch(t)
	return nil
}

// AddResult implements checkpoint.Store.
func (s *Store) AddResult(ctx context.Context, id, token string, r checkpoint.PendingResult) error {
	t, err := s.hold(ctx, id, token)
	if err != nil {
		return err
	}
	defer s.mu.Unlock()
	r.Data = slices.Clone(r.Data)
	same := func(o checkpoint.PendingResult) bool { return o.Path == r.Path }
	t.results = append(slices.DeleteFunc(t.results, same), r)
	return nil
}

// Claim implements checkpoint.Store.
func (s *Store) Claim(ctx context.Context, id, reviewer string, ttl time.Duration) error {
	t, err := s.enter(ctx, id)
	if err != nil {
		return err
	}
	defer s.mu.Unlock()
	t.claim = checkpoint.Claim{Reviewer: reviewer, Until: checkpoint.Micro(s.time().Add(ttl))}
	s.touch(t)
	return nil
}

// ReleaseClaim implements checkpoint.Store.
func (s *Store) ReleaseClaim(ctx context.Context, id, reviewer string) error {
	t, err := s.enter(ctx, id)
	if err != nil {
		return err
	}
	defer s.mu.Unlock()
	if t.claim.Reviewer == reviewer && reviewer != "" {
		t.claim = checkpoint.Claim{}
		s.touch(t)
	}
	return nil
}
