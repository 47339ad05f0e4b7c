package file

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/checkpointtest"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/verbatim"
)

// settledStore is a folder with two threads of all kinds of files, a deleted one and a definition.
func settledStore(t *testing.T) (folder string) {
	t.Helper()
	s, folder := newStore(t)
	for _, thread := range []string{"good", "bad"} {
		chainOf(t, s, thread, 3)
		for _, path := range []string{"p", "q"} {
			if err := s.AddResult(t.Context(), thread, thread, checkpoint.PendingResult{Step: 3, Path: path, Data: []byte("1")}); err != nil {
				t.Fatal(err)
			}
		}
	}
	put(t, s, "dead")
	if err := s.DeleteThread(t.Context(), "dead"); err != nil {
		t.Fatal(err)
	}
	if err := s.PutDefinition(t.Context(), checkpointtest.Definition("a: 1\n")); err != nil {
		t.Fatal(err)
	}
	return folder
}

// damages are ways to hurt a file; each gives what is left of b.
var damages = map[string]func(b []byte, at int) []byte{
	"flipped": func(b []byte, at int) []byte { b[at%len(b)] ^= 0x04; return b },
	"cut":     func(b []byte, at int) []byte { return b[:at%len(b)] },
	"grown":   func(b []byte, _ int) []byte { return append(b, '\n') },
	"missing": nil,
}

// TestHurtFiles damages each kind of file at many places and asks for all that the store holds: what needs the file is an
// ErrCorrupt that names it, and the thread and the step; all else can be read.
func TestHurtFiles(t *testing.T) {
	definition := "definitions/" + checkpointtest.Definition("a: 1\n").Fingerprint + "/"
	for name, c := range map[string]struct {
		file  string
		step  int64
		reads func(t *testing.T, s *Store) error
		spare []string // damages that do no harm here
	}{
		"head":     {"threads/bad/head.json", 0, readThread, nil},
		"keyframe": {"threads/bad/steps/00000000.json", 0, readSteps, nil},
		"step":     {"threads/bad/steps/00000001.json", 1, readSteps, nil},
		"last":     {"threads/bad/steps/00000002.json", 2, readSteps, nil},
		// A line beyond those that count is none.
		"decisions": {"threads/bad/decisions.jsonl", 2, readDecisions, []string{"grown"}},
		"result":    {"", 3, readResults, []string{"missing"}},
		"tombstone": {"tombstones/dead.json", 0, readTombstones, []string{"missing"}},
		"page":      {definition + "definition.json", 0, readDefinition, []string{"missing"}},
		"text":      {definition + "1.yaml", 0, readDefinition, nil},
	} {
		for damage, hurt := range damages {
			if strings.Contains(strings.Join(c.spare, " "), damage) {
				continue
			}
			t.Run(name+"/"+damage, func(t *testing.T) {
				folder := settledStore(t)
				file := c.file
				if file == "" {
					file = firstIn(t, folder, "threads/bad/results")
				}
				path := filepath.Join(folder, file)
				whole, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				for at := 0; at < len(whole); at += 1 + len(whole)/40 {
					if err := os.Remove(path); err != nil && at == 0 {
						t.Fatal(err)
					}
					if hurt != nil {
						if err := os.WriteFile(path, hurt(bytes.Clone(whole), at), 0o600); err != nil {
							t.Fatal(err)
						}
					}
					s := openUnsynced(t, folder, Options{})
					err := c.reads(t, s)
					if !errors.Is(err, checkpoint.ErrCorrupt) || !strings.Contains(err.Error(), file) {
						t.Fatalf("at byte %d: error %v, want one that names %s", at, err, file)
					}
					var corrupt *checkpoint.CorruptError
					if strings.HasPrefix(file, "threads/") && (!errors.As(err, &corrupt) || corrupt.Thread != "bad" || corrupt.Step != c.step) {
						t.Fatalf("at byte %d: %v does not name the thread and step %d", at, err, c.step)
					}
					others(t, s, file)
					s.Close()
				}
			})
		}
	}
}

