package desk

import (
	"slices"
	"time"
)

// maxRested bounds how many entries that came to rest are still listed.
const maxRested = 200

// outbox holds decisions on their way, in the order in which they were taken, and drafts. It is guarded by Desk.mu.
type outbox struct {
	entries []*entry
	rested  []Entry
	drafts  drafts
	secret  map[string]bool // ids of questions answered with a credential
	foreign map[string]bool // threads that another process runs while an answer is held for them

	stop    func() bool // of the timer, nil without one
	timerAt time.Time
}

// entry is an Entry with what only the outbox needs to know.
type entry struct {
	Entry
	question Question      // as it was when it was answered
	urgent   bool          // goes at once and alone: deadline within the grace time, or sent now
	typed    bool          // its draft is a person's typing, not made of the decision
	accepted bool          // the engine keeps the answer: it needs no keeping here
	grace    time.Duration // of a rule; 0: as a person's
}

// waits reports whether the entry is neither sent nor on its way.
func (e *entry) waits() bool { return e.State == Unsent || e.State == Held }

// waiting lists what waits, of one thread or with "" of all, oldest first.
func (b *outbox) waiting(thread string) []*entry {
	var found []*entry
	for _, e := range b.entries {
		if e.waits() && (thread == "" || e.Decision.Thread == thread) {
			found = append(found, e)
		}
	}
	return found
}

func (b *outbox) threads() []string {
	var names []string
	for _, e := range b.entries {
		if e.waits() && !slices.Contains(names, e.Decision.Thread) {
			names = append(names, e.Decision.Thread)
		}
	}
	return names
}

// due lists what of a thread is to be sent now, as one call, and when to look again (zero: not by itself). The
// waiting answers of a thread go together once the youngest is due; an urgent one goes at once. Answers given under
// different versions never share a call: the oldest goes first.
func (b *outbox) due(thread string, now time.Time) (send []*entry, next time.Time) {
	waiting := b.waiting(thread)
	for _, e := range waiting {
		if e.urgent {
			send = append(send, e)
		} else if e.SendAt.After(next) {
			next = e.SendAt
		}
	}
	if len(send) == 0 && !next.After(now) {
		send = waiting
	}
	if !next.After(now) {
		next = time.Time{}
	}
	return sameCall(send), next
}

// sameCall keeps the first entry and those that can go in one call with it.
func sameCall(entries []*entry) []*entry {
	var call []*entry
	for _, e := range entries {
		if len(call) > 0 && !call[0].sharesCall(e) {
			continue
		}
		call = append(call, e)
	}
	return call
}

func (e *entry) sharesCall(other *entry) bool {
	a, b := e.Decision, other.Decision
	if e.byRule() || other.byRule() {
		return a.Version == b.Version && a.Reviewer == b.Reviewer
	}
	return a.Version == b.Version && a.Steal == b.Steal && a.Question != "" && b.Question != ""
}

// byRule tells whether a rule and no person decided. Such an answer is not kept anywhere until it is sent: a desk opened
// later finds the question and applies the rules that it then has.
func (e *entry) byRule() bool {
	_, is := ByRule(e.Decision.Reviewer)
	return is
}

// remove takes an entry off the list of what is on its way.
func (b *outbox) remove(e *entry) {
	b.entries = slices.DeleteFunc(b.entries, func(x *entry) bool { return x == e })
}

// rest moves an entry to those that came to rest in this session.
func (b *outbox) rest(e *entry) {
	b.remove(e)
	b.rested = append(b.rested, e.Entry)
	if len(b.rested) > maxRested {
		b.rested = slices.Delete(b.rested, 0, len(b.rested)-maxRested)
	}
}

func (b *outbox) disarm() {
	if b.stop != nil {
		b.stop()
		b.stop, b.timerAt = nil, time.Time{}
	}
}

// kept is what of the outbox belongs on disk: whatever the engine does not keep yet.
func (b *outbox) kept() []saved {
	var all []saved
	for _, e := range b.entries {
		if !e.accepted && !e.byRule() && !b.secret[e.question.ID] {
			all = append(all, saved{ID: e.ID, Decision: e.Decision, Draft: *e.Draft})
		}
	}
	return all
}

// Outbox lists what is not yet at rest, oldest first, and before it what came to rest in this session.
func (d *Desk) Outbox() []Entry {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := slices.Clone(d.outbox.rested)
	for _, e := range d.outbox.entries {
		all = append(all, e.Entry)
	}
	return all
}

// TakeBack takes an unsent entry back ("": the newest of a person, without one the newest of a rule) and returns it with its draft, which is kept on disk until it
// is sent or discarded. Of a bulk all unsent entries are taken back; the first is returned.
func (d *Desk) TakeBack(id string) (*Entry, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	e, err := d.findUnsent(id)
	if err != nil {
		return nil, err
	}
	taken := []*entry{e}
	if e.Bulk != "" {
		taken = slices.DeleteFunc(d.outbox.waiting(""), func(x *entry) bool { return x.Bulk != e.Bulk })
	}
	for _, x := range taken {
		if x.typed && !d.outbox.secret[x.question.ID] {
			if err := d.keepDraft(*x.Draft); err != nil {
				return nil, err
			}
		}
		x.State = TakenBack
		d.outbox.remove(x)
		d.leaveToPeople(x)
	}
	d.keepOutbox()
	d.pump()
	back := taken[0].Entry
	return &back, nil
}

