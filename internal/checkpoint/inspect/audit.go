package inspect

import (
	"context"
	"errors"
	"fmt"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// AuditOptions say what to audit. The zero value is all records.
type AuditOptions struct {
	Thread string // this alone; "" for all, and what is left of deleted ones
	// Expect are ends of records as they were once. Each has to be the beginning of what is there now: whoever can write
	// to the whole of a store can make its chains hold again, but not as they were.
	Expect []checkpoint.RecordEnd
}

// Audited is what an audit found.
type Audited struct {
	Threads, Rows, Tombstones int64
	Ends                      []checkpoint.RecordEnd // how each record ends now
	Faults                    []checkpoint.Fault
}

// Audit checks the records of decisions: the chain of each thread, that every decision is in it whose effects a step holds,
// what is left of deleted threads, and that no record has lost its thread.
func Audit(ctx context.Context, s checkpoint.Store, o AuditOptions) (*Audited, error) {
	a := audit{s: s, expect: make(map[string]*checkpoint.RecordEnd, len(o.Expect)), r: &Audited{}}
	for i := range o.Expect {
		a.expect[o.Expect[i].Thread] = &o.Expect[i]
	}
	if o.Thread != "" {
		t, err := s.Thread(ctx, o.Thread)
		if err != nil {
			return nil, err
		}
		return a.r, a.thread(ctx, *t)
	}
	return a.r, a.all(ctx)
}

type audit struct {
	s      checkpoint.Store
	expect map[string]*checkpoint.RecordEnd // what was not found yet
	r      *Audited
}

func (a *audit) fault(thread, text string) {
	a.r.Faults = append(a.r.Faults, checkpoint.Fault{Thread: thread, Text: text})
}

func (a *audit) all(ctx context.Context) error {
	err := eachThread(ctx, a.s, func(t checkpoint.ThreadInfo) error { return a.thread(ctx, t) })
	if errors.Is(err, checkpoint.ErrCorrupt) {
		a.fault("", fmt.Sprintf("the threads behind this cannot be looked at: %v", err))
	} else if err != nil {
		return err
	}
	stones, faults, err := tombstones(ctx, a.s)
	if err != nil {
		return err
	}
	a.r.Tombstones, a.r.Faults = int64(len(stones)), append(a.r.Faults, faults...)
	for i := range stones {
		a.buried(&stones[i])
	}
	lost, err := orphans(ctx, a.s)
	if err != nil {
		return err
	}
	a.r.Faults = append(a.r.Faults, lost...)
	for _, e := range a.expect {
		a.fault(e.Thread, unfollowed(e, "neither the thread is there nor a tombstone of it"))
	}
	return nil
}

// buried compares a tombstone with what is expected of its thread, whose record may have gone on before it was deleted.
func (a *audit) buried(t *checkpoint.Tombstone) {
	a.r.Ends = append(a.r.Ends, checkpoint.RecordEnd{Thread: t.Thread, Decisions: t.Decisions, Hash: t.DecisionHash, Deleted: true})
	e := a.expect[t.Thread]
	delete(a.expect, t.Thread)
	if e == nil {
		return
	}
	if t.Decisions < e.Decisions || (t.Decisions == e.Decisions || e.Deleted) && t.DecisionHash != e.Hash {
		a.fault(t.Thread, unfollowed(e, fmt.Sprintf("its tombstone counts %d that end in %.12s", t.Decisions, t.DecisionHash)))
	}
}

// thread audits one. A thread that was written to or deleted while it was read is read again.
func (a *audit) thread(ctx context.Context, t checkpoint.ThreadInfo) error {
	for {
		faults, err := a.look(ctx, &t)
		if err != nil {
			return err
		}
		if len(faults) > 0 {
			now, err := a.s.Thread(ctx, t.Thread)
			switch {
			case errors.Is(err, checkpoint.ErrNotFound):
				return nil
			case errors.Is(err, checkpoint.ErrCorrupt):
				faults = []string{err.Error()}
			case err != nil:
				return err
			case moved(&t, now):
				t = *now
				continue
			}
		}
		for _, text := range faults {
			a.fault(t.Thread, text)
		}
		delete(a.expect, t.Thread)
		a.r.Threads, a.r.Rows = a.r.Threads+1, a.r.Rows+t.Decisions
		a.r.Ends = append(a.r.Ends, checkpoint.RecordEnd{Thread: t.Thread, Decisions: t.Decisions, Hash: t.DecisionHash})
		return nil
	}
}

func (a *audit) look(ctx context.Context, t *checkpoint.ThreadInfo) ([]string, error) {
	r := recordOf(t)
	r.expected = a.expect[t.Thread]
	var faults []string
	for c, err := range a.s.History(ctx, t.Thread, false) {
		switch {
		case err == nil:
			r.name(c)
		case errors.Is(err, checkpoint.ErrCorrupt):
			faults = append(faults, fmt.Sprintf("what a step says was decided cannot be read: %v", err))
		case !errors.Is(err, checkpoint.ErrNotFound):
			return nil, err
		}
	}
	broken, err := r.verify(ctx, a.s)
	return append(broken, faults...), err
}
