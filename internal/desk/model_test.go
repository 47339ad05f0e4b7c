package desk

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// op is one thing that happens to a desk: what, to which thread and question, and for how long.
type op struct {
	kind             string
	thread, question int
	span             time.Duration
}

func (o op) String() string {
	return fmt.Sprintf("%s thread-%d q%d %v", o.kind, o.thread, o.question, o.span)
}

var opKinds = []string{
	"respond", "respond", "respond", "respond typed", "respond typed", "respond stale", "take back", "take back one", "send now",
	"wait", "wait", "wait", "rest", "rest", "bob answers", "bob runs", "bob rests", "cancel", "crash", "close", "drafts",
}

// TestOutboxModel: whatever happens, no answer is accepted twice, none that was taken back or unsent at a crash is
// ever accepted, and every text is in the engine, the outbox or a draft.
func TestOutboxModel(t *testing.T) {
	dirs := 0
	rapid.Check(t, func(rt *rapid.T) {
		ops := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) op {
			return op{
				rapid.SampledFrom(opKinds).Draw(rt, "kind"), rapid.IntRange(0, 2).Draw(rt, "thread"), rapid.IntRange(1, 3).Draw(rt, "question"),
				time.Duration(rapid.IntRange(0, 7).Draw(rt, "seconds")) * time.Second,
			}
		}), 1, 40).Draw(rt, "ops")
		runners := rapid.IntRange(1, 3).Draw(rt, "runners")
		dirs++
		dir := fmt.Sprintf("%s/%d", t.TempDir(), dirs)
		var fault string
		synctest.Test(t, func(t *testing.T) {
			m := newModel(t, Options{StateDir: dir, Runners: runners})
			for i, o := range ops {
				m.do(o)
				if fault = m.fault(); fault != "" {
					fault = fmt.Sprintf("after op %d (%v): %s", i, o, fault)
					break
				}
			}
			m.end()
			if fault == "" {
				fault = m.fault()
			}
		})
		if fault != "" {
			rt.Fatal(fault)
		}
	})
}

// model drives a desk and remembers what must hold.
type model struct {
	t     *testing.T
	o     Options
	f     *fakeSource
	d     *Desk
	n     int
	last  map[string]typed // by question: the newest text that was taken, and with which response
	never map[string]string
}

type typed struct{ text, response string }

func newModel(t *testing.T, o Options) *model {
	m := &model{t: t, o: o, f: newFake(), last: map[string]typed{}, never: map[string]string{}}
	m.f.gate = make(chan struct{})
	for i := range 3 {
		m.f.add(fmt.Sprintf("thread-%d", i), 3)
	}
	m.open()
	return m
}

func (m *model) open() {
	d, err := New(m.f, m.o)
	if err != nil {
		m.t.Fatal(err)
	}
	m.d = d
}

func (m *model) do(o op) {
	thread := fmt.Sprintf("thread-%d", o.thread)
	question := fmt.Sprintf("%s/q%d", thread, o.question)
	switch o.kind {
	case "respond", "respond typed", "respond stale":
		m.respond(thread, question, o.kind)
	case "take back":
		m.takeBack("")
	case "take back one":
		if all := m.d.Outbox(); len(all) > 0 {
			m.takeBack(all[o.question%len(all)].ID)
		}
	case "send now":
		_ = m.d.SendNow("")
	case "wait":
		time.Sleep(o.span)
	case "rest":
		select {
		case m.f.gate <- struct{}{}:
		default:
		}
	case "bob answers":
		m.byBob(thread, question)
	case "bob runs", "bob rests":
		if s := m.status(thread); s == "interrupted" && o.kind == "bob runs" || s == "running" && o.kind == "bob rests" && !m.own(thread) {
			m.f.runElsewhere(thread, o.kind == "bob runs")
		}
	case "cancel":
		_ = m.d.CancelRun(m.t.Context(), thread)
	case "crash":
		m.unsentIsNeverSent("unsent at a crash")
		crash(m.d)
		m.open()
	case "close":
		m.unsentIsNeverSent("unsent when the desk was closed")
		m.close()
		m.open()
	case "drafts":
		m.unsentIsNeverSent("kept as drafts")
		if err := m.d.KeepAsDrafts(); err != nil {
			m.t.Error(err)
		}
	}
	synctest.Wait()
}

