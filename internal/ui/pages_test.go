package ui

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/tuitest"
	"github.com/hitl-tui/hitl-tui/internal/ui/desktest"
)

func TestHistoryStateDiffForkAndEdit(t *testing.T) {
	flow(t, func(t *testing.T, d *desktest.Desk, p *tuitest.Program) {
		p.Keys("j", "H")
		p.Expect("release-notes 7f3k", "6 steps", "state at step 5", "feedback: name the people")
		p.Keys("k", "d")
		p.Expect("diff step 3 .. 4   1 key changed", "+ - Faster inbox (thanks Li)", "unchanged: commits, feedback")
		p.Keys("e")
		p.Expect("only the state at the last step can be edited")
		p.Keys("F")
		p.Expect("Fork from step 4?")
		p.Keys("n")
		if d.Calls("Fork") != 0 {
			t.Fatal("forked after n")
		}
		p.Keys("F", "y")
		p.Expect("forked from step 4")
		p.Keys("G", "e")
		p.Expect("EDIT THE STATE")
		p.Keys("esc", "esc", "esc")
		p.Expect("WAITING")
	})
}

// The workflow takes the place of the steps, its nodes are moved through, and the state is of the step in which each ran last.
func TestHistoryAsAGraph(t *testing.T) {
	flow(t, func(t *testing.T, d *desktest.Desk, p *tuitest.Program) {
		p.Keys("j", "H", "v")
		p.Expect("✓ done  ● waits", "> ● review ×2 ━━┛ waits here", "state at step 5")
		p.Keys("k")
		p.Expect("> ✓ draft ×2 ◂━━┓ retry (ana)", "state at step 4")
		p.Keys("g")
		p.Expect("> ✓ collect", "state at step 1")
		p.Keys("G")
		p.Expect("> · publish", "state at step 1") // it never ran
		p.Keys("k", "d")
		p.Expect("diff step 4 .. 5")
		p.Keys("v")
		p.Expect("step node", ">    5 review@2", "GRAPH")
	})
}

// Of a thread whose workflow cannot be told there is no graph, and v says why.
func TestHistoryWithoutAGraph(t *testing.T) {
	flow(t, func(t *testing.T, d *desktest.Desk, p *tuitest.Program) {
		d.AddGraph("t-notes-7f3k", nil)
		p.Keys("j", "H", "v")
		p.Expect("step node", "this store cannot tell the graph of a thread")
	})
}

func TestEditedStateNeedsAChange(t *testing.T) {
	flow(t, func(t *testing.T, d *desktest.Desk, p *tuitest.Program) {
		p.Keys("j", "H")
		p.Advance(settle)
		p.Keys("e", "ctrl+s")
		p.Expect("nothing is changed")
		if d.Calls("Patch") != 0 {
			t.Fatal("patched without a change")
		}
		p.Keys("ctrl+s", "down", "end")
		p.Type(" ")
		p.Paste("{")
		p.Keys("ctrl+s")
		p.Expect("not valid JSON at line")
	})
}

func TestChangedKeys(t *testing.T) {
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	before := map[string]json.RawMessage{"a": raw(`1`), "b": raw(`{"x": [1,2]}`), "c": raw(`"old"`)}
	got, err := changedKeys(before, raw(`{"a":1,"b":{"x":[1,2]},"c":"new","d":true}`))
	if err != nil || len(got) != 2 || string(got["c"]) != `"new"` || string(got["d"]) != "true" {
		t.Errorf("%s, %v", got, err)
	}
	got, err = changedKeys(before, raw(`{"edited":{"b":{"x":[1,2]},"c":"old"}}`))
	if err != nil || len(got) != 1 || string(got["a"]) != "null" {
		t.Errorf("a key taken out: %s, %v", got, err)
	}
	if _, err := changedKeys(before, raw(`[1]`)); err == nil || !strings.Contains(err.Error(), "JSON object") {
		t.Errorf("a list: %v", err)
	}
}

