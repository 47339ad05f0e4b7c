package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// errKilled is what a store says to a process that is dead.
var errKilled = errors.New("killed")

// mortal is the store as one process sees it: at its n-th write the process dies, before or after the write happened,
// and nothing it does from then on reaches the store.
type mortal struct {
	checkpoint.Store
	mu    sync.Mutex
	n     int // writes left; below 0: immortal
	after bool
	dead  bool
	log   *ledger
}

// write runs one write of the process.
func (m *mortal) write(do func() error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.dead {
		return errKilled
	}
	m.n--
	if m.n != 0 {
		return do()
	}
	m.dead = true
	if m.after {
		_ = do()
	}
	return errKilled
}

func (m *mortal) Commit(ctx context.Context, c checkpoint.Commit) (v checkpoint.Version, err error) {
	err = m.write(func() error {
		if v, err = m.Store.Commit(ctx, c); err != nil {
			return err
		}
		return m.log.commit(c)
	})
	return v, err
}

func (m *mortal) AcquireLease(ctx context.Context, r checkpoint.LeaseRequest) (l *checkpoint.Lease, err error) {
	err = m.write(func() error {
		if l, err = m.Store.AcquireLease(ctx, r); err == nil {
			m.log.decided(r.Thread, r.Decisions)
		}
		return err
	})
	return l, err
}

func (m *mortal) ReleaseLease(ctx context.Context, r checkpoint.Release) error {
	return m.write(func() error {
		err := m.Store.ReleaseLease(ctx, r)
		if err == nil {
			m.log.released(r)
		}
		return err
	})
}

func (m *mortal) AddResult(ctx context.Context, thread, token string, r checkpoint.PendingResult) error {
	return m.write(func() error {
		err := m.Store.AddResult(ctx, thread, token, r)
		if err == nil {
			m.log.result(thread, r)
		}
		return err
	})
}

// ledger keeps what was ever written, beside the store.
type ledger struct {
	mu      sync.Mutex
	threads map[string]*account
}

// account is the ledger of one thread.
type account struct {
	steps []entry
	rows  map[string]*checkpoint.Decision // accepted, by id
	gone  map[string]bool                 // ids of decisions withdrawn
	kept  map[string]int                  // pending results of the coming step by run: attempts that failed, or finished
}

// entry is one step: what was committed, and the state by applying the operations.
type entry struct {
	checkpoint.Checkpoint
	summary checkpoint.Summary
	state   checkpoint.Channels
}

// questions are those open at the step.
func (s *entry) questions() []checkpoint.Interrupt {
	c := s.Checkpoint
	c.Channels = s.state
	all, err := c.Questions()
	if err != nil {
		panic(err)
	}
	return all
}

func (l *ledger) of(thread string) *account {
	a := l.threads[thread]
	if a == nil {
		a = &account{rows: map[string]*checkpoint.Decision{}, gone: map[string]bool{}, kept: map[string]int{}}
		l.threads[thread] = a
	}
	return a
}

func (l *ledger) commit(c checkpoint.Commit) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	a := l.of(c.Checkpoint.Thread)
	if n := int64(len(a.steps)); c.Checkpoint.Step != n {
		return fmt.Errorf("step %d was written after %d steps", c.Checkpoint.Step, n)
	}
	var parent checkpoint.Channels
	if c.Parent >= 0 {
		parent = a.steps[c.Parent].state
	}
	state, err := checkpoint.Apply(parent, c.Ops)
	a.steps = append(a.steps, entry{c.Checkpoint, c.Summary, state})
	clear(a.kept)
	a.add(c.Decisions)
	return err
}

func (a *account) add(rows []checkpoint.Decision) {
	for _, d := range rows {
		a.rows[d.ID] = &d
	}
}

func (l *ledger) decided(thread string, rows []checkpoint.Decision) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.of(thread).add(rows)
}

func (l *ledger) released(r checkpoint.Release) {
	l.mu.Lock()
	defer l.mu.Unlock()
	a := l.of(r.Thread)
	for _, d := range r.Decisions {
		a.gone[d.Withdraws] = true
	}
	if r.Withdraw {
		clear(a.kept) // they may have come of the answers
	}
}

func (l *ledger) result(thread string, r checkpoint.PendingResult) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var rec pendingRecord
	if json.Unmarshal(r.Data, &rec) != nil {
		return
	}
	l.of(thread).kept[r.Path] = finished
	if rec.Again {
		l.of(thread).kept[r.Path] = rec.Failures
	}
}

// finished is the number of attempts of a run that must not run again in this step.
const finished = math.MaxInt

// attempted is how many attempts of a run are on record for the coming step.
func (l *ledger) attempted(thread, path string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.of(thread).kept[path]
}
