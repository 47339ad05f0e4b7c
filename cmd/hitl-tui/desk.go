package main

import (
	"context"

	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/ui"
	"github.com/hitl-tui/hitl-tui/internal/ui/keymap"
)

// openTheDesk opens the terminal desk, or without a terminal says what to use instead.
func (a *app) openTheDesk(ctx context.Context) error {
	if !a.interactive() {
		return &desk.Error{Code: desk.CodeUsage, Message: "the desk needs a terminal", Remedy: "use `hitl-tui threads`, `hitl-tui questions` and `hitl-tui resume` here"}
	}
	d, err := a.open(ctx, openWrite)
	if err != nil {
		return err
	}
	defer d.close()
	return a.showDesk(ctx, d)
}

// showDesk draws the desk until it is left.
func (a *app) showDesk(ctx context.Context, d *opened) error {
	return ui.Run(ctx, d.Desk, ui.Options{Theme: d.setup.theme, Keys: keymap.Overrides(d.setup.keys), StateDir: d.setup.state, Bell: true, ReadOnly: a.flags.readOnly})
}
