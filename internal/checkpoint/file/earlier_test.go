package file

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint/checkpointtest"
)

var writeEarlier = flag.String("write-earlier", "", "write a store for TestEarlierSchemas to this new folder")

// TestEarlierSchemas opens the stores that earlier versions wrote, and writes on.
func TestEarlierSchemas(t *testing.T) {
	checkpointtest.EachEarlier(t, "format-*", func(t *testing.T, folder string) {
		store := filepath.Join(t.TempDir(), "store")
		if err := os.CopyFS(store, os.DirFS(folder)); err != nil {
			t.Fatal(err)
		}
		for _, empty := range []string{"definitions", "locks", "tombstones", "threads"} { // a copy of the source has none
			if err := os.MkdirAll(filepath.Join(store, empty), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		clock := checkpointtest.NewClock()
		checkpointtest.RunEarlier(t, openUnsynced(t, store, Options{Now: clock.Now}))
	})
}

// TestWriteEarlier makes such a store of the present format, where it is asked to.
func TestWriteEarlier(t *testing.T) {
	if *writeEarlier == "" {
		t.Skip("no -write-earlier")
	}
	clock := checkpointtest.NewClock()
	checkpointtest.FillEarlier(t, openUnsynced(t, *writeEarlier, Options{Now: clock.Now}), clock)
}
