package engine

import (
	"context"
	"fmt"
	"slices"

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
	if err := e.upgrade(ctx, h, *r.Upgrade); err != nil {
		return nil, err
	}
	if err := e.store.PutDefinition(ctx, *r.Upgrade); err != nil {
		return nil, fmt.Errorf("keeping the definition of %s: %w", r.Upgrade.Workflow, err)
	}
	return e.writeStep(ctx, h, checkpoint.SourceUpgrade)
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
	next, err := g.plan()
	if err != nil {
		return err
	}
	if err := h.tree.root.fits(next); err != nil {
		return fmt.Errorf("thread %s: %w", h.info.Thread, err)
	}
	t, err := load(h.checkpoint, g, &e.o)
	if err != nil {
		return err
	}
	if d.Source != t.source {
		t.source = d.Source
		t.record()
	}
	h.tree = t
	h.checkpoint.Fingerprint, h.checkpoint.Workflow = d.Fingerprint, d.Workflow
	return nil
}

// fits compares what this frame still needs of its graph with another one.
func (f *frame) fits(next *plan) error {
	for i, old := range f.plan.nodes {
		if f.runs[i] == nil && len(f.buffers[i]) == 0 && f.arrivals[i] == nil {
			continue
		}
		j, ok := next.index[old.Name]
		if !ok {
			return fmt.Errorf("%w: node %q is gone, and the thread is there", ErrWorkflowChanged, old.Name)
		}
		now := next.nodes[j]
		switch {
		case now.Kind != old.Kind:
			return fmt.Errorf("%w: node %q was of kind %s and is now %s", ErrWorkflowChanged, old.Name, old.Kind, now.Kind)
		case now.RerunOnResume != old.RerunOnResume:
			return fmt.Errorf("%w: node %q now resumes in another way", ErrWorkflowChanged, old.Name)
		case !slices.Equal(slices.Sorted(slices.Values(now.preds)), slices.Sorted(slices.Values(old.preds))):
			return fmt.Errorf("%w: node %q is now reached from other nodes", ErrWorkflowChanged, old.Name)
		}
	}
	return nil
}
