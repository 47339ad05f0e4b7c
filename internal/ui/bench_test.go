package ui

import (
	"fmt"
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
