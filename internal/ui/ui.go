// Package ui is the terminal desk: one Bubble Tea model that routes, and pages, dialogs and components below it that
// are plain values.
//
// # How it is put together
//
// A key press goes to the dialog on top, else to the open pane, else through the keymap to a command, and the command
// to a method of the root or of the page that is shown. Nothing here reads or writes by itself: Update and View never
// touch the desk, every call of it is a tea.Cmd with a context, and its result comes back as a message that knows how
// to apply itself. Dialogs and pages return values; only the root acts on them.
package ui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/ui/keymap"
	"github.com/hitl-tui/hitl-tui/internal/ui/theme"
)

// Options are the settings of a desk. The zero value works.
type Options struct {
	Theme    string           // name; "" is the default
	Themes   theme.Shelf      // where it is found
	Keys     keymap.Overrides // the user's own keys
	ReadOnly bool             // nothing that decides, runs or destroys
	StateDir string           // for the files handed to $EDITOR; "" is the system's temporary folder
	Greet    bool             // tell who is new the first keys, until a decision or Esc; StateDir remembers it
	Env      []string         // nil: the process's
	Input    io.Reader        // nil: the terminal
	Output   io.Writer        // nil: the terminal
	Now      func() time.Time // nil: time.Now
	Grace    time.Duration    // how long the desk lets an answer be taken back, to be told; 0: 5 s
	Bell     bool             // ring when a question comes while the window has not the focus
	Notify   bool             // ask the terminal for a notification then
	NoMouse  bool             // leave the mouse to the terminal, unless the palette takes it

	ReducedMotion bool // nothing counts down: times are said once
	ASCII         bool // nothing else is drawn: the terminal shows no more

	Views []View // filters kept under names

	// Program is appended to the options of the Bubble Tea program: tests give it a size and a frame rate.
	Program []tea.ProgramOption
}

// View is a filter that is kept under a name.
type View struct {
	Name   string
	Filter string
	Tab    desk.Tab // "" stays where one is
	Sort   string   // "" leaves the order
}

// Run shows the desk until the reviewer leaves it or ctx ends. It does not close d.
func Run(ctx context.Context, d Desk, o Options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	// Signals end ctx, with the signal as its cause; the library's own handler would make a mere quit of them.
	var program *tea.Program
	var rest rest
	filter := coalesce()
	po := []tea.ProgramOption{tea.WithContext(ctx), tea.WithoutSignalHandler(), tea.WithFilter(func(m tea.Model, msg tea.Msg) tea.Msg {
		rest.moved(program)
		return filter(m, msg)
	})}
	if o.Env == nil {
		o.Env = os.Environ()
	}
	po = append(po, tea.WithEnvironment(o.Env))
	if getenv(o.Env, "NO_COLOR") != "" {
		po = append(po, tea.WithColorProfile(colorprofile.ASCII))
	}
	if o.Input != nil {
		po = append(po, tea.WithInput(o.Input))
	}
	if o.Output != nil {
		po = append(po, tea.WithOutput(o.Output))
	}
	program = tea.NewProgram(New(ctx, d, o), append(po, o.Program...)...)
	defer keepTitle(o)()
	_, err := program.Run()
	rest.end()
	switch {
	case errors.Is(err, tea.ErrProgramPanic):
		return fmt.Errorf("the desk crashed; unsent answers are kept as drafts: %w", err)
	case errors.Is(err, tea.ErrInterrupted), errors.Is(err, tea.ErrProgramKilled) && ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return fmt.Errorf("terminal desk: %w", err)
	}
	return nil
}

// keepTitle has the terminal keep the title of its window, and gives it back when the function it returns is called.
func keepTitle(o Options) (restore func()) {
	const push, pop = "\x1b[22;2t", "\x1b[23;2t"
	var out io.Writer = os.Stdout
	if o.Output != nil {
		out = o.Output
	}
	if strings.HasPrefix(getenv(o.Env, "TERM"), "linux") {
		return func() {}
	}
	_, _ = io.WriteString(out, push) // a terminal that cannot be written to ends the program by itself
	return func() { _, _ = io.WriteString(out, pop) }
}

// getenv reads one variable of an environment in the form NAME=value; the last one counts.
func getenv(env []string, name string) string {
	value := ""
	for _, e := range env {
		if len(e) > len(name) && e[len(name)] == '=' && e[:len(name)] == name {
			value = e[len(name)+1:]
		}
	}
	return value
}

// coalesce lets through at most one mouse wheel or motion event in 16 ms: a touchpad sends hundreds.
func coalesce() func(tea.Model, tea.Msg) tea.Msg {
	var last time.Time
	return func(_ tea.Model, msg tea.Msg) tea.Msg {
		switch msg.(type) {
		case tea.MouseWheelMsg, tea.MouseMotionMsg:
			if now := time.Now(); now.Sub(last) >= 16*time.Millisecond {
				last = now
				return msg
			}
			return nil
		}
		return msg
	}
}