// findUnsent finds an entry that can still be taken back or sent, by id or with "" the newest.
func (d *Desk) findUnsent(id string) (*entry, error) {
	waiting := d.outbox.waiting("")
	if id == "" {
		if len(waiting) == 0 {
			return nil, &Error{Code: CodeNotFound, Message: "nothing is unsent", Remedy: "a decision can be taken back only before it is sent"}
		}
		newest := waiting[len(waiting)-1]
		for _, e := range waiting {
			if newest.byRule() || !e.byRule() {
				newest = e
			}
		}
		return newest, nil
	}
	for _, e := range d.outbox.entries {
		if e.ID != id {
			continue
		}
		if !e.waits() {
			return nil, &Error{Code: CodeConflict, Message: "it has been sent already", Remedy: "a decision can be taken back only before it is sent"}
		}
		return e, nil
	}
	return nil, &Error{Code: CodeNotFound, Message: "there is no such entry in the outbox", Remedy: "it may be at rest already"}
}

// SendNow ends the grace time of an entry ("": of all).
func (d *Desk) SendNow(id string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.o.Now()
	if id == "" {
		for _, e := range d.outbox.waiting("") {
			e.SendAt = now
		}
	} else {
		e, err := d.findUnsent(id)
		if err != nil {
			return err
		}
		e.SendAt, e.urgent = now, true
	}
	d.pump()
	return nil
}

// KeepAsDrafts takes all unsent entries back and keeps each as a draft marked not sent.
func (d *Desk) KeepAsDrafts() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	err := d.draftWaiting(d.outbox.waiting(""))
	d.pump()
	return err
}

// draftWaiting makes drafts of entries and takes them off the outbox; those it cannot write stay in its file.
func (d *Desk) draftWaiting(entries []*entry) error {
	var failed error
	for _, e := range entries {
		if err := d.draftEntry(e); err != nil {
			failed = err
			continue
		}
		e.State = TakenBack
		d.outbox.remove(e)
	}
	d.keepOutbox()
	return failed
}

// draftEntry keeps what an entry holds as a draft marked not sent.
func (d *Desk) draftEntry(e *entry) error {
	if d.outbox.secret[e.question.ID] || e.byRule() {
		return nil
	}
	x := *e.Draft
	x.NotSent, x.Saved = true, d.o.Now()
	return d.keepDraft(x)
}

// keepOutbox writes what is unsent. A failure is told in the log only: the entries are in memory, and refusing to
// send them would help nobody.
func (d *Desk) keepOutbox() {
	if err := d.files.writeOutbox(d.outbox.kept()); err != nil {
		d.o.Log.Error("outbox not written", "error", err)
	}
	d.hub.publish(Event{Kind: OutboxChanged})
}

// recover turns what a former process left unsent into drafts.
func (d *Desk) recover() error {
	held, err := d.files.left()
	if err != nil {
		return err
	}
	for _, id := range held {
		d.rules.leave[id] = true
	}
	d.outbox.drafts, d.outbox.secret, d.outbox.foreign = drafts{}, map[string]bool{}, map[string]bool{}
	all, err := d.files.drafts()
	if err != nil {
		return err
	}
	for _, x := range all {
		d.outbox.drafts[keyOf(x)] = x
	}
	if d.o.ReadOnly {
		return nil
	}
	return d.files.abandoned(func(s saved) error {
		x := s.Draft
		x.NotSent, x.Saved = true, d.o.Now()
		return d.keepDraft(x)
	})
}

// pump sends what is due and sets the timer for what comes next. d.mu is held.
func (d *Desk) pump() {
	if d.closed {
		return
	}
	now := d.o.Now()
	var next time.Time
	for _, thread := range d.outbox.threads() {
		send, at := d.outbox.due(thread, now)
		if !at.IsZero() && (next.IsZero() || at.Before(next)) {
			next = at
		}
		if len(send) == 0 {
			continue
		}
		if d.runs.has(thread) || d.outbox.foreign[thread] {
			for _, e := range send {
				e.State = Held
			}
			continue
		}
		d.sendEntries(thread, send)
	}
	d.startQueued()
	d.arm(next, now)
}

func (d *Desk) arm(next, now time.Time) {
	if next.Equal(d.outbox.timerAt) {
		return
	}
	d.outbox.disarm()
	if next.IsZero() {
		return
	}
	d.outbox.timerAt = next
	d.outbox.stop = d.o.AfterFunc(next.Sub(now), func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.outbox.stop, d.outbox.timerAt = nil, time.Time{}
		d.pump()
		d.hub.publish(Event{Kind: OutboxChanged})
	})
}
