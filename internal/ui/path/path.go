// Package path shortens the way a thread took for showing it.
package path

import (
	"fmt"
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/ui/cell"
)

// Latest is a path with each node run once, as it stands now: a run that waited and was then answered is one run.
func Latest(steps []desk.PathStep) []desk.PathStep {
	var out []desk.PathStep
	at := map[string]int{}
	for _, s := range steps {
		if i, ok := at[s.Run]; ok && s.Run != "" {
			if s.TookMS == 0 {
				s.TookMS = out[i].TookMS
			}
			out[i] = s
			continue
		}
		at[s.Run] = len(out)
		out = append(out, s)
	}
	return out
}

// Fold makes one step of those which follow each other and are runs of one node for several items of a map, where they
// stand alike: triage/*/check@1 (8). It took as long as the longest of them.
func Fold(steps []desk.PathStep) []desk.PathStep {
	var out []desk.PathStep
	for len(steps) > 0 {
		name, n := anyItem(steps[0].Run), 1
		for name != steps[0].Run && n < len(steps) && anyItem(steps[n].Run) == name {
			n++
		}
		out = append(out, alike(name, steps[:n])...)
		steps = steps[n:]
	}
	return out
}

// alike makes one step of those that have the same status and decision.
func alike(name string, steps []desk.PathStep) []desk.PathStep {
	if len(steps) == 1 {
		return steps
	}
	type kind struct{ status, decision string }
	at := map[kind]int{}
	var out []desk.PathStep
	var count []int
	for _, s := range steps {
		k := kind{s.Status, s.Decision}
		i, ok := at[k]
		if !ok {
			i = len(out)
			at[k] = i
			out, count = append(out, s), append(count, 0)
		}
		count[i]++
		out[i].TookMS = max(out[i].TookMS, s.TookMS)
	}
	for i, n := range count {
		if n > 1 {
			out[i].Run = fmt.Sprintf("%s (%d)", name, n)
		}
	}
	return out
}

// Names folds the names of node runs.
func Names(runs []string) []string {
	steps := make([]desk.PathStep, len(runs))
	for i, run := range runs {
		steps[i].Run = run
	}
	steps = Fold(steps)
	names := make([]string, len(steps))
	for i, s := range steps {
		names[i] = s.Run
	}
	return names
}

// Line is the node runs of one step in about w cells: folded, and shortened until at least the first is whole. What is
// still too long is the caller's to cut.
func Line(runs []string, w int) string {
	names := Names(runs)
	switch {
	case len(names) == 1:
		return Short(names[0], w)
	case len(names) > 1 && cell.Width(names[0])+len(", …") > w:
		for i, name := range names {
			names[i] = name[strings.LastIndexByte(name, '/')+1:]
		}
	}
	return strings.Join(names, ", ")
}

// Short is the name of a node run in at most w cells: what is around the node is left out first, from outside.
func Short(run string, w int) string {
	if cell.Width(run) <= w {
		return run
	}
	for {
		_, inner, ok := strings.Cut(run, "/")
		if !ok {
			return cell.Clip(run, w)
		}
		if short := "…/" + inner; cell.Width(short) <= w {
			return short
		}
		run = inner
	}
}

// anyItem is a node run with the numbers of the items around it left open; nodes have no numbers as names.
func anyItem(run string) string {
	if !strings.Contains(run, "/") {
		return run
	}
	segments := strings.Split(run, "/")
	for i, s := range segments {
		if s != "" && strings.Trim(s, "0123456789") == "" {
			segments[i] = "*"
		}
	}
	return strings.Join(segments, "/")
}
