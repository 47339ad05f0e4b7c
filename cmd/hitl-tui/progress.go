package main

import (
	"fmt"
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/sanitize"
)

// progress is what shows on standard error, line by line, how a run goes on: which nodes run, what programs and models
// say, and which attempts fail. It is nil, and nothing is shown, where standard error is no terminal, with --quiet and
// with --json.
func (a *app) progress() func(desk.Event) {
	if !a.errTTY || a.flags.quiet || a.flags.json {
		return nil
	}
	return func(e desk.Event) {
		// Of a node that ran once, as most do, the number of the run says nothing.
		name := sanitize.Line(strings.TrimSuffix(e.Run, "@1"))
		if name == "" {
			return
		}
		for _, line := range told(e) {
			fmt.Fprintf(a.err, "  %s%s\n", name, line)
		}
	}
}

// told is what an event says of its node, a line each. An error is told by its first line: what a program said stands
// above it, and the error that ends a run is told whole at its end.
func told(e desk.Event) []string {
	lines := strings.Split(strings.TrimRight(sanitize.Text(e.Text), "\n"), "\n")
	switch {
	case e.Failed && e.Retried:
		return []string{fmt.Sprintf(" attempt %d failed, the next in %s: %s", e.Attempt, e.RetryIn, lines[0])}
	case e.Failed:
		return []string{" failed: " + lines[0]}
	case e.Status == "FAILED": // its error was told
		return nil
	case e.Status != "":
		return []string{" " + strings.ToLower(sanitize.Line(e.Status))}
	case e.Text == "":
		return nil
	}
	for i, line := range lines {
		lines[i] = ": " + line
	}
	return lines
}
