package tuitest

import (
	"reflect"
	"slices"
	"sync"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
)

// Loop is Bubble Tea's message loop without a terminal: it runs the commands an Update returns and feeds it their
// messages until nothing more comes. It must be made and used inside a testing/synctest bubble, which is how it knows
// that a command will not end by itself: such ones (a tick, a wait for events) go on, and Advance lets time pass.
type Loop struct {
	Model tea.Model
	Quit  bool              // tea.Quit has been returned
	Drawn func(view string) // is shown the view after each message, also before what that asks for has come; may be nil

	arrived chan struct{} // holds a token while results wait
	mu      sync.Mutex
	results []result
	started int
}

type result struct {
	order int
	msg   tea.Msg
}

// NewLoop starts a model: Init and a window size.
func NewLoop(m tea.Model, w, h int) *Loop {
	l := &Loop{Model: m, arrived: make(chan struct{}, 1)}
	l.start(m.Init())
	l.Send(tea.WindowSizeMsg{Width: w, Height: h})
	return l
}

// Send gives the model messages, one after the other, and lets it settle after each.
func (l *Loop) Send(msgs ...tea.Msg) {
	for _, msg := range msgs {
		l.deliver(msg)
		l.Settle()
	}
}

// Keys presses keys by name.
func (l *Loop) Keys(names ...string) {
	for _, n := range names {
		l.Send(Key(n))
	}
}

// Type types a text.
func (l *Loop) Type(s string) {
	for _, k := range Text(s) {
		l.Send(k)
	}
}

// Advance lets time pass. What comes meanwhile is delivered at its time, so that a ticking model goes on ticking.
func (l *Loop) Advance(d time.Duration) {
	over := time.NewTimer(d)
	defer over.Stop()
	for {
		select {
		case <-l.arrived:
			l.Settle()
		case <-over.C:
			l.Settle()
			return
		}
	}
}

// Settle runs until no command has anything to say.
func (l *Loop) Settle() {
	for {
		synctest.Wait()
		l.mu.Lock()
		done := l.results
		l.results = nil
		l.mu.Unlock()
		if len(done) == 0 {
			return
		}
		slices.SortStableFunc(done, func(a, b result) int { return a.order - b.order })
		for _, r := range done {
			l.deliver(r.msg)
		}
	}
}

// View is what the model draws now.
func (l *Loop) View() string { return l.Model.View().Content }

func (l *Loop) deliver(msg tea.Msg) {
	switch msg := msg.(type) {
	case nil:
		return
	case tea.QuitMsg:
		l.Quit = true
		return
	case tea.BatchMsg:
		for _, c := range msg {
			l.start(c)
		}
		return
	}
	if cmds, ok := sequence(msg); ok {
		l.startSequence(cmds)
		return
	}
	m, cmd := l.Model.Update(msg)
	l.Model = m
	if l.Drawn != nil {
		l.Drawn(l.View())
	}
	l.start(cmd)
}

// sequence recognises what tea.Sequence makes, a type of its own that is a list of commands.
func sequence(msg tea.Msg) ([]tea.Cmd, bool) {
	v := reflect.ValueOf(msg)
	if v.Kind() != reflect.Slice || v.Type().Elem() != reflect.TypeFor[tea.Cmd]() {
		return nil, false
	}
	return v.Convert(reflect.TypeFor[[]tea.Cmd]()).Interface().([]tea.Cmd), true
}

func (l *Loop) start(cmd tea.Cmd) {
	if cmd != nil {
		l.startSequence([]tea.Cmd{cmd})
	}
}

func (l *Loop) startSequence(cmds []tea.Cmd) {
	order := l.started
	l.started++
	go func() {
		for _, c := range cmds {
			if c == nil {
				continue
			}
			msg := c()
			l.mu.Lock()
			l.results = append(l.results, result{order, msg})
			l.mu.Unlock()
			select {
			case l.arrived <- struct{}{}:
			default:
			}
		}
	}()
}
