package main

import (
	"context"
	"sync"

	"github.com/charmbracelet/x/term"

	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/ui"
	"github.com/hitl-tui/hitl-tui/internal/ui/keymap"
	"github.com/hitl-tui/hitl-tui/internal/ui/plain"
	"github.com/hitl-tui/hitl-tui/internal/ui/theme"
)

// openTheDesk opens the terminal desk, or without a terminal says what to use instead.
func (a *app) openTheDesk(ctx context.Context) error {
	s, err := a.setup()
	if err != nil {
		return err
	}
	if !a.accessible(s) && !a.interactive() {
		return &desk.Error{Code: desk.CodeUsage, Message: "the desk needs a terminal",
			Remedy: "use `hitl-tui --accessible`, which asks line by line, or `hitl-tui threads`, `hitl-tui questions` and `hitl-tui resume`"}
	}
	d, err := a.openWith(ctx, s, openWrite)
	if err != nil {
		return err
	}
	defer d.close()
	return a.showDesk(ctx, d)
}

// showDesk draws the desk until it is left. While it is open it applies deadlines and timers that fall due, and the rules:
// these only where a person sees what they answer, and can take it back.
func (a *app) showDesk(ctx context.Context, d *opened) error {
	defer a.keepTime(ctx, d)()
	defer a.attend(ctx, d)()
	s := d.setup.screen
	if a.accessible(d.setup) {
		o := plain.Options{In: a.in, Out: a.out, ReadOnly: a.flags.readOnly}
		if a.inTTY {
			o.Secret = func() (string, error) {
				line, err := term.ReadPassword(a.in.Fd())
				return string(line), err
			}
		}
		return plain.Run(ctx, d.Masked, o)
	}
	return ui.Run(ctx, d.Masked, ui.Options{
		Theme: s.theme, Themes: theme.Shelf{Dir: s.themes}, Keys: keymap.Overrides(s.keys), ReadOnly: a.flags.readOnly, StateDir: d.setup.state, Greet: true,
		Bell: or(s.is.Bell, true), Notify: or(s.is.Notify, false), NoMouse: !or(s.is.Mouse, true), ReducedMotion: s.still, ASCII: s.ascii,
		Grace: d.setup.grace, Views: s.views,
	})
}

// accessible tells whether the desk is to be plain questions and answers.
func (a *app) accessible(s setup) bool { return a.flags.accessible || or(s.is.Accessible, false) }

// or is what was set, else what holds without it.
func or(set *bool, otherwise bool) bool {
	if set != nil {
		return *set
	}
	return otherwise
}

// attend applies rules and runs hooks until the function it returns is called.
func (a *app) attend(ctx context.Context, d *opened) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var attendance sync.WaitGroup
	attendance.Go(func() {
		if err := d.Attend(ctx); err != nil && ctx.Err() == nil {
			d.logger.Error("rules and hooks ended", "error", err)
		}
	})
	return func() { cancel(); attendance.Wait() }
}

// keepTime applies deadlines, timers and the retention until the function it returns is called.
func (a *app) keepTime(ctx context.Context, d *opened) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var scheduler sync.WaitGroup
	if !a.flags.readOnly {
		scheduler.Go(func() {
			if err := d.Schedule(ctx); err != nil && ctx.Err() == nil {
				d.logger.Error("the schedule of deadlines and timers ended", "error", err)
			}
		})
		scheduler.Go(func() { d.KeepRetention(ctx) })
	}
	return func() { cancel(); scheduler.Wait() }
}
