package local

import (
	"strings"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/engine"
)

// observer passes the engine's events on: to the calls that wait for one, and as progress to the desk.
type observer struct {
	source *Source
	next   engine.Observer
}

// Observe returns at once.
func (o *observer) Observe(e engine.Event) {
	if o.next != nil {
		o.next.Observe(e)
	}
	s := o.source
	s.mu.Lock()
	heard, observe := s.hear[e.Thread], s.observe
	s.mu.Unlock()
	switch {
	case e.Type == engine.ThreadStarted && heard.started != nil:
		heard.started(e.Thread, heard.workflow)
	case e.Type == engine.Answered && !e.Inherited && heard.accepted != nil:
		heard.accepted()
	}
	x, ok := progressOf(e)
	if !ok {
		return
	}
	if heard.progress != nil {
		heard.progress(x)
	}
	if observe != nil {
		observe(x)
	}
}

// progressOf is what of an event a person who watches a run is shown. How a run ended is told by the desk.
func progressOf(e engine.Event) (desk.Event, bool) {
	x := desk.Event{
		Kind: desk.Progress, Thread: e.Thread, Node: e.Node, Run: runName(e.Path), Text: strings.TrimRight(e.Text, "\n"), Status: e.Status,
		Step: e.Step, At: e.At,
	}
	switch e.Type {
	case engine.NodeStarted, engine.NodeOutput, engine.NodeFinished, engine.StepCommitted, engine.ThreadStarted:
		return x, true
	case engine.FailedEv:
		x.Failed, x.Attempt, x.Retried, x.RetryIn = true, e.Attempt, e.Retried, time.Duration(e.RetryMS)*time.Millisecond
		return x, e.Path != ""
	case engine.CancelledEv:
		x.Status, x.Text = "CANCELLED", ""
		return x, e.Path != "" && e.Interrupt == ""
	}
	return desk.Event{}, false
}

// Observe reports progress of the runs in this process.
func (s *Source) Observe(observe func(desk.Event)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.observe = observe
}

// listen registers what a call waits to be told; the function it returns ends that. Of two calls that race for one
// thread only the first is told, which may then be the loser: being told is a hint, the call's result is the truth.
func (s *Source) listen(thread string, h hearing) func() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, taken := s.hear[thread]; taken {
		return func() {}
	}
	s.hear[thread] = h
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.hear, thread)
	}
}
