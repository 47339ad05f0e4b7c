//go:build linux

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestPartsAtTheDesk gives each of two calls of one payload its own verdict, page by page: the first is looked at again before
// the last one sends both.
func TestPartsAtTheDesk(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("python3"); err != nil && os.Getenv("CI") != "true" {
		t.Skip("python3 is missing")
	}
	w := deskWorld(t, 0)
	w.file("agent.py", askingAgent)
	w.must(0, "run", w.file("asking.yaml", askingWorkflow), "--thread", "thread-0", "-q")
	x := w.desk(100, 40)
	x.Await("2 tool calls: transfer, mail", patience)
	press(t, x, ".", "no verdict yet: 2 of 2 are open")
	x.Await("amount: 12", patience)
	press(t, x, "a", "part 1: approve; 1 part is open")
	x.Await("the last verdict: it sends all", patience)
	x.Await(`to: "ana"`, patience)
	press(t, x, ",", "verdict: approve")
	if info := w.thread("thread-0"); info.Decisions != 0 {
		t.Errorf("a verdict was sent before the last: %+v", info)
	}
	press(t, x, ".", "the last verdict: it sends all")
	press(t, x, "r", "REJECT")
	x.Type("not yet")
	press(t, x, "C-s", "sends in")
	x.Await("Which colour?", patience)
	want := `{"calls": {"decisions": [{"type": "approve"}, {"message": "not yet", "type": "reject"}]}}`
	if got := w.content("heard.json"); got != want {
		t.Errorf("heard %s\nwant  %s", got, want)
	}
	leave(x)
	clean(t, x, 0)
}

// TestMarkedAreRejectedWithOneReason marks threads, rejects all with one reason, takes that back, and does it again with more
// said: what was typed is there, and each thread's record has it.
func TestMarkedAreRejectedWithOneReason(t *testing.T) {
	t.Parallel()
	w := deskWorld(t, 3)
	x := w.desk(100, 30)
	x.Await("One line", patience)
	x.Keys("Space", "Space", "Space")
	press(t, x, "A", "3 marked threads ask 3 questions")
	press(t, x, "r", "REJECT 3 questions")
	x.Type("over budget")
	press(t, x, "C-s", "reject 3?")
	press(t, x, "y", "sends in")
	press(t, x, "u", "taken back: reject")
	press(t, x, "A", "3 marked threads ask 3 questions")
	press(t, x, "r", "over budget")
	x.Type(", sorry")
	press(t, x, "C-s", "reject 3?")
	press(t, x, "y", "sends in")
	for i := range 3 {
		thread := fmt.Sprintf("thread-%d", i)
		w.awaitDone(thread, "rejected")
		if rows := w.decisions(thread); len(rows) != 1 || rows[0].Comment == nil || *rows[0].Comment != "over budget, sorry" {
			t.Errorf("the record of %s is %+v", thread, rows)
		}
		if info := w.thread(thread); info.Claim != nil {
			t.Errorf("%s is still claimed: %+v", thread, info.Claim)
		}
	}
	leave(x)
	clean(t, x, 0)
	w.sound()
}

// TestClaimEndsWithItsPane: a pane claims its thread while it is open, and gives it up when nothing was typed.
func TestClaimEndsWithItsPane(t *testing.T) {
	t.Parallel()
	w := deskWorld(t, 1)
	x := w.desk(100, 30)
	x.Await("One line", patience)
	press(t, x, "r", "REJECT")
	w.await("the claim", func() bool { c := w.thread("thread-0").Claim; return c != nil && c.Reviewer == "tester" })
	x.Keys("Escape")
	w.await("its end", func() bool { return w.thread("thread-0").Claim == nil })
	press(t, x, "r", "REJECT")
	x.Type("no")
	press(t, x, "C-s", "sends in")
	w.awaitDone("thread-0", "rejected")
	w.await("its end", func() bool { return w.thread("thread-0").Claim == nil })
	leave(x)
	clean(t, x, 0)
}

// TestDeskInASCII: where the locale is not UTF-8 nothing else than ASCII gets to the terminal.
func TestDeskInASCII(t *testing.T) {
	t.Parallel()
	w := deskWorld(t, 1)
	w.env = append(w.env, "LANG=C", "LC_ALL=C")
	x := w.desk(100, 30)
	x.Await("One line", patience)
	for _, step := range [][2]string{{"H", "step node"}, {"Escape", "a approve>"}, {"e", "EDIT"}, {"Escape", "a approve>"}, {"?", "type to narrow"}} {
		press(t, x, step[0], step[1])
		screen := x.Screen()
		if i := strings.IndexFunc(screen, func(r rune) bool { return r >= utf8.RuneSelf }); i >= 0 {
			t.Errorf("after %s: %q is drawn:\n%s", step[0], screen[i:min(i+8, len(screen))], screen)
		}
	}
	x.Keys("Escape")
	x.Await("One line", patience)
	leave(x)
	clean(t, x, 0)
}
