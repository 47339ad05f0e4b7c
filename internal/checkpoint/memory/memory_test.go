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
	checkpointtest.Run(t, func(t *testing.T, now func() time.Time) checkpoint.Store {
		s := memory.New(memory.Options{Now: now})
		t.Cleanup(func() { s.Close() })
		return s
	})
}
