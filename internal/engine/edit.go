package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/nearest"
)

// EditRequest is a reviewer's change of the state.
type EditRequest struct {
	Thread    string
	Frame     string // whose state: "" the thread's, else the address of a nested workflow or map item (triage/2), or its path
	Updates   map[string]json.RawMessage
	IfVersion *checkpoint.Version
	By        string
	Steal     bool // although somebody else has claimed it
}

// The actions of the decision rows that are about a thread rather than about a question.
const (
	editAction    = "edit"
	upgradeAction = "upgrade"
)

// Edit writes a reviewer's state changes as a step of their own, and who made them as a decision row; open questions are
// kept. A null value sets null. What ran already is not run again, what has yet to run sees the change.
func (e *Engine) Edit(ctx context.Context, r EditRequest) (*Outcome, error) {
	h, err := e.read(ctx, r.Thread)
	if err != nil {
		return nil, err
	}
	if h.tree.ended != "" {
		return nil, fmt.Errorf("%w: thread %s is %s, so its state cannot change; fork it", ErrNotWaiting, r.Thread, h.tree.ended)
	}
	if err := checkVersion(h, r.IfVersion); err != nil {
		return nil, err
	}
	if err := claimed(h, ResumeRequest{Thread: r.Thread, By: r.By, Steal: r.Steal}, e.o.Now()); err != nil {
		return nil, err
	}
	f, err := h.tree.frameAt(r.Frame)
	if err != nil {
		return nil, err
	}
	if err := f.edit(r.Updates); err != nil {
		return nil, err
	}
	row := e.rowAbout(h, editAction, r.By, encode(r.Updates))
	row.Path, row.Address = f.path, strings.TrimSuffix(f.address, "/")
	h.tree.newEpoch(row.ID)
	return e.writeStep(ctx, h, checkpoint.SourceEdit, &row)
}

// rowAbout is a decision about the thread as a whole.
func (e *Engine) rowAbout(h *head, action, by string, data json.RawMessage) checkpoint.Decision {
	return checkpoint.Decision{
		ID: e.o.NewID(), Thread: h.info.Thread, Version: h.checkpoint.Version(), Action: action, Data: data, Reviewer: by,
		DecidedAt: e.o.Now().UTC(), Outcome: checkpoint.Applied,
	}
}

// aboutThread reports whether a row tells of a change of state or definition, and answers nothing.
func aboutThread(d *checkpoint.Decision) bool {
	return d.Interrupt == "" && (d.Action == editAction || d.Action == upgradeAction)
}

// frameAt finds a frame by address or path.
func (t *tree) frameAt(name string) (*frame, error) {
	name = strings.TrimSuffix(name, "/")
	if name == "" || name == rootPath {
		return t.root, nil
	}
	var found *frame
	var open []string
	t.root.frames(func(f *frame) {
		address := strings.TrimSuffix(f.address, "/")
		if address == name || f.path == name {
			found = f
		}
		open = append(open, address)
	})
	if found == nil {
		return nil, fmt.Errorf("%w: no nested workflow or map item of thread %s at work is called %q; there are %s",
			checkpoint.ErrNotFound, t.thread, name, cmp.Or(strings.Join(open, ", "), "none"))
	}
	return found, nil
}

// frames calls see with every frame below f, in frontier order.
func (f *frame) frames(see func(*frame)) {
	for _, r := range f.runs {
		if f.nests == 0 {
			return
		}
		if r == nil || r.nest == nil {
			continue
		}
		for _, k := range r.nest.frames {
			see(k)
			k.frames(see)
		}
	}
}

