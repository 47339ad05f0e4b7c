//go:build unix

package exposed_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint/exposed"
)

// TestWarnings warns where there is a risk, with a remedy that ends it.
func TestWarnings(t *testing.T) {
	for _, c := range []struct {
		folder, file fs.FileMode
		want         []string // words of the warnings, one each
	}{
		{0o700, 0o600, nil},
		{0o755, 0o600, nil},
		{0o700, 0o644, nil},
		{0o755, 0o644, []string{"chmod go= "}},
		{0o710, 0o640, []string{"chmod go= "}},
		{0o777, 0o600, []string{"chmod go-w "}},
		{0o777 | fs.ModeSticky, 0o600, nil},
		{0o775, 0o660, []string{"chmod go-w ", "chmod go= "}},
	} {
		folder := filepath.Join(t.TempDir(), "folder")
		file := filepath.Join(folder, "store.db")
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		for name, mode := range map[string]fs.FileMode{file: c.file, folder: c.folder} {
			if err := os.Chmod(name, mode); err != nil {
				t.Fatal(err)
			}
		}
		got := exposed.Warnings(folder, file, file+"-wal")
		if len(got) != len(c.want) {
			t.Errorf("%v in %v: %q, want %q", c.file, c.folder, got, c.want)
			continue
		}
		for i, want := range c.want {
			if !strings.Contains(got[i], "; "+want) {
				t.Errorf("%v in %v: %q, want one with %q", c.file, c.folder, got[i], want)
			}
		}
	}
}
