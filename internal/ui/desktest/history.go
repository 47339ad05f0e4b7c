package desktest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/hitl-tui/hitl-tui/internal/desk"
)

// History lists the steps AddHistory gave.
func (d *Desk) History(ctx context.Context, id string) ([]desk.Step, error) {
	d.enter("History")
	defer d.mu.Unlock()
	return slices.Clone(d.threads[id].steps), nil
}

// Graph is the graph AddGraph gave.
func (d *Desk) Graph(ctx context.Context, id string) (*desk.Graph, error) {
	d.enter("Graph")
	defer d.mu.Unlock()
	if d.threads[id].graph == nil {
		return nil, errors.New("this store cannot tell the graph of a thread")
	}
	return d.threads[id].graph, nil
}

// StateAt reads the state at a step.
func (d *Desk) StateAt(ctx context.Context, id string, step int64) (*desk.State, error) {
	d.enter("StateAt")
	defer d.mu.Unlock()
	t := d.threads[id]
	if step < 0 {
		step = int64(len(t.states) - 1)
	}
	if step >= int64(len(t.states)) {
		return nil, fmt.Errorf("thread %s has no step %d", id, step)
	}
	return &desk.State{Thread: id, Step: step, Revision: 1, State: t.states[step], Status: t.detail.Status}, nil
}

// ExportMasked writes what ExportOf gives.
func (d *Desk) ExportMasked(ctx context.Context, id string, to io.Writer) error {
	d.enter("ExportMasked")
	defer d.mu.Unlock()
	_, err := io.WriteString(to, ExportOf(id))
	return err
}

// ExportOf is the export of a thread of this desk.
func ExportOf(id string) string { return fmt.Sprintf("{\"thread_id\": %q}\n", id) }

// Diff compares two states.
func (d *Desk) Diff(ctx context.Context, id string, a, b int64) ([]desk.KeyDiff, error) {
	d.enter("Diff")
	defer d.mu.Unlock()
	t := d.threads[id]
	x, y := t.states[a], t.states[b]
	keys := maps.Clone(x)
	if keys == nil {
		keys = map[string]json.RawMessage{}
	}
	maps.Copy(keys, y)
	var out []desk.KeyDiff
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		k := desk.KeyDiff{Key: key, Before: x[key], After: y[key], Kind: "changed"}
		switch {
		case k.Before == nil:
			k.Kind = "added"
		case k.After == nil:
			k.Kind = "removed"
		case bytes.Equal(k.Before, k.After):
			k.Kind = "same"
		}
		out = append(out, k)
	}
	slices.SortStableFunc(out, func(p, q desk.KeyDiff) int { return same(p) - same(q) })
	return out, nil
}

func same(k desk.KeyDiff) int {
	if k.Kind == "same" {
		return 1
	}
	return 0
}

// Fork names a new thread.
func (d *Desk) Fork(ctx context.Context, id string, step int64) (string, error) {
	d.enter("Fork")
	d.serial++
	fork := fmt.Sprintf("fork-%04d", d.serial)
	t := d.threads[id].detail
	d.mu.Unlock()
	t.ID, t.Short, t.Status, t.Questions, t.Origin = fork, "", "running", nil, fmt.Sprintf("%s@%d", id, step)
	d.Add(t)
	d.Wake(desk.Event{Kind: desk.StoreChanged, Thread: fork})
	return fork, nil
}

// Patch adds a step with the changed keys.
func (d *Desk) Patch(ctx context.Context, c desk.Change) (*desk.Result, error) {
	d.enter("Patch")
	defer d.mu.Unlock()
	t := d.threads[c.Thread]
	if have := fmt.Sprintf("%d.%d", t.detail.Step, t.detail.Revision); c.Version != "" && c.Version != have {
		return nil, fmt.Errorf("thread %s is at %s, not at %s", c.Thread, have, c.Version)
	}
	state := maps.Clone(t.states[len(t.states)-1])
	maps.Copy(state, c.Updates)
	t.states = append(t.states, state)
	t.steps = append(t.steps, desk.Step{Step: int64(len(t.steps)), Revision: 1, Source: "edit", TS: d.Now(), Status: t.detail.Status})
	t.detail.Step++
	d.notify(desk.Event{Kind: desk.StoreChanged, Thread: c.Thread})
	return &desk.Result{Thread: c.Thread, Step: t.detail.Step, Revision: 1, Status: t.detail.Status}, nil
}

// Prune counts every step but the heads of what b selects, and deletes them. With nothing but an end it counts ended
// threads whole, and keeps them.
func (d *Desk) Prune(ctx context.Context, b desk.Bounds, dryRun bool, progress func(done, total int64)) (*desk.Pruned, error) {
	d.enter("Prune")
	defer d.mu.Unlock()
	if b.OlderThan.IsZero() && b.BeforeStep == 0 && b.FinishedBefore.IsZero() {
		return nil, fmt.Errorf("prune: a bound is missing; give an age or a step")
	}
	out := &desk.Pruned{DryRun: dryRun}
	for _, id := range d.order {
		t := d.threads[id]
		if !b.All && !slices.Contains(b.Threads, id) ||
			len(b.Workflow) > 0 && !slices.Contains(b.Workflow, t.detail.Workflow) ||
			len(b.Status) > 0 && !slices.Contains(b.Status, t.detail.Status) {
			continue
		}
		if !b.FinishedBefore.IsZero() && b.OlderThan.IsZero() && b.BeforeStep == 0 {
			if !slices.Contains(desk.Finished.Statuses(), t.detail.Status) {
				continue
			}
			n := int64(max(1, len(t.steps)))
			out.Steps, out.Threads, out.Deleted, out.Bytes = out.Steps+n, out.Threads+1, out.Deleted+1, out.Bytes+n*1000
			out.Per = append(out.Per, desk.PrunedThread{Thread: id, Workflow: t.detail.Workflow, Steps: n, Bytes: n * 1000, Whole: true})
			continue
		}
		n := int64(max(0, len(t.steps)-1))
		if n == 0 {
			continue
		}
		out.Steps, out.Threads, out.Heads, out.Bytes = out.Steps+n, out.Threads+1, out.Heads+1, out.Bytes+n*1000
		out.Per = append(out.Per, desk.PrunedThread{Thread: id, Workflow: t.detail.Workflow, Steps: n, Bytes: n * 1000})
		if !dryRun {
			t.steps, t.states = t.steps[n:], t.states[n:]
		}
	}
	if progress != nil {
		progress(out.Steps, out.Steps)
	}
	return out, nil
}

// Delete deletes threads whole.
func (d *Desk) Delete(ctx context.Context, ids ...string) error {
	d.enter("Delete")
	defer d.mu.Unlock()
	for _, id := range ids {
		delete(d.threads, id)
		d.order = slices.DeleteFunc(d.order, func(x string) bool { return x == id })
	}
	d.notify(desk.Event{Kind: desk.StoreChanged})
	return nil
}

// Decisions lists newest first.
func (d *Desk) Decisions(ctx context.Context, id string, limit int) ([]desk.DecisionRow, error) {
	d.enter("Decisions")
	defer d.mu.Unlock()
	var out []desk.DecisionRow
	for _, r := range slices.Backward(d.decisions) {
		if (id == "" || r.Thread == id) && len(out) < limit {
			out = append(out, r)
		}
	}
	return out, nil
}
