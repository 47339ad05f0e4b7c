package thread

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/tuitest"
	"github.com/hitl-tui/hitl-tui/internal/ui/keymap"
	"github.com/hitl-tui/hitl-tui/internal/ui/theme"
)

type one desk.Detail

func (o one) Open(context.Context, string) (*desk.Detail, error) { d := desk.Detail(o); return &d, nil }

func TestNodesLightUpAsTheyRun(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	detail := one{Thread: desk.Thread{ID: "t1", Short: "t1", Title: "Publish", Workflow: "notes", Status: "running"},
		Path: []desk.PathStep{{Run: "review@1", Status: "WAITING"}, {Run: "review@1", Status: "COMPLETED", Decision: "ana approve"}, {Run: "draft@1", Status: "RUNNING"}}}
	p := New(t.Context(), detail, theme.Must("", true), keymap.Default(), func() time.Time { return now })
	p.SetSize(60, 16)
	p.Update(p.Open("t1")())
	heard := func(text, status string) {
		p.Heard(desk.Event{Kind: desk.Progress, Thread: "t1", Node: "draft", Run: "draft@1", Text: text, Status: status, At: now})
	}
	screen := func() string {
		tuitest.CheckBox(t, p.View(), 60, 16)
		return ansi.Strip(p.View())
	}
	heard("", "RUNNING")
	heard("half way\n", "")
	now = now.Add(3 * time.Second)
	got := screen()
	for _, want := range []string{"running 3.0s", ". draft@1", "half way", "v review@1", "ana approve"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q while it runs:\n%s", want, got)
		}
	}
	if strings.Count(got, "draft@1") != 1 {
		t.Errorf("the run is listed twice:\n%s", got)
	}
	if !p.Live() {
		t.Error("it runs, and is not live")
	}
	heard("", "COMPLETED")
	p.Heard(desk.Event{Kind: desk.Rested, Thread: "t1", Status: "done", At: now})
	if p.Live() {
		t.Error("it rests, and is live")
	}
	if got := screen(); !strings.Contains(got, "v draft") {
		t.Errorf("not completed:\n%s", got)
	}
}

func TestOutputIsBounded(t *testing.T) {
	p := New(t.Context(), one{}, theme.Must("", true), keymap.Default(), time.Now)
	p.SetSize(40, 12)
	for range 3 {
		p.Heard(desk.Event{Kind: desk.Progress, Thread: "t1", Node: "n", Text: strings.Repeat("line\n", keepLines)})
	}
	if n := len(p.runs["t1"].output); n != keepLines {
		t.Errorf("%d lines kept, want %d", n, keepLines)
	}
	for i := range 2 * keepThreads {
		p.Heard(desk.Event{Kind: desk.Progress, Thread: strings.Repeat("x", i+1), Node: "n", Status: "RUNNING"})
	}
	if n := len(p.runs); n > keepThreads+1 {
		t.Errorf("%d threads kept", n)
	}
}
