package main

import (
	"context"
	"fmt"

	"github.com/hitl-tui/hitl-tui/internal/desk/wire"
	"github.com/hitl-tui/hitl-tui/internal/ui/component/graph"
)

// graphWidth is how wide a graph is drawn where the output is no terminal.
const graphWidth = 80

// showGraph draws the workflow of a thread with the way it took.
func (a *app) showGraph(ctx context.Context, d *opened, thread string) error {
	g, err := d.Graph(ctx, thread)
	if err != nil {
		return err
	}
	if a.flags.json {
		return a.printJSON(wire.FromGraph(g))
	}
	width := a.width
	if width <= 0 {
		width = graphWidth
	}
	for _, line := range graph.New(g, width, 0).Lines(graph.Plain) {
		fmt.Fprintln(a.out, line)
	}
	return nil
}
