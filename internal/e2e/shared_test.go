//go:build linux

package e2e

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hitl-tui/hitl-tui/internal/tuitest"
)

// TestDesksAndEnginesShareAStore has two desks over one store while processes beside them run threads on it: each desk sees what the
// others do, and of two people who approve the same thing in the same moment one is heard and the other told.
func TestDesksAndEnginesShareAStore(t *testing.T) { everyStore(t, desksAndEngines) }

func desksAndEngines(t *testing.T, w *world) {
	w.review(1)
	desks := []*tuitest.Tmux{w.desk(120, 30, "--reviewer", "ann"), w.desk(120, 30, "--reviewer", "bob")}
	for _, x := range desks {
		x.Await("One line", patience)
	}
	var engines []*process
	for i := 1; i < 4; i++ {
		engines = append(engines, w.start(nil, "run", filepath.Join(w.dir, "notes.yaml"), "-F", fmt.Sprintf("file=out-%d", i), "--thread", fmt.Sprintf("thread-%d", i), "-q"))
	}
	for _, p := range engines {
		if r := p.wait(); r.exit != 0 {
			t.Errorf("an engine beside desks: %s", r)
		}
	}
	for _, x := range desks {
		x.Await("Waiting 4", patience)
	}
	for _, x := range desks { // both have the thread that has waited longest selected
		press(t, x, "a", "sends in")
	}
	w.awaitDone("thread-0", "done")
	for _, x := range desks {
		x.AwaitFunc("one thread less", patience, func(s string) bool { return strings.Contains(s, "Waiting 3") && strings.Contains(s, "Finished 1") })
	}
	rows := w.decisions("thread-0")
	if len(rows) != 1 || w.content("out-0") != notes {
		t.Fatalf("the record is %+v, the file holds %q", rows, w.content("out-0"))
	}
	loser := desks[map[string]int{"ann": 1, "bob": 0}[*rows[0].Reviewer]]
	loser.Await(*rows[0].Reviewer+" approved this", patience)
	w.sound()
}
