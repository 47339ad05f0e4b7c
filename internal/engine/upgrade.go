package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// writeUpgrade commits the change of definition.
func (e *Engine) writeUpgrade(ctx context.Context, r ResumeRequest) (*Outcome, error) {
	h, err := e.read(ctx, r.Thread)
	if err != nil {
		return nil, err
	}
	if err := checkVersion(h, r.IfVersion); err != nil {
		return nil, err
	}
	was := h.checkpoint.Fingerprint
	if err := e.upgrade(ctx, h, *r.Upgrade); err != nil {
		return nil, err
	}
	row := e.rowAbout(h, upgradeAction, r.reviewer(), encode(map[string]string{"from": was, "to": r.Upgrade.Fingerprint}))
	if err := e.durably(ctx, func() error { return e.store.PutDefinition(ctx, *r.Upgrade) }); err != nil {
		return nil, fmt.Errorf("keeping the definition of %s: %w", r.Upgrade.Workflow, err)
	}
	return e.writeStep(ctx, h, checkpoint.SourceUpgrade, &row)
}

// upgrade puts a thread that was read on another definition. It is refused unless every node that a frame
// names exists there with its kind, its re-run flag and its predecessors.
func (e *Engine) upgrade(ctx context.Context, h *head, d checkpoint.Definition) error {
	if h.tree.ended != "" {
		return fmt.Errorf("%w: thread %s is %s", ErrNotWaiting, h.info.Thread, h.tree.ended)
	}
	g, err := e.graphFor(ctx, nil, d)
	if err != nil {
		return err
	}
	if err := h.tree.root.fits(g); err != nil {
		return fmt.Errorf("thread %s: %w", h.info.Thread, err)
	}
	t, err := load(h.checkpoint, g, &e.o)
	if err != nil {
		return err
	}
	if err := t.root.fillInputs(); err != nil {
		return fmt.Errorf("thread %s: %w", h.info.Thread, err)
	}
	if d.Source != t.source {
		t.source = d.Source
		t.record()
	}
	h.tree = t
	h.checkpoint.Fingerprint, h.checkpoint.Workflow = d.Fingerprint, d.Workflow
	return nil
}

// fits compares what this frame, and those below it, still need of their graph with another one.
func (f *frame) fits(g *Graph) error {
	next, err := g.plan()
	if err != nil {
		return err
	}
	for i, old := range f.plan.nodes {
		if f.runs[i] == nil && len(f.buffers[i]) == 0 && f.arrivals[i] == nil {
			continue
		}
		j, ok := next.index[old.Name]
		if !ok {
			return fmt.Errorf("%w: node %q is gone, and %s: put it back", ErrWorkflowChanged, old.Name, f.standing(i))
		}
		now := next.nodes[j]
		switch {
		case now.Kind != old.Kind:
			return fmt.Errorf("%w: node %q was of kind %s and is now %s, and %s", ErrWorkflowChanged, old.Name, old.Kind, now.Kind, f.standing(i))
		case now.RerunOnResume != old.RerunOnResume:
			return fmt.Errorf("%w: node %q now resumes in another way, and %s", ErrWorkflowChanged, old.Name, f.standing(i))
		case !slices.Equal(slices.Sorted(slices.Values(now.preds)), slices.Sorted(slices.Values(old.preds))):
			return fmt.Errorf("%w: node %q is now reached from other nodes, and %s", ErrWorkflowChanged, old.Name, f.standing(i))
		}
		if err := f.runs[i].fits(now.Node); err != nil {
			return err
		}
	}
	return nil
}

// standing says by its address what holds the thread at a node.
func (f *frame) standing(i int) string {
	address, r := f.address+f.plan.nodes[i].Name, f.runs[i]
	switch {
	case r == nil || r.status == ready:
		return address + " has yet to run"
	case r.status == waiting:
		return address + " waits there"
	case r.status == failed:
		return address + " has failed there"
	default:
		return address + " is at work there"
	}
}

// fillInputs gives this frame, and those below it, the defaults of input keys that they do not have, since the definition
// was another one when they began. A key that must be given is refused.
func (f *frame) fillInputs() error {
	for _, key := range sortedKeys(f.graph.Inputs) {
		x := f.graph.Inputs[key]
		if _, given := f.state[key]; given {
			continue
		}
		if x.Required {
			return fmt.Errorf("%w: workflow %s now needs the input %q, which %s does not have: give it a default, or do not require it",
				ErrWorkflowChanged, f.graph.Name, key, cmp.Or(strings.TrimSuffix(f.address, "/"), "the thread"))
		}
		if x.Default != nil {
			f.set(key, *x.Default)
		}
	}
	for _, r := range f.runs {
		if r == nil || r.nest == nil {
			continue
		}
		for _, below := range r.nest.frames {
			if err := below.fillInputs(); err != nil {
				return err
			}
		}
	}
	return nil
}

// fits compares the frames of a run with what its node would now run in them.
func (r *run) fits(now *Node) error {
	if r == nil || r.nest == nil {
		return nil
	}
	if !now.nests() || (now.Sub == nil) != (r.node.Sub == nil) || now.Map != nil && (now.Map.In == nil) != (r.node.Map.In == nil) {
		return fmt.Errorf("%w: node %q now runs in another way, and %s", ErrWorkflowChanged, r.node.Name, r.frame.standing(r.index))
	}
	for _, f := range r.nest.frames {
		if err := f.fits(now.Nested()); err != nil {
			return err
		}
	}
	return nil
}
