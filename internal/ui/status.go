package ui

import (
	"fmt"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/ui/ago"
	"github.com/hitl-tui/hitl-tui/internal/ui/command"
	"github.com/hitl-tui/hitl-tui/internal/ui/component/statusbar"
)

// How long a sentence stays in the status line, and how many messages are kept.
const (
	sayFor  = 6 * time.Second
	logKeep = 500
)

// status is the sentence of the moment.
type status struct {
	text  string
	level statusbar.Level
	gen   int
}

// message is one line of what happened so far.
type message struct {
	at     time.Time
	text   string
	thread string
	bad    bool
}

// say shows a sentence for a while.
func (m *Model) say(text string) tea.Cmd { return m.show(text, statusbar.Plain) }

// warn shows why something was not done.
func (m *Model) warn(text string) tea.Cmd { return m.show(text, statusbar.Warning) }

// complain shows a failure, keeps it among the messages and counts it until it is seen. It stays on the left until
// something else is said there, and then on the right.
func (m *Model) complain(text, thread string) tea.Cmd {
	m.status = status{text: text, level: statusbar.Danger, gen: m.status.gen + 1}
	m.log = append(m.log, message{at: m.now(), text: text, thread: thread, bad: true})
	m.log = m.log[max(len(m.log)-logKeep, 0):]
	m.unseen++
	return nil
}

// note keeps a sentence among the messages without showing it.
func (m *Model) note(text, thread string) {
	m.log = append(m.log, message{at: m.now(), text: text, thread: thread})
	m.log = m.log[max(len(m.log)-logKeep, 0):]
}

func (m *Model) show(text string, level statusbar.Level) tea.Cmd {
	m.status = status{text: text, level: level, gen: m.status.gen + 1}
	gen := m.status.gen
	return m.after(sayFor, quieted(gen))
}

// seen is told that the failures so far were looked at.
func (m *Model) seen() {
	m.unseen = 0
	if m.status.level == statusbar.Danger {
		m.quiet()
	}
}

// quiet ends the sentence of the moment.
func (m *Model) quiet() { m.status.text = "" }

type quieted int

func (q quieted) apply(m *Model) tea.Cmd {
	if int(q) == m.status.gen {
		m.quiet()
	}
	return nil
}

// statusLine says what was said last, what waits to be sent, what runs and what failed.
func (m *Model) statusLine(w int) string {
	var left, right []statusbar.Part
	unsent := m.unsent()
	switch {
	case m.status.text != "":
		left = append(left, statusbar.Part{Text: m.status.text, Level: m.status.level})
	case len(unsent) > 0:
		left = append(left, statusbar.Part{Text: m.unsentText(unsent, w), Level: statusbar.Good})
	default:
		if marked, _ := m.inbox.Marked(); len(marked) > 0 && m.place == atInbox {
			left = append(left, statusbar.Part{Text: fmt.Sprintf("%d marked", len(marked))})
		} else if m.greeting {
			left = append(left, statusbar.Part{Text: m.greetingText(w)})
		} else if m.opts.ReadOnly {
			left = append(left, statusbar.Part{Text: "read-only", Level: statusbar.Muted})
		}
	}
	if w >= 60 {
		if text := m.runningText(); text != "" {
			right = append(right, statusbar.Part{Text: text, Level: statusbar.Muted})
		}
	}
	if said := m.status.text != "" && m.status.level == statusbar.Danger; m.unseen > 1 && said {
		right = append(right, statusbar.Part{Text: fmt.Sprintf("%d", m.unseen), Level: statusbar.Danger})
	} else if m.unseen > 0 && !said {
		text := fmt.Sprintf("%d", m.unseen)
		if last := m.lastFailure(); last != "" && w >= 60 {
			text = fmt.Sprintf("%d: %s", m.unseen, last)
		}
		right = append(right, statusbar.Part{Text: text, Level: statusbar.Danger})
	}
	return statusbar.View(m.theme, left, right, w)
}

// unsentText is the outbox in one sentence: the newest answer, its countdown, the key that takes it back.
func (m *Model) unsentText(unsent []desk.Entry, w int) string {
	e := unsent[len(unsent)-1]
	when := fmt.Sprintf("sends in %d s", ago.Left(m.now(), e.SendAt))
	switch {
	case e.State == desk.Held:
		when = "sends once its thread rests"
	case m.opts.ReducedMotion && w < 60:
		when = "sends " + ago.Clock(e.SendAt)
	case m.opts.ReducedMotion:
		when = "sends at " + ago.Clock(e.SendAt)
	case w < 60:
		when = fmt.Sprintf("sends %ds", ago.Left(m.now(), e.SendAt))
	}
	key := m.keys.Key(command.TakeBack)
	back := key + " take back"
	if w < 60 {
		back = key + " undo"
	}
	if n := steps(unsent); n > 1 {
		back += fmt.Sprintf(" (%d)", n)
	}
	what := e.Decision.Title
	if n := bulkSize(unsent, e); n > 1 {
		what = plural(n, "question", "questions")
	}
	done := doneWord(e.Decision.Action) + byRule(e.Decision)
	room := max(w-len(when)-len(back)-len(done)-10, 8)
	return fmt.Sprintf("%s: %s, %s  %s", done, short(what, room), when, back)
}

// steps counts how often one can take back: a bulk goes at once.
func steps(unsent []desk.Entry) int {
	n := 0
	for i, e := range unsent {
		if e.Bulk == "" || slices.IndexFunc(unsent, func(x desk.Entry) bool { return x.Bulk == e.Bulk }) == i {
			n++
		}
	}
	return n
}

// bulkSize counts the entries that are taken back together with e.
func bulkSize(unsent []desk.Entry, e desk.Entry) int {
	n := 0
	for _, x := range unsent {
		if x.ID == e.ID || e.Bulk != "" && x.Bulk == e.Bulk {
			n++
		}
	}
	return n
}

// runningText names what runs: how many, and the one heard of last.
func (m *Model) runningText() string {
	n := len(m.progress)
	if n == 0 {
		return ""
	}
	var last desk.Event
	for _, e := range m.progress {
		if last.At.Before(e.At) || last.Thread == "" {
			last = e
		}
	}
	what := last.Node
	if title := m.titleOf(last.Thread); title != "" {
		what = short(title, 24) + " " + what
	}
	if m.opts.ReducedMotion {
		return fmt.Sprintf("running %d: %s", n, what)
	}
	return fmt.Sprintf("running %d: %s %s", n, what, ago.Took(m.now().Sub(m.started[last.Thread])))
}

// titleOf is what a thread is called where that is known without reading.
func (m *Model) titleOf(thread string) string {
	for i := len(m.outbox) - 1; i >= 0; i-- {
		if m.outbox[i].Decision.Thread == thread {
			return m.outbox[i].Decision.Title
		}
	}
	return ""
}

func (m *Model) lastFailure() string {
	for i := len(m.log) - 1; i >= 0; i-- {
		if m.log[i].bad {
			return m.log[i].text
		}
	}
	return ""
}

func (m *Model) actionKey(action string) string {
	return m.keys.Key(command.ForAction(actions.Action(action)))
}

// short cuts a text to n cells with an ellipsis.
func short(s string, n int) string { return clip(s, n) }
