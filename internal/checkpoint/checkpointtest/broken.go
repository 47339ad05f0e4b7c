package checkpointtest

import (
	"slices"
	"strings"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// brokenBundle is a thread on its way into a store with a fault that the store must find.
type brokenBundle struct {
	name  string
	spoil func(*fixture, *checkpoint.Bundle)
	want  string
	is    error
}

func brokenBundles() []brokenBundle {
	corrupt := checkpoint.ErrCorrupt
	type ds = []*checkpoint.Decision
	return []brokenBundle{
		{"no thread", func(_ *fixture, b *checkpoint.Bundle) { b.Thread.Thread = "" }, "without a thread", nil},
		{"running", func(_ *fixture, b *checkpoint.Bundle) { b.Thread.Phase = checkpoint.Running }, "phase", nil},
		{"no times", func(_ *fixture, b *checkpoint.Bundle) { b.Thread.Created = time.Time{} }, "times", nil},
		{"another head", func(_ *fixture, b *checkpoint.Bundle) { b.Thread.Step++ }, "last step", corrupt},
		{"another revision", func(_ *fixture, b *checkpoint.Bundle) { b.Thread.Revision++ }, "last step", corrupt},
		{"no head", spoilSteps(func(c *checkpoint.Checkpoint) *checkpoint.Checkpoint {
			if c.Step > 40 {
				return nil
			}
			return c
		}), "last step", corrupt},
		{"a step of another thread", spoilSteps(spoilAt(7, func(c *checkpoint.Checkpoint) { c.Thread = "u" })), "step 7", corrupt},
		{"a step twice", spoilSteps(spoilAt(7, func(c *checkpoint.Checkpoint) { c.Step = 6 })), "step 6", corrupt},
		{"a step beyond the head", spoilSteps(spoilAt(7, func(c *checkpoint.Checkpoint) { c.Step = 999 })), "step 999", corrupt},
		{"a step without a revision", spoilSteps(spoilAt(7, func(c *checkpoint.Checkpoint) { c.Revision = 0 })), "step 7", corrupt},
		{"a decision changed", spoilRows(func(l ds) ds { l[1].Reviewer = "eve"; return l }), "row 2", corrupt},
		{"a decision removed", spoilRows(func(l ds) ds { return slices.Delete(l, 1, 2) }), "row 2", corrupt},
		{"the last decision removed", spoilRows(func(l ds) ds { return l[:len(l)-1] }), "missing", corrupt},
		{"decisions reordered", spoilRows(func(l ds) ds { l[0], l[1] = l[1], l[0]; return l }), "row 1", corrupt},
		{"a decision added", spoilRows(func(l ds) ds {
			chain := checkpoint.Chain{Count: int64(len(l)), Last: l[len(l)-1].Hash}
			d := &checkpoint.Decision{ID: "eve"}
			chain.Append("t", d)
			return append(l, d)
		}), "eve", corrupt},
		{"another end of the chain", func(_ *fixture, b *checkpoint.Bundle) { b.Thread.DecisionHash = strings.Repeat("0", 64) }, "last row", corrupt},
	}
}

// spoilSteps spoils a bundle by a change of its steps; nil leaves one out.
func spoilSteps(change func(*checkpoint.Checkpoint) *checkpoint.Checkpoint) func(*fixture, *checkpoint.Bundle) {
	return func(_ *fixture, b *checkpoint.Bundle) {
		old := b.Steps
		b.Steps = func(yield func(*checkpoint.Checkpoint, error) bool) {
			for c, err := range old {
				if c = change(c.Clone()); c != nil && !yield(c, err) {
					return
				}
			}
		}
	}
}

// spoilRows spoils a bundle by a change of its decisions.
func spoilRows(change func([]*checkpoint.Decision) []*checkpoint.Decision) func(*fixture, *checkpoint.Bundle) {
	return func(f *fixture, b *checkpoint.Bundle) {
		var list []*checkpoint.Decision
		for d, err := range b.Decisions {
			f.noErr(err)
			list = append(list, d.Clone())
		}
		b.Decisions = yields(change(list))
	}
}

// spoilAt changes one step.
func spoilAt(step int64, change func(*checkpoint.Checkpoint)) func(*checkpoint.Checkpoint) *checkpoint.Checkpoint {
	return func(c *checkpoint.Checkpoint) *checkpoint.Checkpoint {
		if c.Step == step {
			change(c)
		}
		return c
	}
}