func firstIn(t *testing.T, folder, below string) string {
	t.Helper()
	list, err := os.ReadDir(filepath.Join(folder, below))
	if err != nil || len(list) == 0 {
		t.Fatalf("%s is empty (%v)", below, err)
	}
	return below + "/" + list[0].Name()
}

func readThread(t *testing.T, s *Store) error {
	_, err := s.Thread(t.Context(), "bad")
	return err
}

func readSteps(t *testing.T, s *Store) error {
	for _, err := range s.History(t.Context(), "bad", true) {
		if err != nil {
			return err
		}
	}
	return nil
}

func readDecisions(t *testing.T, s *Store) error {
	for _, err := range s.Decisions(t.Context(), "bad") {
		if err != nil {
			return err
		}
	}
	return nil
}

func readResults(t *testing.T, s *Store) error {
	h, err := s.readHead("bad")
	if err != nil {
		return err
	}
	_, err = s.pending(h)
	return err
}

func readTombstones(t *testing.T, s *Store) error {
	_, err := s.Tombstones(t.Context())
	return err
}

func readDefinition(t *testing.T, s *Store) error {
	_, err := s.Definition(t.Context(), checkpointtest.Definition("a: 1\n").Fingerprint)
	return err
}

// others demands that all can be read that does not need a file.
func others(t *testing.T, s *Store, file string) {
	t.Helper()
	page, err := s.Threads(t.Context(), checkpoint.Query{Sort: checkpoint.SortName})
	if err != nil || len(page.Threads) != 2 {
		t.Fatalf("the list: %v (%v)", page.Threads, err)
	}
	if hurt := page.Threads[0]; strings.HasSuffix(file, "head.json") && (hurt.Status != checkpoint.Failed || !strings.Contains(hurt.Error, file)) {
		t.Errorf("the list tells of the thread that is hurt: %s %q", hurt.Status, hurt.Error)
	}
	if _, err := s.Stats(t.Context()); err != nil {
		t.Errorf("stats: %v", err)
	}
	n := 0
	for _, err := range s.History(t.Context(), "good", true) {
		if n++; err != nil {
			t.Errorf("history of the other thread: %v", err)
		}
	}
	if head, err := s.Latest(t.Context(), "good"); err != nil || head.Step != 2 || n != 3 {
		t.Errorf("the other thread: %v (%v), %d steps", head, err, n)
	}
	if !strings.HasPrefix(file, "definitions/") {
		if err := readDefinition(t, s); err != nil {
			t.Errorf("the definition: %v", err)
		}
	}
}

