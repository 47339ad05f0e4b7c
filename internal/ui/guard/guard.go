// Package guard decides whether a key press that would decide something may do so: a held key decides once, and
// nothing is decided in the moments after the screen changed by itself.
//
// It knows nothing of questions or screens; the caller passes in the time.
package guard

import "time"

// The times of the design: how close two presses of one key are a held key, and how long the screen has to have
// stood still before a key may decide.
const (
	RepeatWindow = 80 * time.Millisecond
	SettleTime   = 300 * time.Millisecond

	// holdDelay is the longest time a keyboard waits before a held key begins to repeat. A second decision of one key
	// within it is the hold's if a third press follows within RepeatWindow.
	holdDelay = 1100 * time.Millisecond
)

// Verdict is what becomes of one press of a decision key.
type Verdict struct {
	OK       bool
	Why      string   // a sentence for the status line, when not OK
	TakeBack []Ticket // decisions the held key made beyond its first
}

// Ticket names a decision that Press let pass.
type Ticket int64

// Guard remembers what the last presses did. The zero value is ready to use.
type Guard struct {
	unsettled time.Time
	cause     string

	key     string // of the latest decision press, "" when another key came between
	at      time.Time
	latest  Ticket // decision of that press, 0 when it decided nothing
	suspect bool   // latest followed an earlier press of the same key within holdDelay
	issued  Ticket
}

// Unsettle says that what is drawn changed by itself at now: the selection moved on, the window got its focus, the
// program came back from a suspension or an editor, a dialog opened by itself. cause completes "nothing decided: ".
func (g *Guard) Unsettle(now time.Time, cause string) { g.unsettled, g.cause = now, cause }

// Other says that a key which decides nothing was pressed: the decision key is no longer held.
func (g *Guard) Other() { g.key, g.latest, g.suspect = "", 0, false }

// Press judges a press of the decision key at now; repeat is the terminal's own word that it is held. When the verdict
// is OK, Last names the decision.
func (g *Guard) Press(now time.Time, key string, repeat bool) Verdict {
	same := key == g.key
	gap := now.Sub(g.at)
	if repeat || same && gap < RepeatWindow {
		v := Verdict{Why: key + " is held: it decides once"}
		if g.latest != 0 && g.suspect {
			v.TakeBack = []Ticket{g.latest}
			v.Why = key + " is held: it decides once, the second is taken back"
		}
		g.key, g.at, g.latest = key, now, 0
		return v
	}
	suspect := same && gap < holdDelay
	g.key, g.at, g.latest, g.suspect = key, now, 0, suspect
	if !g.unsettled.IsZero() && now.Sub(g.unsettled) < SettleTime {
		return Verdict{Why: key + " dropped: " + g.cause + " just now, press it again"}
	}
	g.issued++
	g.latest = g.issued
	return Verdict{OK: true}
}

// Last is the ticket of the latest press that was let pass.
func (g *Guard) Last() Ticket { return g.issued }
