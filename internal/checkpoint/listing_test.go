package checkpoint_test

import (
	"testing"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// FuzzCursor feeds cursors of strangers, and reads back our own.
func FuzzCursor(f *testing.F) {
	f.Add("", "", "t", int64(5))
	f.Add("ZHVlKw", "notes", "0192", int64(-5))
	f.Fuzz(func(t *testing.T, stranger, workflow, thread string, at int64) {
		when := time.UnixMicro(at % (1 << 50))
		info := checkpoint.ThreadInfo{Thread: thread, Workflow: workflow, Seq: at, Summary: checkpoint.Summary{Due: &when}}
		for _, sort := range []checkpoint.Sort{"", checkpoint.SortWaiting, checkpoint.SortUpdated, checkpoint.SortName} {
			q := checkpoint.Query{Sort: sort, After: stranger}
			q.Start()
			q.After = q.CursorOf(&info)
			key, err := q.Start()
			if thread == "" {
				continue
			}
			if err != nil || *key != checkpoint.KeyOf(&info, q.Order()) {
				t.Errorf("%s: %+v (%v)", sort, key, err)
			}
		}
	})
}