func TestPruneAsksForTheCount(t *testing.T) {
	flow(t, func(t *testing.T, d *desktest.Desk, p *tuitest.Program) {
		p.Keys("7")
		p.Advance(settle)
		p.Expect("RETENTION", "older than 30d", "nothing is within the bounds")
		p.Keys("b")
		p.Expect("BOUNDS", "older than")
		p.Keys("tab", "tab", "tab") // the status
		for range len("done,rejected,stopped,cancelled") {
			p.Keys("backspace")
		}
		p.Keys("ctrl+s")
		p.Advance(settle)
		p.Expect("status any", "5 steps of 1 thread")
		p.Keys("P")
		p.Expect("Prune 5 steps of 1 thread?", "Type 5 to confirm")
		p.Advance(settle)
		p.Type("4")
		p.Keys("enter")
		p.Expect("that is not 5")
		p.Keys("backspace")
		p.Type("5")
		p.Keys("enter")
		p.Advance(settle)
		p.Expect("pruned 5 steps")
		steps, _ := d.History(t.Context(), "t-notes-7f3k")
		if len(steps) != 1 {
			t.Errorf("%d steps left, want the head", len(steps))
		}
	})
}

func TestPruneOfEndedThreadsSaysThatTheyGoWhole(t *testing.T) {
	flow(t, func(t *testing.T, d *desktest.Desk, p *tuitest.Program) {
		p.Keys("7")
		p.Advance(settle)
		p.Expect("BY ITSELF", "nothing goes (config: off)")
		p.Keys("b")
		p.Keys("backspace", "backspace", "backspace") // 30d
		p.Keys("tab", "tab")
		p.Type("1d")
		p.Keys("ctrl+s")
		p.Advance(settle)
		p.Expect("finished before 1d", "1 threads whole")
		p.Keys("P")
		p.Expect("1 ended thread whole, with every step")
		p.Advance(settle)
		p.Type("1")
		p.Keys("enter")
		p.Advance(settle)
		p.Expect("pruned 1 steps, 1 thread whole")
	})
}

func TestDeleteAsksForTheCount(t *testing.T) {
	flow(t, func(t *testing.T, d *desktest.Desk, p *tuitest.Program) {
		p.Keys("4")
		p.Advance(settle)
		p.Expect("Spring issue", "out/spring.md")
		p.Keys("D")
		p.Expect("Delete 1 thread?")
		p.Keys("esc")
		if d.Calls("Delete") != 0 {
			t.Fatal("deleted after Esc")
		}
		p.Keys("D", "1", "enter")
		p.Advance(settle)
		if d.Calls("Delete") != 1 {
			t.Error("not deleted")
		}
	})
}

func TestNewThreadFillsItsInputAndWatchesIt(t *testing.T) {
	flow(t, func(t *testing.T, d *desktest.Desk, p *tuitest.Program) {
		p.Keys("+")
		p.Expect("no workflow is in the configured folders")
		d.AddWorkflow(desk.Workflow{Name: "article", File: "article.yaml", Description: "writes one",
			Input: json.RawMessage(`{"type":"object","required":["topic"],"properties":{"topic":{"type":"string","title":"topic"}}}`)})
		p.Keys("+")
		p.Expect("Start a workflow", "article: writes one")
		p.Keys("1")
		p.Expect("NEW THREAD", "Start article", "topic")
		p.Keys("ctrl+s")
		if d.Calls("Start") != 0 {
			t.Fatal("started without what is required")
		}
		p.Type("tea")
		p.Keys("ctrl+s")
		p.Advance(settle)
		p.Expect("article.yaml", "running")
		d.Wake(desk.Event{Kind: desk.Progress, Thread: "started-0001", Node: "draft", Run: "draft@1", Status: "RUNNING", At: d.Now()},
			desk.Event{Kind: desk.Progress, Thread: "started-0001", Node: "draft", Run: "draft@1", Text: "writing about tea\n", At: d.Now()})
		p.Advance(3 * time.Second)
		p.Expect(". draft", "writing about tea", "running 3.")
		d.Wake(desk.Event{Kind: desk.Rested, Thread: "started-0001", Status: "done", At: d.Now()},
			desk.Event{Kind: desk.Progress, Thread: "started-0001", Node: "draft", Status: "COMPLETED", At: d.Now().Add(-time.Second)})
		p.Advance(time.Second)
		if s := p.Screen(); strings.Contains(s, "running 1:") {
			t.Errorf("a report that was overtaken by the end brings the run back:\n%s", s)
		}
	})
}

