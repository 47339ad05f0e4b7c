package local_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/checkpointtest"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/open"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/threadfile"
)

// importVar names to another process of this test binary the store into which it begins to import, and dies.
const importVar = "HITL_TEST_DIES_IMPORTING_INTO"

// TestImportOfADyingProcess kills the process that imports, with the last step and with the last decision in its hands.
func TestImportOfADyingProcess(t *testing.T) {
	if url := os.Getenv(importVar); url != "" {
		dieImporting(t, url)
		return
	}
	for _, b := range backends() {
		if b.name == "memory" {
			continue // it dies with its process
		}
		for _, with := range []string{"step", "decision"} {
			t.Run(b.name+" with the last "+with, func(t *testing.T) {
				url := b.fresh(t)
				s, err := open.Open(t.Context(), url, open.Options{}) // makes the store
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				cmd := exec.Command(os.Args[0], "-test.run=^TestImportOfADyingProcess$")
				cmd.Env = append(os.Environ(), importVar+"="+with+" "+url)
				out, err := cmd.CombinedOutput()
				var exit *exec.ExitError
				if !errors.As(err, &exit) || exit.ExitCode() != -1 {
					t.Fatalf("it did not die: %v\n%s", err, out)
				}
				if _, err := s.Thread(t.Context(), "rich"); !errors.Is(err, checkpoint.ErrNotFound) {
					t.Errorf("thread: %v", err)
				}
				for _, err := range s.History(t.Context(), "rich", true) {
					if !errors.Is(err, checkpoint.ErrNotFound) {
						t.Errorf("history: %v", err)
					}
				}
				if page, err := s.Threads(t.Context(), checkpoint.Query{}); err != nil || len(page.Threads) > 0 {
					t.Errorf("listed: %+v, %v", page, err)
				}
				f := earlierFile(t)
				if err := s.Import(t.Context(), f.Bundle(), checkpoint.ImportOptions{}); err != nil {
					t.Fatalf("once more: %v", err)
				}
				var again bytes.Buffer
				bundle, err := s.Export(t.Context(), "rich")
				if err == nil {
					err = threadfile.Write(t.Context(), &again, bundle, s, nil, nil)
				}
				if err != nil || !bytes.Equal(again.Bytes(), checkpointtest.EarlierExports(t)["rich"]) {
					t.Errorf("it is another thread (%v)", err)
				}
			})
		}
	}
}

func earlierFile(t *testing.T) *threadfile.File {
	t.Helper()
	f, err := threadfile.Open(t.Context(), bytes.NewReader(checkpointtest.EarlierExports(t)["rich"]))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func dieImporting(t *testing.T, order string) {
	with, url, _ := strings.Cut(order, " ")
	die := func() {
		self, err := os.FindProcess(os.Getpid())
		if err == nil {
			err = self.Kill()
		}
		if err != nil {
			t.Fatal(err)
		}
		select {}
	}
	s, err := open.Open(t.Context(), url, open.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b := *earlierFile(t).Bundle()
	steps, decisions := b.Steps, b.Decisions
	b.Steps = func(yield func(*checkpoint.Checkpoint, error) bool) {
		for c, err := range steps {
			if with == "step" && c.Step == b.Thread.Step {
				die()
			}
			if !yield(c, err) {
				return
			}
		}
	}
	b.Decisions = func(yield func(*checkpoint.Decision, error) bool) {
		for d, err := range decisions {
			if with == "decision" && d.N == b.Thread.Decisions {
				die()
			}
			if !yield(d, err) {
				return
			}
		}
	}
	t.Fatal(s.Import(t.Context(), &b, checkpoint.ImportOptions{}))
}

// TestBackupIsWholeOrNotThere has a backup fail, and wants neither the file nor what it grew as.
func TestBackupIsWholeOrNotThere(t *testing.T) {
	p := placeOf(t, backends()[2])
	p.fill()
	folder := t.TempDir()
	file := filepath.Join(folder, "copy.db")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Backup(ctx, file, nil); err == nil {
		t.Error("a cancelled backup was made")
	}
	if _, err := p.Backup(t.Context(), filepath.Join(folder, "nowhere", "copy.db"), nil); err == nil {
		t.Error("a backup was made in no folder")
	}
	left, err := os.ReadDir(folder)
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v (%v)", left, err)
	}
	var told int
	if _, err := p.Backup(t.Context(), file, func(done, total int64) { told++ }); err != nil || told == 0 {
		t.Errorf("%v; told %d times", err, told)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}
