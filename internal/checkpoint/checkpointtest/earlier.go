package checkpointtest

import (
	"bytes"
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/threadfile"
)

// What earlier versions wrote is kept as they wrote it: each backend has in its testdata a store that RunEarlier opens, and
// beside this file are exports of the threads in it, one of each thread for all backends. Both were made by FillEarlier
// with the version that they are of, and are never made anew; testdata/earlier/README.md tells how another is added.
//
//go:embed testdata/earlier/*.json
var earlier embed.FS

// EachEarlier runs a test for each store of an earlier version among the files or folders of a pattern.
func EachEarlier(t *testing.T, pattern string, test func(t *testing.T, name string)) {
	names, err := filepath.Glob("testdata/earlier/" + pattern)
	if err != nil || len(names) == 0 {
		t.Fatalf("%d stores of earlier versions: %v", len(names), err)
	}
	for _, name := range names {
		t.Run(filepath.Base(name), func(t *testing.T) { test(t, name) })
	}
}

// earlierThreads are the threads of a store of an earlier version, all at rest.
func earlierThreads() []string { return []string{"rich", "pruned", "puts", "ended"} }

// FillEarlier makes the threads of such a store. Its clock must be NewClock's.
func FillEarlier(t *testing.T, s checkpoint.Store, clock *Clock) {
	t.Helper()
	f := &fixture{T: t, ctx: t.Context(), clock: clock, store: s}
	d := earlierDefinition()
	f.noErr(s.PutDefinition(f.ctx, d))
	f.rich("rich")
	f.grown("pruned", 30)
	_, err := s.Prune(f.ctx, checkpoint.PruneQuery{Threads: []string{"pruned"}, BeforeStep: 25})
	f.noErr(err)
	for _, step := range []int64{3, 4, 9, 9} {
		c := full(clock.Now())
		c.Thread, c.Step = "puts", step
		f.put(c)
	}
	f.start("ended", func(c *checkpoint.Commit) {
		c.Checkpoint.Ended, c.Checkpoint.Next, c.Summary, c.Checkpoint.Fingerprint = checkpoint.Done, nil, checkpoint.Summary{Phase: checkpoint.Done}, d.Fingerprint
		c.Checkpoint.Outputs = raw(`{ "a": "<é>" }`)
	})
	f.grown("deleted", 2)
	clock.Advance(time.Minute)
	f.noErr(s.DeleteThread(f.ctx, "deleted"))
}

func earlierDefinition() checkpoint.Definition {
	d := checkpoint.Definition{Workflow: "notes", Source: "/srv/notes.yaml", Files: []checkpoint.File{{Path: "notes.yaml", Text: "workflow: notes\n# <é>\n"}}}
	d.Fingerprint = checkpoint.Fingerprint(d.Files)
	return d
}

// WriteEarlier writes the exports of such a store into a folder.
func WriteEarlier(t *testing.T, s checkpoint.Store, folder string) {
	t.Helper()
	f := &fixture{T: t, ctx: t.Context(), store: s}
	for _, thread := range earlierThreads() {
		if err := os.WriteFile(filepath.Join(folder, thread+".json"), f.file(thread), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// EarlierExports are the exports that the earliest version wrote, by thread.
func EarlierExports(t *testing.T) map[string][]byte {
	t.Helper()
	files := make(map[string][]byte)
	for _, thread := range earlierThreads() {
		b, err := earlier.ReadFile("testdata/earlier/" + thread + ".json")
		if err != nil {
			t.Fatal(err)
		}
		files[thread] = b
	}
	return files
}

// RunEarlier checks a store that an earlier version filled by FillEarlier and this one has opened at the time now: every
// thread is as it was exported then, to the byte, and can be written on.
func RunEarlier(t *testing.T, s checkpoint.Store) {
	t.Helper()
	f := &fixture{T: t, ctx: t.Context(), clock: NewClock(), store: s}
	for thread, want := range EarlierExports(t) {
		if got := f.file(thread); !bytes.Equal(got, want) {
			t.Errorf("thread %s is another; line %s", thread, firstDifference(got, want))
		}
		f.noErr(f.chain(thread))
		f.all(thread) // the ways of reading agree
	}
	d := earlierDefinition()
	got, err := s.Definition(f.ctx, d.Fingerprint)
	f.noErr(err)
	f.equal(got, &d)
	stones := f.tombstones()
	f.equal(len(stones), 1)
	f.equal([]any{stones[0].Thread, stones[0].Decisions}, []any{"deleted", int64(1)})
	f.equal(f.list(checkpoint.Query{Status: []checkpoint.Status{checkpoint.Stalled}}), []string{"rich"})
	f.equal(f.list(checkpoint.Query{Status: []checkpoint.Status{checkpoint.Done}}), []string{"ended"})
	f.writeOn()
}

// writeOn goes on where the earlier version stopped.
func (f *fixture) writeOn() {
	f.Helper()
	before := f.latest("rich").Channels["log"]
	r := f.request("rich")
	r.TTL = time.Hour
	lease := f.acquire(r)
	f.equal([]int{len(lease.Answers), len(lease.Results)}, []int{2, 2})
	c := f.first("rich")
	c.Lease, c.Checkpoint.Step = lease.Token, r.Head.Step
	for i := range 30 {
		c = f.next(c, checkpoint.Op{Kind: checkpoint.OpAppend, Channel: "log", Value: raw("[0]")})
		c.ID = fmt.Sprint("later-", i)
		c.Decisions = []checkpoint.Decision{{ID: fmt.Sprint("later-", i), ResponseID: fmt.Sprint("later-", i)}}
		f.commit(c)
	}
	f.equal(string(f.latest("rich").Channels["log"]), strings.TrimSuffix(string(before), "]")+strings.Repeat(",0", 30)+"]")
	f.noErr(f.chain("rich"))
	_, err := f.store.Prune(f.ctx, checkpoint.PruneQuery{Threads: []string{"rich"}, BeforeStep: 60})
	f.noErr(err)
	f.start("new")
	f.noErr(f.store.DeleteThread(f.ctx, "ended"))
	f.equal(len(f.tombstones()), 2)
	_, err = f.store.Commit(f.ctx, f.first("deleted"))
	f.wantIs(err, checkpoint.ErrConflict)
}

// file is a thread as it is exported.
func (f *fixture) file(thread string) []byte {
	f.Helper()
	var b bytes.Buffer
	f.noErr(threadfile.Write(f.ctx, &b, f.exported(thread), f.store, nil, nil))
	return b.Bytes()
}

func firstDifference(got, want []byte) string {
	a, b := strings.Split(string(got), "\n"), strings.Split(string(want), "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("%d is\n%s\nwant\n%s", i+1, a[i], b[i])
		}
	}
	return fmt.Sprintf("%d: one of them ends", min(len(a), len(b)))
}