func TestExternalEditor(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(dir, "my editor")
	if err := os.WriteFile(script, []byte("#!/bin/sh\nstat -c %a \"$2\" > \"$(dirname \"$0\")/mode\"\necho \"$1\" >> \"$2\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	d := world(t)
	m := New(t.Context(), d, Options{StateDir: dir, Env: []string{"EDITOR=vi", `VISUAL="` + script + `" 'added by hand'`}})
	words, err := editorCommand(m.getenv)
	if err != nil || len(words) != 2 || words[0] != script || words[1] != "added by hand" {
		t.Fatalf("words %q, %v", words, err)
	}
	if _, err := editorCommand(func(string) string { return `vim "` }); err == nil {
		t.Error("an open quotation is accepted")
	}
	if words, _ := editorCommand(func(string) string { return "" }); words[0] != "vi" {
		t.Errorf("without a variable: %q", words)
	}
}

func TestFocusClickAndFocusDoNothing(t *testing.T) {
	flow(t, func(t *testing.T, d *desktest.Desk, p *tuitest.Program) {
		p.Send(tea.BlurMsg{}, tea.FocusMsg{})
		p.Keys("a")
		wantOutbox(t, d)
		p.Expect("dropped: the window got its focus just now")
		p.Send(tea.BlurMsg{}, tea.FocusMsg{}, tea.MouseClickMsg{X: 5, Y: 8, Button: tea.MouseLeft})
		p.Expect("> ! Delete backups?")
		p.Send(tea.MouseClickMsg{X: 5, Y: 8, Button: tea.MouseLeft})
		p.Expect("> Restart db-1?")
		p.Send(tea.BlurMsg{}, tea.FocusMsg{})
		p.Advance(settle) // the focus came from the keyboard
		p.Send(tea.MouseClickMsg{X: 5, Y: 6, Button: tea.MouseLeft})
		p.Expect("> @ Pay invoice")
		p.Send(tea.MouseClickMsg{X: 60, Y: 22, Button: tea.MouseLeft}, tea.MouseClickMsg{X: 3, Y: 22, Button: tea.MouseLeft})
		wantOutbox(t, d)
	})
}

func TestReadOnlyDecidesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := world(t)
		p := tuitest.Run(t, New(t.Context(), d, Options{ReadOnly: true}), 80, 24)
		defer p.Stop()
		p.Advance(settle)
		for _, k := range []string{"a", "r", "A", "C", "+", "o"} {
			p.Keys(k)
			p.Expect("read-only")
		}
		p.Keys("7")
		p.Advance(settle)
		p.Keys("P", "D")
		p.Expect("read-only")
		if screen := p.Screen(); strings.Contains(screen, "P prune") || strings.Contains(screen, "D delete") || strings.Contains(screen, "+ new") {
			t.Errorf("the footer offers what is refused:\n%s", screen)
		}
		for _, call := range []string{"Respond", "Prune", "Delete", "Claim", "Start", "SaveDraft"} {
			if n := d.Calls(call); n != 0 && call != "Prune" {
				t.Errorf("%s was called %d times", call, n)
			}
		}
	})
}

func TestOnePaneFirstPressOpensTheQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := world(t)
		p := tuitest.Run(t, New(t.Context(), d, Options{}), 40, 12)
		defer p.Stop()
		p.Advance(settle)
		p.Keys("a")
		p.Expect("< Delete backups?", "a again to appr")
		wantOutbox(t, d)
		p.Advance(settle)
		p.Keys("a")
		wantOutbox(t, d, "approve Delete backups?: unsent")
	})
}

func TestResizeStormAndTinySizes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := start(t, world(t), 80, 24)
		for _, keys := range [][]string{nil, {"?"}, {"esc", "j", "r"}, {"esc", "H"}, {"esc", "7"}, {"1", "enter"}, {"c"}, {":"}} {
			l.Keys(keys...)
			for w := 1; w <= 200; w += 7 {
				for h := 1; h <= 60; h += 5 {
					l.Send(tea.WindowSizeMsg{Width: w, Height: h})
					if e := tuitest.BoxError(l.View(), w, h); e != "" {
						t.Fatalf("after %q at %dx%d: %s", keys, w, h, e)
					}
				}
			}
		}
	})
}

func TestAtRestNothingIsDrawnAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := world(t)
		m := New(t.Context(), d, Options{})
		c := &counting{Model: m}
		p := tuitest.Run(t, c, 80, 24)
		defer p.Stop()
		p.Advance(10 * time.Second)
		calls := d.Calls("Threads") + d.Calls("Open") + d.Calls("Outbox") + d.Calls("Counts")
		before := c.updates.Load()
		p.Advance(10 * time.Minute)
		if n := c.updates.Load() - before; n > 10 {
			t.Errorf("%d messages in ten minutes at rest, want one a minute", n)
		}
		if n := d.Calls("Threads") + d.Calls("Open") + d.Calls("Outbox") + d.Calls("Counts") - calls; n != 0 {
			t.Errorf("%d calls of the desk at rest", n)
		}
	})
}

// counting counts the messages a model gets.
type counting struct {
	tea.Model
	updates atomic.Int64
}

func (c *counting) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	c.updates.Add(1)
	m, cmd := c.Model.Update(msg)
	c.Model = m
	return c, cmd
}

func TestOutsideTextIsShownNotObeyed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := desktest.New(t)
		evil := "safe\x1b[31mred\x1b]52;c;aGk=\a\rOVERWRITE\u202egnp.exe\u200b"
		d.Add(desk.Detail{Thread: desk.Thread{ID: "t-evil-0001", Workflow: evil, Node: evil, WaitingSince: d.Now(), Error: evil}, StartedBy: evil, Workdir: evil,
			Questions: []desk.Question{{Address: evil, Feedback: evil, FeedbackBy: evil, FormerAction: evil, FormerValue: json.RawMessage(evil), Round: 2,
				Question: actions.Question{Kind: actions.Unknown, Title: evil, Message: evil, Content: text(evil), Context: []actions.Labelled{{Label: evil, Value: text(evil)}},
					Options: []actions.OptionItem{{Value: text(evil), Label: evil, Description: evil}}}}}})
		for _, size := range append(tuitest.Sizes(), [2]int{200, 60}) {
			l := start(t, d, size[0], size[1])
			for _, keys := range [][]string{nil, {"enter"}, {"d"}, {"enter"}, {"esc", "c"}, {"esc", "r"}, {"esc", "H"}} {
				l.Keys(keys...)
				view := l.View()
				for _, bad := range []string{"\x1b[31mred", "\x1b]52", "\r", "\u202e", "\u200b", "\a"} {
					if strings.Contains(view, bad) {
						t.Errorf("%q reaches the terminal at %v after %q", bad, size, keys)
					}
				}
			}
		}
	})
}

