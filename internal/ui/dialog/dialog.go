// Package dialog holds what opens over a page: questions with yes or no, palette, help, menus and lists.
//
// A dialog is a value without side effects. It takes keys and answers each with a Result that says what the person
// wants; only the root acts on it. Text that is passed in is raw outside text and is made safe here.
package dialog

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/sanitize"
	"github.com/hitl-tui/hitl-tui/internal/ui/cell"
	"github.com/hitl-tui/hitl-tui/internal/ui/command"
	"github.com/hitl-tui/hitl-tui/internal/ui/keymap"
	"github.com/hitl-tui/hitl-tui/internal/ui/theme"
)

// Dialog is what the root needs of every dialog.
type Dialog interface {
	Scope() command.Scope        // for the footer: whose keys are live
	Update(msg tea.Msg) Result   // a key press or a paste
	SetSize(w, h int)            // the most it may take: the screen
	SetTheme(th *theme.Theme)    // colours have changed
	View() string                // its box, no larger than the size
	Cursor() (x, y int, ok bool) // of a text field, within the box
}

// Result is what a key led to. It is one of the types below.
type Result interface{ result() }

// The results.
type (
	// Stay: the dialog goes on.
	Stay struct{}
	// AtSend: the dialog goes on, and its [Send] got the focus without being gone to: the next Enter decides.
	AtSend struct{}
	// Closed: the dialog is over and nothing is to be done.
	Closed struct{}
	// Confirmed: yes, or the right count was typed.
	Confirmed struct{}
	// Picked: an item of an Ask, by its ID.
	Picked struct{ ID string }
	// Run: a command picked in the palette.
	Run struct{ ID command.ID }
	// TakeAction: an allowed action picked in the menu; its pane is to be opened, nothing is decided yet.
	TakeAction struct{ Action actions.Action }
	// Chosen: options by their place in the question, in that order; this decides.
	Chosen struct{ Options []int }
	// GoTo: show this thread.
	GoTo struct{ Thread string }
	// SendEntry: end the grace time of this entry of the outbox.
	SendEntry struct{ ID string }
	// TakeBackEntry: take this entry of the outbox back.
	TakeBackEntry struct{ ID string }
)

func (Stay) result()          {}
func (AtSend) result()        {}
func (Closed) result()        {}
func (Confirmed) result()     {}
func (Picked) result()        {}
func (Run) result()           {}
func (TakeAction) result()    {}
func (Chosen) result()        {}
func (GoTo) result()          {}
func (SendEntry) result()     {}
func (TakeBackEntry) result() {}

// Kit is what every dialog is made with.
type Kit struct {
	Theme *theme.Theme
	Keys  *keymap.Map
	Hides func(command.Command) bool // commands that are not to be shown; nil: none
	Still bool                       // nothing counts down
}

func (k Kit) shows(c command.Command) bool { return k.Hides == nil || !k.Hides(c) }

// frame is the box around a dialog.
type frame struct {
	kit  Kit
	w, h int // of the screen
	most int // width it takes at most
}

func (f *frame) SetSize(w, h int)         { f.w, f.h = max(w, 0), max(h, 0) }
func (f *frame) SetTheme(th *theme.Theme) { f.kit.Theme = th }

// inner is the room inside of the frame.
func (f *frame) inner() (w, h int) { return max(min(f.w, f.most)-4, 1), max(f.h-2, 1) }

// draw puts a frame with a title around lines, as high as they are, at most as high as the screen.
func (f *frame) draw(title string, lines []string) string {
	if f.w < 4 || f.h < 2 {
		return cell.Block(lines, f.w, f.h)
	}
	w, h := f.inner()
	lines = lines[:min(len(lines), h)]
	edge := f.kit.Theme.Accent
	head := cell.Clip(" "+sanitize.Line(title)+" ", w+1)
	var b strings.Builder
	b.WriteString(edge.Render("╭─" + head + strings.Repeat("─", w+1-cell.Width(head)) + "╮"))
	for _, l := range lines {
		b.WriteString("\n" + edge.Render("│") + " " + cell.Fit(l, w) + " " + edge.Render("│"))
	}
	b.WriteString("\n" + edge.Render("╰"+strings.Repeat("─", w+2)+"╯"))
	return b.String()
}

// resolve finds the command of a key in the dialog's scopes.
func (f *frame) resolve(msg tea.Msg, scope command.Scope) command.ID {
	key, ok := msg.(tea.KeyPressMsg)
	if !ok {
		return ""
	}
	id, _ := f.kit.Keys.In(key, scope)
	return id
}

// hints draws a line of keys and what they do.
func (f *frame) hints(pairs ...string) string {
	var parts []string
	for i := 0; i+1 < len(pairs); i += 2 {
		parts = append(parts, f.kit.Theme.Key.Render(pairs[i])+" "+f.kit.Theme.Muted.Render(pairs[i+1]))
	}
	return strings.Join(parts, "  ")
}

func noCursor() (x, y int, ok bool) { return 0, 0, false }
