//go:build unix

package file

import (
	"io/fs"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

func TestModes(t *testing.T) {
	for _, mask := range []int{0, 0o077, 0o277} {
		func() {
			defer syscall.Umask(syscall.Umask(mask))
			folder := filepath.Join(t.TempDir(), "above", "store")
			s := openUnsynced(t, folder, Options{})
			chainOf(t, s, "t", 2)
			if err := s.AddResult(t.Context(), "t", "t", checkpoint.PendingResult{Step: 2}); err != nil {
				t.Fatal(err)
			}
			if err := s.PutDefinition(t.Context(), checkpoint.Definition{Fingerprint: "f", Files: []checkpoint.File{{Path: "a"}}}); err != nil {
				t.Fatal(err)
			}
			err := filepath.WalkDir(filepath.Dir(folder), func(path string, e fs.DirEntry, err error) error {
				if err != nil {
					return err
				}
				info, err := e.Info()
				want := fs.FileMode(0o600)
				if e.IsDir() {
					want = 0o700
				}
				if filepath.Base(filepath.Dir(path)) != "locks" && info.Mode().Perm() != want {
					t.Errorf("umask %#o: %s has mode %#o", mask, path, info.Mode().Perm())
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			if w := s.Warnings(); len(w) != 0 {
				t.Errorf("warnings: %q", w)
			}
		}()
	}
}
