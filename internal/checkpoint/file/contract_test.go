package file

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/checkpointtest"
)

// unsynced is the file system of this machine without waiting for the disk, which is no part of the contract that
// processes see, and makes up nearly all of the suite's time.
type unsynced struct{ osDisk }

func (unsynced) Write(name string, data []byte) error {
	f, err := create(name, os.O_TRUNC)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

func (d unsynced) Append(name string, offset int64, data []byte, _ bool) error {
	return d.osDisk.Append(name, offset, data, false)
}

func (unsynced) Sync(string) error { return nil }

func TestContract(t *testing.T) {
	checkpointtest.Run(t, fresh)
}

func fresh(t *testing.T, now func() time.Time) checkpoint.Store {
	return openUnsynced(t, filepath.Join(t.TempDir(), "store"), Options{Now: now})
}

func TestTampered(t *testing.T) { checkpointtest.RunTampered(t, fresh, rewrite) }

// rewrite mends all checksums, too.
func rewrite(t *testing.T, s checkpoint.Store, thread string, rows []*checkpoint.Decision) {
	store := s.(*Store)
	h, err := store.readHead(thread)
	if err != nil {
		t.Fatal(err)
	}
	var lines []byte
	for _, d := range rows {
		l, err := encodeDecision(d)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, l...)
	}
	h.rows = int64(len(lines))
	head, err := h.encode()
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string][]byte{store.decisionsFile(thread): lines, store.headFile(escape(thread)): head} {
		if err := os.WriteFile(name, b, privateFile); err != nil {
			t.Fatal(err)
		}
	}
}

func TestDamaged(t *testing.T) {
	checkpointtest.RunDamaged(t, fresh, checkpointtest.Damage{
		Rows: rewrite,
		RemoveRow: func(t *testing.T, s checkpoint.Store, thread string) {
			remove(t, s.(*Store).headFile(escape(thread)))
		},
		Lost: "head.json): the file is missing, though 3 steps are there",
		Row: func(t *testing.T, s checkpoint.Store, thread string, change func(*checkpoint.ThreadInfo)) {
			err := s.(*Store).write(t.Context(), thread, func(w *session) error {
				h := w.next()
				change(&h.info)
				h.chain = checkpoint.Chain{Count: h.info.Decisions, Last: h.info.DecisionHash}
				return w.save(h, loud)
			})
			if err != nil {
				t.Fatal(err)
			}
		},
		RemoveStep: func(t *testing.T, s checkpoint.Store, thread string, n int64) {
			remove(t, s.(*Store).stepFile(thread, n))
		},
		Record: func(t *testing.T, s checkpoint.Store, thread string, n int64, old, new string) {
			file := s.(*Store).stepFile(thread, n)
			b, err := os.ReadFile(file)
			if err == nil {
				err = os.WriteFile(file, []byte(strings.Replace(string(b), old, new, 1)), privateFile)
			}
			if err != nil || !strings.Contains(string(b), old) {
				t.Fatalf("%s: %v", b, err)
			}
		},
		Stone: func(t *testing.T, s checkpoint.Store, thread string, b *checkpoint.Tombstone) {
			store := s.(*Store)
			if b == nil {
				remove(t, store.tombstone(thread))
				return
			}
			if err := (&session{s: store, thread: thread}).writeTombstone(b); err != nil {
				t.Fatal(err)
			}
		},
	})
}

func remove(t *testing.T, file string) {
	t.Helper()
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
}

func openUnsynced(t testing.TB, folder string, o Options) *Store {
	t.Helper()
	s, err := openOn(t.Context(), unsynced{osDisk{readOnly: o.ReadOnly}}, folder, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}
