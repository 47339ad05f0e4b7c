package ui

import (
	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/ui/desktest"
)

var (
	_ Desk = (*desk.Masked)(nil)
	_ Desk = (*desktest.Desk)(nil)
)
