package sqlite_test

import (
	"bytes"
	"compress/gzip"
	"flag"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint/checkpointtest"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/sqlite"
)

var writeEarlier = flag.String("write-earlier", "", "write a store for TestEarlierSchemas to this new file")

// TestEarlierSchemas opens the stores that earlier versions wrote, and writes on.
func TestEarlierSchemas(t *testing.T) {
	checkpointtest.EachEarlier(t, "*.db.gz", func(t *testing.T, file string) {
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		z, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		db, err := io.ReadAll(z)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "store.db")
		if err := os.WriteFile(path, db, 0o600); err != nil {
			t.Fatal(err)
		}
		clock := checkpointtest.NewClock()
		checkpointtest.RunEarlier(t, open(t, path, sqlite.Options{Now: clock.Now}))
	})
}

// TestWriteEarlier makes such a store of the present schema, where it is asked to.
func TestWriteEarlier(t *testing.T) {
	if *writeEarlier == "" {
		t.Skip("no -write-earlier")
	}
	clock := checkpointtest.NewClock()
	s := open(t, filepath.Join(t.TempDir(), "store.db"), sqlite.Options{Now: clock.Now})
	checkpointtest.FillEarlier(t, s, clock)
	copied := filepath.Join(t.TempDir(), "copy.db")
	if err := s.Backup(t.Context(), copied); err != nil {
		t.Fatal(err)
	}
	db, err := os.ReadFile(copied)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if _, err := z.Write(db); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(*writeEarlier, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	checkpointtest.WriteEarlier(t, s, filepath.Dir(*writeEarlier))
}
