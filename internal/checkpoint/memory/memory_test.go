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

func TestTampered(t *testing.T) {
	checkpointtest.RunTampered(t, fresh, func(_ *testing.T, s checkpoint.Store, thread string, rows []*checkpoint.Decision) {
		s.(*memory.Store).Rewrite(thread, rows)
	})
}
