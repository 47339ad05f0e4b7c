//go:build unix

package file_test

import (
	"path/filepath"
	"testing"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint/checkpointtest/procs"
)

func TestMain(m *testing.M) { procs.Main(m) }

func TestProcesses(t *testing.T) {
	procs.Run(t, func(t testing.TB) string { return "file:" + filepath.Join(t.TempDir(), "deep", "store") })
}
