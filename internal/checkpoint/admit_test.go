package checkpoint_test

import (
	"errors"
	"testing"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

func TestCommitsAreLetIn(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	head := checkpoint.Version{Step: 4, Revision: 1}
	lease := checkpoint.LeaseState{Token: "token", Until: now.Add(time.Second)}
	next := checkpoint.Commit{Checkpoint: checkpoint.Checkpoint{Thread: "t", Step: 5}, Parent: 4, Lease: "token"}
	first := checkpoint.Commit{Checkpoint: checkpoint.Checkpoint{Thread: "t"}, Parent: -1}
	behind, another := next, next
	behind.Parent, another.Lease = 3, "another"
	for name, c := range map[string]struct {
		err  error
		want bool
	}{
		"first":                  {first.AdmitNew(false), true},
		"first, deleted":         {first.AdmitNew(true), false},
		"first, there already":   {first.AdmitNext(head, &lease, now), false},
		"next":                   {next.AdmitNext(head, &lease, now), true},
		"next, absent":           {next.AdmitNew(false), false},
		"next, deleted":          {next.AdmitNew(true), false},
		"next, the lease is out": {next.AdmitNext(head, &lease, now.Add(time.Second)), false},
		"another head":           {behind.AdmitNext(head, &lease, now), false},
		"another lease":          {another.AdmitNext(head, &lease, now), false},
	} {
		if (c.err == nil) != c.want || !c.want && !errors.Is(c.err, checkpoint.ErrConflict) {
			t.Errorf("%s: %v", name, c.err)
		}
	}
}
