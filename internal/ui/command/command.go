// Package command holds the one table of everything the desk can do: what it is called, which keys call it, what it
// does. Keymap, help, palette, footer, `hitl-tui keys` and docs/keys.md are all made from this table and repeat
// none of it.
//
// It only describes. What a command does is done by the root and the pages, which switch on the ID.
package command

import (
	"slices"
	"strings"
	"sync"

	"github.com/hitl-tui/hitl-tui/internal/actions"
)

// Scope is where a command's keys are live. Scopes stack: see Stack.
type Scope string

// The scopes.
const (
	Global    Scope = "global"    // everywhere but in a text field and in a dialog
	Review    Scope = "review"    // inbox and question: one scope, so that decision keys are the same in both
	Question  Scope = "question"  // in addition, while the question has the focus
	Running   Scope = "running"   // the tab
	Failed    Scope = "failed"    // the tab
	Finished  Scope = "finished"  // the tab
	Thread    Scope = "thread"    // one thread watched or looked at
	History   Scope = "history"   // steps of one thread
	Retention Scope = "retention" // prune and delete
	Activity  Scope = "activity"  // who decided what
	Editor    Scope = "editor"    // the pane in which an answer is written
	Chooser   Scope = "chooser"   // the options of a question
	Menu      Scope = "menu"      // a list to pick from: actions, messages, outbox, palette, help
	Outbox    Scope = "outbox"    // in addition, in the outbox list
	Dialog    Scope = "dialog"    // yes or no
	Prompt    Scope = "prompt"    // one line of text: search, filter, typed count
)

// Scopes lists all scopes in the order in which help and docs show them.
func Scopes() []Scope {
	return []Scope{Global, Review, Question, Running, Failed, Finished, Thread, History, Activity, Retention, Editor, Chooser,
		Menu, Outbox, Dialog, Prompt}
}

// Title is the heading of a scope in help and docs.
func (s Scope) Title() string {
	switch s {
	case Global:
		return "Everywhere (not while a text field has the focus)"
	case Review:
		return "Inbox and question (the decision keys act on the question that is drawn)"
	case Question:
		return "Question has the focus, in addition"
	case Running, Failed, Finished:
		return strings.ToUpper(string(s[:1])) + string(s[1:]) + " tab, in addition"
	case Editor:
		return "Editor pane (all of the above is dead)"
	case Chooser:
		return "Chooser"
	case Menu:
		return "Lists and menus"
	case Outbox:
		return "Outbox, in addition"
	case Dialog:
		return "Yes or no"
	case Prompt:
		return "One line of text"
	}
	return strings.ToUpper(string(s[:1])) + string(s[1:])
}

// Stack lists, innermost first, the scopes whose keys are live where s has the focus. What takes text or asks
// something shuts out everything outside of it: a key typed there can never decide.
func Stack(s Scope) []Scope {
	switch s {
	case Global, Editor, Chooser, Menu, Dialog, Prompt:
		return []Scope{s}
	case Question:
		return []Scope{Question, Review, Global}
	case Outbox:
		return []Scope{Outbox, Menu}
	}
	return []Scope{s, Global}
}

// Effect is what a press of the key leads to.
type Effect string

// The effects. Only Fires changes something at once.
const (
	Plain Effect = ""      // moves, shows, switches
	Fires Effect = "FIRES" // decides with this one key
	Asks  Effect = "asks"  // asks y first
	Pane  Effect = "pane"  // opens a pane to write in
	List  Effect = "list"  // opens a list to pick from
)

// ID names a command: SCOPE.NAME. Users remap keys by scope and name.
type ID string

// Scope is the part before the dot.
func (id ID) Scope() Scope { s, _, _ := strings.Cut(string(id), "."); return Scope(s) }

// Name is the part behind the dot.
func (id ID) Name() string { _, n, _ := strings.Cut(string(id), "."); return n }

// ForAction is the command of a response action.
func ForAction(a actions.Action) ID { return ID(string(Review) + "." + string(a)) }

// Command is one row of the table.
type Command struct {
	ID     ID
	Keys   []string       // default keys, the one to show first; none: by the palette only
	Title  string         // in menus and palette
	Footer string         // label in the footer; "" never shown there
	Help   string         // one line
	Effect Effect         // what one press does
	Action actions.Action // the response action, "" for none
	Hidden bool           // not in the palette: it makes sense only where it is pressed
}

// Changes tells whether a command decides, runs, claims or destroys something. Read-only mode hides these.
func (c Command) Changes() bool {
	switch c.ID {
	case Mark, MarkTo, Unmark, ActOnMarked, Claim, TakeBack, NewThread, CancelRun, CarryOn, CarryOnBeside, ThreadCancel, ThreadCarryOn,
		Fork, EditState, Prune, StopPrune, DeleteFailed, DeleteDone, DeleteMarked, MarkThread, MarkRange, UnmarkAll, SwitchRules:
		return true
	}
	return c.Action != ""
}

// Scope is where the command's keys are live.
func (c Command) Scope() Scope { return c.ID.Scope() }

// Table lists all commands, by scope and then in the order in which help shows them. The caller owns the slice.
func Table() []Command {
	return slices.Concat(global(), review(), tabs(), history(), activity(), retention(), panes())
}

// index is the table by ID, made once and never changed.
var index = sync.OnceValue(func() map[ID]Command {
	byID := map[ID]Command{}
	for _, c := range Table() {
		byID[c.ID] = c
	}
	return byID
})

// Find looks a command up. It is asked for with every key and every frame.
func Find(id ID) (Command, bool) {
	c, ok := index()[id]
	return c, ok
}

// In lists the commands of one scope.
func In(s Scope) []Command {
	return slices.DeleteFunc(Table(), func(c Command) bool { return c.Scope() != s })
}
