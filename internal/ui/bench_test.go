package ui

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/tuitest"
	"github.com/hitl-tui/hitl-tui/internal/ui/desktest"
)

// drain runs commands by hand, those that end by themselves.
func drain(m tea.Model, cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	out := make(chan tea.Msg, 1)
	go func() { out <- cmd() }()
	select {
	case msg := <-out:
		if batch, ok := msg.(tea.BatchMsg); ok {
			for _, c := range batch {
				drain(m, c)
			}
			return
		}
		if msg != nil {
			_, next := m.Update(msg)
			drain(m, next)
		}
	case <-time.After(50 * time.Millisecond): // a tick, or a wait for events
	}
}

// BenchmarkKeyToFrame is one press of j and the frame it makes, with every one of n threads loaded.
func BenchmarkKeyToFrame(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			d := desktest.New(b)
			for i := range n {
				d.Add(desk.Detail{Thread: desk.Thread{ID: fmt.Sprintf("t-%08d", i), Workflow: "claims", Node: "decide", WaitingSince: d.Now().Add(-time.Duration(i) * time.Second)},
					Questions: []desk.Question{{Address: "decide", Question: actions.Question{Kind: actions.EditKind, Title: fmt.Sprintf("Approve claim %d", i),
						Content: text(notes), ContentType: "markdown"}}}})
			}
			m := New(b.Context(), d, Options{})
			m.Update(tea.WindowSizeMsg{Width: 160, Height: 50})
			_, cmd := m.Update(m.inbox.Init()())
			drain(m, cmd)
			if rest := m.inbox.Last(); n > 1000 {
				_, cmd = m.Update(rest())
				drain(m, cmd)
			}
			drain(m, m.inbox.First())
			keys := []tea.KeyPressMsg{tuitest.Key("j"), tuitest.Key("k")}
			for _, k := range keys {
				_, cmd := m.Update(k)
				drain(m, cmd)
			}
			if _, drawn := m.inbox.Drawn(); !drawn || int(m.inbox.Counts()[desk.Waiting]) != n {
				b.Fatalf("no question is drawn, or not all of %d are loaded: %v", n, m.inbox.Counts())
			}
			b.ResetTimer()
			for i := range b.N {
				m.Update(keys[i%2])
				m.View()
			}
		})
	}
}

// large is content of a megabyte of each kind.
func large() map[string]actions.Question {
	line := "The quick brown fox jumps over the lazy dog, again and again, until it is late. "
	lines := strings.Repeat(line+"\n", 1<<20/(len(line)+1))
	record := `{"id": 17, "name": "Ana", "amount": 12.50, "note": "paid in full", "tags": ["a", "b"]}`
	records := "[" + strings.Repeat(record+",", 1<<20/(len(record)+1)) + record + "]"
	flat := strings.ReplaceAll(records, `, "tags": ["a", "b"]`, "")
	diff := "--- a\n+++ b\n@@ -1 +1 @@\n" + strings.Repeat("-"+line+"\n+"+line+"\n", 1<<20/(2*len(line)+4))
	return map[string]actions.Question{
		"text":     {Content: text(lines), ContentType: "text"},
		"one line": {Content: text(strings.Repeat(line, 1<<20/len(line))), ContentType: "text"},
		"100k":     {Content: text(strings.Repeat("a line\n", 100_000)), ContentType: "text"},
		"markdown": {Content: text("# Notes\n\n" + lines), ContentType: "markdown"},
		"diff":     {Content: text(diff), ContentType: "diff"},
		"code":     {Content: text(strings.Repeat("func f(x int) int { return x + 1 } // and more\n", 1<<20/48)), ContentType: "code/go"},
		"json":     {Content: json.RawMessage(records), ContentType: "json"},
		"table":    {Content: json.RawMessage(flat), ContentType: "table"},
	}
}

// BenchmarkLargeContent is a press of a moving key in a megabyte under review and the frame it makes, and the frame that
// shows it at another width, for which everything is laid out anew.
func BenchmarkLargeContent(b *testing.B) {
	for name, q := range large() {
		d := desktest.New(b)
		q.Kind, q.Title = actions.Approval, "Publish it?"
		d.Add(desk.Detail{Thread: desk.Thread{ID: "t-large", Workflow: "notes", Node: "review", WaitingSince: d.Now()}, Questions: []desk.Question{{Address: "review", Question: q}}})
		m := New(b.Context(), d, Options{})
		m.Update(tea.WindowSizeMsg{Width: 160, Height: 50})
		_, cmd := m.Update(m.inbox.Init()())
		drain(m, cmd)
		m.Update(tuitest.Key("enter"))
		m.View()
		keys := []string{"j", "j", "j", "pgdown", "pgdown", "k", "G", "g", "ctrl+d"}
		b.Run("key in "+name, func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				m.Update(tuitest.Key(keys[i%len(keys)]))
				m.View()
			}
		})
		b.Run("layout of "+name, func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				m.Update(tea.WindowSizeMsg{Width: 160 - i%2, Height: 50})
				m.View()
			}
		})
	}
}
