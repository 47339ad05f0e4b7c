package open_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint/open"
)

// TestBackupOfAnEarlierSchema opens one as it is and leaves it so.
func TestBackupOfAnEarlierSchema(t *testing.T) {
	packed, err := os.Open("../sqlite/testdata/earlier/schema-1.db.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	z, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	db, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	folder, temporary := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", temporary)
	file := filepath.Join(folder, "backup.db")
	if err := os.WriteFile(file, db, 0o400); err != nil {
		t.Fatal(err)
	}
	s, err := open.Backup(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	if c, err := s.Latest(t.Context(), "rich"); err != nil || len(c.Channels["log"]) == 0 {
		t.Errorf("%+v, %v", c, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if now, err := os.ReadFile(file); err != nil || !bytes.Equal(now, db) {
		t.Errorf("the backup was changed (%v)", err)
	}
	for _, dir := range []string{folder, temporary} {
		left, err := os.ReadDir(dir)
		if want := map[string]int{folder: 1}[dir]; err != nil || len(left) != want {
			t.Errorf("left in %s: %v (%v)", dir, left, err)
		}
	}
}