func (m *model) respond(thread, question, kind string) {
	m.n++
	x := Decision{Thread: thread, Question: question, Action: "approve", ResponseID: fmt.Sprintf("response-%d", m.n)}
	if detail, err := m.f.Open(m.t.Context(), thread); err == nil {
		x.Version = fmt.Sprintf("%d.1", detail.Step)
	}
	if kind == "respond stale" {
		x.Version = "1.1"
	}
	var draft *Draft
	text := ""
	if kind == "respond typed" {
		text = fmt.Sprintf("text %d", m.n)
		draft = &Draft{Text: text}
	}
	former := m.d.Outbox()
	if _, err := m.d.Respond(m.t.Context(), x, draft); err != nil {
		return
	}
	for _, e := range former {
		if e.Decision.Question == question && (e.State == Unsent || e.State == Held || e.State == Queued) {
			m.never[e.Decision.ResponseID] = "replaced"
		}
	}
	delete(m.last, question)
	if text != "" {
		m.last[question] = typed{text, x.ResponseID}
	}
}

func (m *model) takeBack(id string) {
	e, err := m.d.TakeBack(id)
	if err == nil {
		m.never[e.Decision.ResponseID] = "taken back"
	}
}

func (m *model) byBob(thread, question string) {
	m.f.mu.Lock()
	t := m.f.threads[thread]
	open := t.status == "interrupted" && slices.ContainsFunc(t.open, func(q Question) bool { return q.ID == question })
	m.f.mu.Unlock()
	if open {
		m.f.byOthers(thread, question, "reject", "bob")
	}
}

func (m *model) status(thread string) string {
	m.f.mu.Lock()
	defer m.f.mu.Unlock()
	return m.f.threads[thread].status
}

func (m *model) own(thread string) bool {
	m.d.mu.Lock()
	defer m.d.mu.Unlock()
	r := m.d.runs.byThread[thread]
	return r != nil && r.active
}

func (m *model) unsentIsNeverSent(why string) {
	for _, e := range m.d.Outbox() {
		if e.State == Unsent || e.State == Held || e.State == Queued && why != "kept as drafts" {
			m.never[e.Decision.ResponseID] = why
		}
	}
}

func (m *model) close() {
	ctx, cancel := context.WithTimeout(m.t.Context(), time.Second)
	defer cancel()
	if err := m.d.Close(ctx); err != nil {
		m.t.Error(err)
	}
}

// end lets everything come to rest.
func (m *model) end() {
	for i := range 3 {
		if thread := fmt.Sprintf("thread-%d", i); m.status(thread) == "running" && !m.own(thread) {
			m.f.runElsewhere(thread, false)
		}
	}
	close(m.f.gate)
	time.Sleep(time.Minute)
	synctest.Wait()
	if unsent, running := m.d.Busy(); unsent+running > 0 {
		m.t.Errorf("%d unsent, %d running after everything had time to rest: %s", unsent, running, states(m.d))
	}
	m.close()
}

// fault says which invariant does not hold.
func (m *model) fault() string {
	m.f.mu.Lock()
	accepted := slices.Clone(m.f.accepted)
	m.f.mu.Unlock()
	for i, id := range accepted {
		if slices.Contains(accepted[:i], id) {
			return id + " was accepted twice"
		}
		if why, ok := m.never[id]; ok {
			return id + " was accepted though it was " + why
		}
	}
	entries := m.d.Outbox()
	for question, x := range m.last {
		thread, key, _ := strings.Cut(question, "/")
		waits := slices.ContainsFunc(entries, func(e Entry) bool {
			return e.Decision.ResponseID == x.response && e.Draft.Text == x.text && (e.State == Unsent || e.State == Held || e.State == Queued)
		})
		draft := m.d.Draft(fakeQuestion(thread, key))
		if !waits && !slices.Contains(accepted, x.response) && (draft == nil || draft.Text != x.text) {
			return fmt.Sprintf("%q, typed for %s, is lost (outbox: %s; draft: %+v)", x.text, question, states(m.d), draft)
		}
	}
	return ""
}
