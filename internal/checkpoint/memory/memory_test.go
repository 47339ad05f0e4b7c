package memory_test

import (
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/checkpointtest"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/memory"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestContract(t *testing.T) {
	checkpointtest.Run(t, fresh)
}

func fresh(t *testing.T, now func() time.Time) checkpoint.Store {
	s := memory.New(memory.Options{Now: now})
	t.Cleanup(func() { s.Close() })
	return s
}

func TestTampered(t *testing.T) { checkpointtest.RunTampered(t, fresh, rewrite) }

// TestDamaged leaves out what no memory can suffer: a thread without its row, and the bytes of a record.
func TestDamaged(t *testing.T) {
	checkpointtest.RunDamaged(t, fresh, checkpointtest.Damage{
		Rows: rewrite,
		Row: func(_ *testing.T, s checkpoint.Store, thread string, change func(*checkpoint.ThreadInfo)) {
			s.(*memory.Store).ChangeRow(thread, change)
		},
		RemoveStep: func(_ *testing.T, s checkpoint.Store, thread string, step int64) {
			s.(*memory.Store).RemoveStep(thread, step)
		},
		Stone: func(_ *testing.T, s checkpoint.Store, thread string, b *checkpoint.Tombstone) {
			s.(*memory.Store).ChangeStone(thread, b)
		},
	})
}

func rewrite(_ *testing.T, s checkpoint.Store, thread string, rows []*checkpoint.Decision) {
	s.(*memory.Store).Rewrite(thread, rows)
}