func TestFilterAndSearch(t *testing.T) {
	flow(t, func(t *testing.T, d *desktest.Desk, p *tuitest.Program) {
		p.Keys("f")
		p.Type("bad:a q")
		p.Keys("enter")
		p.Advance(settle)
		p.Expect("The filter is not", "unknown field")
		p.Keys("esc")
		p.Advance(settle)
		p.Expect("Delete backups?")
		p.Keys("/")
		p.Type("claim 1")
		p.Keys("enter")
		p.Expect("> Approve claim 19")
		p.Keys("n")
		p.Expect("> Approve claim 18")
		p.Keys("N", "N")
		p.Expect("> Approve claim 17")
		p.Keys("/", "ctrl+u")
		p.Type("nowhere")
		p.Keys("enter")
		p.Expect("/nowhere: not found", "> Approve claim 17")
		p.Keys("n")
		p.Expect("/nowhere: not found")
		p.Keys("/", "ctrl+u")
		p.Type("claim 1")
		p.Keys("enter")
		if strings.Contains(p.Screen(), "not found") {
			t.Errorf("what was found is not said to be:\n%s", p.Screen())
		}
		wantOutbox(t, d) // the a and q of what was typed decided nothing
	})
}

func TestSearchInTheQuestion(t *testing.T) {
	flow(t, func(t *testing.T, d *desktest.Desk, p *tuitest.Program) {
		p.Keys("j", "enter", "/")
		p.Type("schema")
		p.Keys("enter")
		p.Expect(`"schema" 1/1`)
		p.Keys("/")
		p.Type("nowhere")
		p.Keys("enter")
		p.Expect("not found in this question: nowhere")
	})
}

func TestExportWritesOnceAndNeverOverAFile(t *testing.T) {
	t.Chdir(t.TempDir())
	flow(t, func(t *testing.T, d *desktest.Desk, p *tuitest.Program) {
		p.Keys("j", "H")
		p.Advance(settle)
		p.Keys("w")
		p.Advance(settle)
		p.Expect("wrote hitl-history-7f3k.json")
		info, err := os.Stat("hitl-history-7f3k.json")
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Fatalf("%v, %v", info, err)
		}
		data, err := os.ReadFile("hitl-history-7f3k.json")
		if d.Calls("ExportMasked") != 1 || err != nil || !strings.Contains(string(data), `{"thread_id": "`) {
			t.Errorf("it is not the desk's own export: %s (%v)", data, err)
		}
		p.Keys("w")
		p.Advance(settle)
		p.Expect("file exists")
	})
}

func TestRunInProgressIsCancelledAfterY(t *testing.T) {
	flow(t, func(t *testing.T, d *desktest.Desk, p *tuitest.Program) {
		p.Keys("2")
		p.Advance(settle)
		p.Expect("Publish 1.8", "Running draft")
		p.Keys("x")
		p.Expect("Cancel the run of Publish 1.8?", "comes back")
		p.Keys("n", "x", "y")
		p.Advance(settle)
		if n := d.Calls("CancelRun"); n != 1 {
			t.Errorf("cancelled %d times", n)
		}
	})
}

// TestWhatARowSaysIsTrue: a thread that left the list while it was looked at stays in its place, and head and keys are those of
// what it became.
func TestWhatARowSaysIsTrue(t *testing.T) {
	flow(t, func(t *testing.T, d *desktest.Desk, p *tuitest.Program) {
		p.Keys("2")
		p.Advance(settle)
		p.Expect("release-notes / draft  running", "x cancel")
		x, err := d.Open(t.Context(), "t-run-0011")
		if err != nil {
			t.Fatal(err)
		}
		ended := *x
		ended.Status, ended.Updated, ended.Next = "done", d.Now(), nil
		d.Add(ended)
		d.Wake(desk.Event{Kind: desk.StoreChanged, Thread: ended.ID})
		p.Advance(settle)
		p.Expect("release-notes / draft  done", "Done just now")
		if screen := p.Screen(); strings.Contains(screen, "x cancel") {
			t.Errorf("what ended is offered to be cancelled:\n%s", screen)
		}
	})
}