// TestHurtStepHurtsNoOther reads a history of which one step is hurt: those that do not build on it come back.
func TestHurtStepHurtsNoOther(t *testing.T) {
	s, folder := newStore(t)
	chainOf(t, s, "t", 45) // with keyframes at 0 and 21 and 42
	file := filepath.Join(folder, "threads/t/steps/00000023.json")
	if err := os.WriteFile(file, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	for withState, want := range map[bool]int{false: 1, true: 42 - 23} {
		bad := 0
		for c, err := range s.History(t.Context(), "t", withState) {
			if err != nil {
				if !errors.Is(err, checkpoint.ErrCorrupt) || !strings.Contains(err.Error(), "00000023") {
					t.Fatalf("error %v", err)
				}
				bad++
			} else if withState && c.Step >= 42 && len(c.Channels["log"]) == 0 {
				t.Errorf("step %d has no state", c.Step)
			}
		}
		if bad != want {
			t.Errorf("with states %t: %d steps are hurt, want %d", withState, bad, want)
		}
	}
}

// TestHurtThreadHindersNoPrune prunes all threads of which one cannot be.
func TestHurtThreadHindersNoPrune(t *testing.T) {
	folder := settledStore(t)
	if err := os.WriteFile(filepath.Join(folder, "threads/bad/steps/00000001.json"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	later := func() time.Time { return time.Now().Add(2 * time.Hour) } // the leases are out
	s := openUnsynced(t, folder, Options{Now: later})
	result, err := s.Prune(t.Context(), checkpoint.PruneQuery{All: true, BeforeStep: 2})
	if !errors.Is(err, checkpoint.ErrCorrupt) || result == nil || result.Threads != 1 || result.Steps != 2 {
		t.Errorf("%+v (%v), want one thread pruned and an error for the other", result, err)
	}
}

// TestTamperedDecisions changes, removes and reorders rows and makes their checksums right again: the chain tells.
func TestTamperedDecisions(t *testing.T) {
	for name, c := range map[string]struct {
		change func(lines [][]byte) [][]byte
		names  string
	}{
		"changed": {func(l [][]byte) [][]byte {
			l[1] = reseal(bytes.Replace(l[1], []byte(`"badb"`), []byte(`"evil"`), 1))
			return l
		}, "evil"},
		"first removed": {func(l [][]byte) [][]byte { return l[1:] }, ""},
		"last removed":  {func(l [][]byte) [][]byte { return l[:2] }, ""},
		"reordered":     {func(l [][]byte) [][]byte { l[0], l[1] = l[1], l[0]; return l }, "row 1"},
	} {
		t.Run(name, func(t *testing.T) {
			folder := settledStore(t)
			file := filepath.Join(folder, "threads/bad/decisions.jsonl")
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			lines := c.change(bytes.SplitAfter(bytes.TrimSuffix(b, []byte("\n")), []byte("\n")))
			changed := bytes.Join(lines, nil)
			if !bytes.HasSuffix(changed, []byte("\n")) {
				changed = append(changed, '\n')
			}
			if err := os.WriteFile(file, changed, 0o600); err != nil {
				t.Fatal(err)
			}
			s := openUnsynced(t, folder, Options{})
			info, err := s.Thread(t.Context(), "bad")
			if err != nil {
				t.Fatal(err)
			}
			err = checkpoint.VerifyChain("bad", s.Decisions(t.Context(), "bad"), checkpoint.Chain{Count: info.Decisions, Last: info.DecisionHash})
			if !errors.Is(err, checkpoint.ErrCorrupt) || !strings.Contains(err.Error(), c.names) {
				t.Errorf("error %v, want one that names %q", err, c.names)
			}
		})
	}
}

// reseal gives a line the checksum of what it now says.
func reseal(l []byte) []byte {
	body, _, _ := bytes.Cut(l, []byte(`,"sum"`))
	return verbatim.Sealed(bytes.Clone(body), verbatim.LineSeal)
}

func TestLocked(t *testing.T) {
	s, _ := newStore(t)
	s.o.BusyTimeout = 10 * time.Millisecond
	put(t, s, "t")
	unlock, err := s.disk.Lock(s.stripe("t").file, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Claim(t.Context(), "t", "ann", time.Minute); !errors.Is(err, checkpoint.ErrLocked) || !strings.Contains(err.Error(), "locks") {
		t.Errorf("error %v, want ErrLocked with the file", err)
	}
	if _, err := s.Latest(t.Context(), "t"); err != nil {
		t.Errorf("a reader beside a writer: %v", err)
	}
	unlock()
	if err := s.Claim(t.Context(), "t", "ann", time.Minute); err != nil {
		t.Error(err)
	}
}

func TestClosed(t *testing.T) {
	s, _ := newStore(t)
	put(t, s, "t")
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
	_, errPut := s.Put(t.Context(), checkpoint.Checkpoint{Thread: "u"}, nil)
	_, errGet := s.Latest(t.Context(), "t")
	_, errWatch := s.Watch(t.Context())
	for what, err := range map[string]error{"put": errPut, "latest": errGet, "watch": errWatch} {
		if !errors.Is(err, checkpoint.ErrClosed) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
