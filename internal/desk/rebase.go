package desk

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/actions"
)

// foreignLook is how often a thread is looked at which another process runs and for which an answer is held: a
// process that dies wakes nobody.
const foreignLook = 2 * time.Second

// present is what a thread looks like after a run of this desk, and the waiting answers it was read for.
type present struct {
	detail *Detail
	seen   map[string]bool
}

// readAgain reads the thread of a run that came to rest, when answers wait for it. Without it they stay under the
// version they were given under.
func (d *Desk) readAgain(r *run, result *Result) present {
	d.mu.Lock()
	waiting := d.outbox.waiting(r.thread)
	p := present{seen: make(map[string]bool, len(waiting))}
	for _, e := range waiting {
		p.seen[e.ID] = true
	}
	d.mu.Unlock()
	if len(waiting) == 0 || result == nil || result.Withdrawn {
		return p
	}
	detail, err := d.source.Open(context.WithoutCancel(d.ctx), r.thread)
	if err != nil {
		d.o.Log.Warn("thread not read after its run", "thread", r.thread, "error", err)
		return p
	}
	p.detail = detail
	return p
}

// outgrown reports whether an answer came in since p was read. d.mu is held.
func (d *Desk) outgrown(thread string, p present) bool {
	for _, e := range d.outbox.waiting(thread) {
		if !p.seen[e.ID] {
			return true
		}
	}
	return false
}

// rebase moves waiting answers to the version which this desk's own run made, where their question is open still and
// looks exactly as it did. What changed otherwise keeps its version and will be refused as a conflict. d.mu is held.
func (d *Desk) rebase(r *run, p present) {
	if p.detail == nil {
		return
	}
	base, known := parseVersion(r.base)
	for _, e := range d.outbox.waiting(r.thread) {
		if shown, ok := parseVersion(e.Decision.Version); ok && (!known || !shown.before(base)) {
			e.moveTo(p.detail)
		}
	}
}

// moveTo gives an entry the present version, where its question is open still and looks exactly as it did.
func (e *entry) moveTo(detail *Detail) {
	for _, q := range detail.Questions {
		if q.ID == e.question.ID && q.ShownHash == e.Decision.Shown && q.Version != "" && e.Decision.Version != "" {
			e.Decision.Version = q.Version
		}
	}
}

// version is a STEP.REVISION as a person saw it.
type version struct{ step, revision int64 }

func parseVersion(s string) (version, bool) {
	step, revision, _ := strings.Cut(s, ".")
	n, err := strconv.ParseInt(step, 10, 64)
	if err != nil {
		return version{}, false
	}
	m, err := strconv.ParseInt(revision, 10, 64)
	if err != nil && revision != "" {
		return version{}, false
	}
	return version{n, m}, true
}

func (v version) before(w version) bool {
	return v.step < w.step || v.step == w.step && v.revision < w.revision
}

// lookAtForeign lets answers go that are held for a thread which another process ran, once it no longer does. They
// were given while it ran, so they move to the version at which it rests, as after a run of this desk.
func (d *Desk) lookAtForeign(thread string) {
	if !d.holdsFor(thread) {
		return
	}
	detail, err := d.source.Open(d.ctx, thread)
	d.mu.Lock()
	defer d.mu.Unlock()
	if err == nil && detail.Status == "running" && len(d.outbox.waiting(thread)) > 0 {
		return
	}
	for _, e := range d.outbox.waiting(thread) {
		if err == nil && e.State == Held {
			e.moveTo(detail)
		}
	}
	delete(d.outbox.foreign, thread)
	d.keepOutbox()
	d.pump()
}

// keepLooking looks at a thread that another process runs as long as answers are held for it.
func (d *Desk) keepLooking(thread string) {
	d.lookAtForeign(thread)
	if d.holdsFor(thread) {
		d.o.AfterFunc(foreignLook, func() { d.keepLooking(thread) })
	}
}

func (d *Desk) holdsFor(thread string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.outbox.foreign[thread] && !d.closed
}

// refusal says who did what, and that the text is kept.
func (d *Desk) refusal(err error) string {
	var known *Error
	if errors.As(err, &known) {
		by, _ := known.Details["by"].(string)
		action, _ := known.Details["action"].(string)
		at, _ := known.Details["at"].(time.Time)
		if by != "" && action != "" && !at.IsZero() {
			return fmt.Sprintf("%s %s this %s ago; your text is kept", by, pastTense(action), ago(d.o.Now().Sub(at)))
		}
		if known.Code == CodeCancelled {
			return known.Message
		}
	}
	return err.Error() + "; your text is kept"
}

// pastTense is an action as a report tells it.
func pastTense(action string) string {
	if info, ok := actions.Describe(actions.Action(action)); ok {
		return info.Done
	}
	return "answered"
}

func ago(d time.Duration) string {
	switch {
	case d < time.Second:
		return "a moment"
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	default:
		return fmt.Sprintf("%d days", int(d.Hours()/24))
	}
}
