package ui

import (
	"bytes"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
)

// still is a model that does nothing but draw another word once its test has poked it.
type still struct{ poked bool }

type poke struct{}

func (still) Init() tea.Cmd { return nil }

func (s still) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if _, is := msg.(poke); is {
		s.poked = true
	}
	return s, nil
}

func (s still) View() tea.View {
	if s.poked {
		return tea.NewView("awake")
	}
	return tea.NewView("......")
}

// screen is what a program wrote.
type screen struct {
	mu   sync.Mutex
	text bytes.Buffer
	wait string
	came chan struct{}
}

func (s *screen) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text.Write(b)
	if s.wait != "" && bytes.Contains(s.text.Bytes(), []byte(s.wait)) {
		s.wait = ""
		close(s.came)
	}
	return len(b), nil
}

// TestRestFindsTheClockAndDrawsAtOnceAfterIt: if a new version of the library hides its clock, this says so; and what
// happens after a rest is drawn without waiting for the slow clock.
func TestRestFindsTheClockAndDrawsAtOnceAfterIt(t *testing.T) {
	out := &screen{wait: "awake", came: make(chan struct{})}
	var r rest
	var p *tea.Program
	p = tea.NewProgram(still{}, tea.WithInput(nil), tea.WithOutput(out), tea.WithWindowSize(20, 5), tea.WithoutSignalHandler(),
		tea.WithFilter(func(_ tea.Model, msg tea.Msg) tea.Msg { r.moved(p); return msg }))
	ended := make(chan error, 1)
	go func() { _, err := p.Run(); ended <- err }()
	p.Send(tea.WindowSizeMsg{Width: 20, Height: 5})
	slow := func() bool { r.mu.Lock(); defer r.mu.Unlock(); return r.slow }
	deadline := time.After(20 * time.Second)
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for !slow() {
		select {
		case <-again.C:
		case <-deadline:
			t.Fatal("the clock of the renderer was not found, or never slowed down")
		}
	}
	r.mu.Lock()
	r.ticker.Reset(time.Hour) // so slow that only a clock that was set going again draws in time
	r.mu.Unlock()
	p.Send(poke{})
	select {
	case <-out.came:
	case <-deadline:
		t.Fatal("after a rest nothing is drawn")
	}
	p.Quit()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	r.end()
}
