package checkpoint

import (
	"encoding/json"
	"fmt"
	"time"
)

// LeaseState is a thread's lease as a store keeps it, with the answers accepted under it and not yet applied. Its
// methods are the rules of the lease, the same for every backend, which calls them inside its own transaction and
// stores what becomes of the value. An expired lease is a lost one, whether or not somebody took it.
type LeaseState struct {
	Token       string // "" when nobody holds it
	Holder      string
	Until       time.Time
	Answers     []json.RawMessage
	Own         int // how many of the last Answers came with the present lease
	Cancel      bool
	CancelledBy string
}

// Live reports whether the lease is held at now.
func (l *LeaseState) Live(now time.Time) bool { return l.Token != "" && now.Before(l.Until) }

// Info is what others may know of the lease, nil when there is nothing to know.
func (l *LeaseState) Info(now time.Time) *LeaseInfo {
	if l.Token == "" && len(l.Answers) == 0 {
		return nil
	}
	return &LeaseInfo{Holder: l.Holder, Until: l.Until, Live: l.Live(now), Answers: len(l.Answers),
		CancelRequested: l.Cancel, CancelledBy: l.CancelledBy}
}

// Acquire takes the lease for r on a thread whose head is head.
func (l *LeaseState) Acquire(r *LeaseRequest, head Version, now time.Time) error {
	if r.Token == "" || r.TTL <= 0 {
		return fmt.Errorf("lease of thread %s: a token and a time to live are needed", r.Thread)
	}
	if l.Live(now) {
		return &LeasedError{Thread: r.Thread, Holder: l.Holder, Until: l.Until}
	}
	if !r.Head.Matches(head) {
		return &ConflictError{Thread: r.Thread, Step: r.Head.Step, Expected: r.Head.Revision, Actual: head.Revision,
			Reason: fmt.Sprintf("version %s was expected, the head is %s", r.Head, head)}
	}
	if r.Seen != len(l.Answers) {
		return &ConflictError{Thread: r.Thread, Step: head.Step, Expected: int64(r.Seen), Actual: int64(len(l.Answers)),
			Reason: fmt.Sprintf("%d accepted answers are unapplied, %d were expected", len(l.Answers), r.Seen)}
	}
	answers := make([]json.RawMessage, 0, len(l.Answers)+len(r.Answers))
	answers = append(append(answers, l.Answers...), r.Answers...)
	*l = LeaseState{Token: r.Token, Holder: r.Holder, Until: Micro(now.Add(r.TTL)), Answers: answers, Own: len(r.Answers)}
	return nil
}

// Held is nil while token holds the lease at now, else a *ConflictError.
func (l *LeaseState) Held(thread, token string, now time.Time) error {
	if token != "" && l.Token == token && now.Before(l.Until) {
		return nil
	}
	reason := "the lease is lost: nobody holds it"
	switch {
	case l.Token != "" && l.Token == token:
		reason = "the lease is lost: it ran out at " + l.Until.UTC().Format(time.RFC3339)
	case l.Live(now):
		reason = fmt.Sprintf("the lease is lost: %s holds it until %s", l.Holder, l.Until.UTC().Format(time.RFC3339))
	}
	return &ConflictError{Thread: thread, Reason: reason}
}

// Renew prolongs a held lease and tells what its holder is to know.
func (l *LeaseState) Renew(ttl time.Duration, now time.Time) Heartbeat {
	l.Until = Micro(now.Add(ttl))
	return Heartbeat{Until: l.Until, CancelRequested: l.Cancel, CancelledBy: l.CancelledBy}
}

// Committed keeps the last keep answers, whose effects the commit does not hold yet.
func (l *LeaseState) Committed(thread string, keep int, release bool) error {
	if keep < 0 || keep > len(l.Answers) {
		return fmt.Errorf("commit on thread %s keeps %d answers of %d", thread, keep, len(l.Answers))
	}
	l.Answers = l.Answers[len(l.Answers)-keep:]
	l.Own = min(l.Own, keep)
	if release {
		l.GiveBack(false)
	}
	return nil
}

// GiveBack ends the lease. Answers stay for whoever takes over, except that withdraw drops those of this lease.
func (l *LeaseState) GiveBack(withdraw bool) {
	answers := l.Answers
	if withdraw {
		answers = answers[:len(answers)-l.Own]
	}
	*l = LeaseState{Answers: answers}
}