// edit sets state keys of the frame past their reducers.
func (f *frame) edit(updates map[string]json.RawMessage) error {
	if len(updates) == 0 {
		return fmt.Errorf("%w: nothing is to change", ErrInvalidEdit)
	}
	for _, key := range sortedKeys(updates) {
		if key == "" || strings.HasPrefix(key, "@") {
			return fmt.Errorf("%w: %q is no state key", ErrInvalidEdit, key)
		}
		v, err := ValueOf(updates[key])
		if err != nil {
			return fmt.Errorf("%w: state key %q: %w", ErrInvalidEdit, key, err)
		}
		if f.seesAround(key) {
			return fmt.Errorf("%w: %q is not a key of %s but of what is around it; a map item has only keys of its own",
				ErrInvalidEdit, key, strings.TrimSuffix(f.address, "/"))
		}
		if !f.hasKey(key) {
			of := cmp.Or(strings.TrimSuffix(f.address, "/"), "workflow "+f.graph.Name)
			return fmt.Errorf("%w: %q is no state key of %s%s", ErrInvalidEdit, key, of, nearest.Hint(key, f.graph.Keys))
		}
		if v, err = f.taken(key, v); err != nil {
			return err
		}
		f.set(key, v)
	}
	return nil
}

// taken is a value for a key of the frame, made what the input of its workflow wants, where the key is one of the input.
func (f *frame) taken(key string, v Value) (Value, error) {
	x, isInput := f.graph.Inputs[key]
	if !isInput || v.IsNull() && !x.Required && x.Default == nil { // null is what an input is that was not given
		return v, nil
	}
	taken, err := x.Take(v)
	if err != nil {
		return v, fmt.Errorf("%w: the input of workflow %s does not take this: %w", ErrInvalidEdit, f.graph.Name, err)
	}
	return taken, nil
}

// hasKey reports whether nodes of the frame may read or write a key, as far as that is known.
func (f *frame) hasKey(key string) bool {
	_, written := f.state[key]
	return written || f.graph.Keys == nil || slices.Contains(f.graph.Keys, key)
}

// seesAround reports whether a frame, of a map's body, reads a name from around it.
func (f *frame) seesAround(key string) bool {
	if f.owner == nil || !f.owner.open() {
		return false
	}
	if _, own := f.state[key]; own {
		return false
	}
	_, around := f.Lookup(key)
	for o := f; !around && o.owner != nil && o.owner.open(); {
		o = o.owner.run.frame
		around = slices.Contains(o.graph.Keys, key)
	}
	return around
}

// newEpoch makes every run that has yet to run begin after an edit, so that its idempotency key is another one.
func (t *tree) newEpoch(id string) {
	t.epoch = id
	t.root.write(checkpoint.OpSet, epochChannel, text(id))
	for r := range t.runs {
		if r.status == ready || r.status == failed {
			r.epoch = id
			r.touch()
		}
	}
}

// writeStep commits the tree as a step that runs nothing and applies no answers; by is the record of who wanted it, nil
// where nobody did.
func (e *Engine) writeStep(ctx context.Context, h *head, source checkpoint.Source, by *checkpoint.Decision) (*Outcome, error) {
	s := e.session(h)
	s.source = source
	if by != nil {
		s.decisions, s.applied = []checkpoint.Decision{*by}, []string{by.ID}
	}
	seen := 0
	if h.info.Lease != nil {
		seen = h.info.Lease.Answers
	}
	lease, err := e.acquire(ctx, checkpoint.LeaseRequest{
		Thread: h.info.Thread, Token: e.o.NewID(), Holder: e.o.Holder, TTL: e.o.LeaseTTL, Head: s.head, Seen: seen,
	})
	if err != nil {
		return nil, fmt.Errorf("thread %s: %w", h.info.Thread, err)
	}
	s.lease = lease.Token
	c := s.compose(ctx, true)
	c.KeepAnswers = len(lease.Answers)
	version, err := e.commit(ctx, c)
	if err != nil {
		return nil, s.giveUp(ctx, fmt.Errorf("thread %s: %w", h.info.Thread, err))
	}
	s.committed(version, true)
	out := s.outcome()
	if c.KeepAnswers > 0 {
		out.Status = checkpoint.Stalled // whatever it waits for, accepted answers are to be applied
	}
	s.rested(out)
	return out, nil
}
