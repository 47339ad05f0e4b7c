// Package path shortens the way a thread took for showing it.
package path

import (
	"fmt"
	"slices"
	"strconv"
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
// stand alike: triage/0-6,9/check@1 (8). It took as long as the longest of them.
func Fold(steps []desk.PathStep) []desk.PathStep {
	var out []desk.PathStep
	for len(steps) > 0 {
		name, n := anyItem(steps[0].Run), 1
		for name != steps[0].Run && n < len(steps) && anyItem(steps[n].Run) == name {
			n++
		}
		out = append(out, alike(steps[:n])...)
		steps = steps[n:]
	}
	return out
}

// alike makes one step of those that have the same status and decision.
func alike(steps []desk.PathStep) []desk.PathStep {
	if len(steps) == 1 {
		return steps
	}
	type kind struct{ status, decision string }
	at := map[kind]int{}
	var out []desk.PathStep
	var runs [][]string
	for _, s := range steps {
		k := kind{s.Status, s.Decision}
		i, ok := at[k]
		if !ok {
			i = len(out)
			at[k] = i
			out, runs = append(out, s), append(runs, nil)
		}
		runs[i] = append(runs[i], s.Run)
		out[i].TookMS = max(out[i].TookMS, s.TookMS)
	}
	for i := range out {
		if n := len(runs[i]); n > 1 {
			out[i].Run = fmt.Sprintf("%s (%d)", together(runs[i]), n)
		}
	}
	return out
}

// together is one name for the runs of a node for several items: with the numbers of the items, or with * where there are
// too many to read or those of several maps.
func together(runs []string) string {
	const longest = 12
	segments := strings.Split(anyItem(runs[0]), "/")
	varied := ""
	for i, s := range segments {
		if s != "*" {
			continue
		}
		var items []int
		for _, run := range runs {
			n, _ := strconv.Atoi(strings.Split(run, "/")[i])
			items = append(items, n)
		}
		text := ranges(items)
		if strings.Trim(text, "0123456789") == "" {
			segments[i] = text
			continue
		}
		if varied != "" || len(text) > longest {
			return anyItem(runs[0])
		}
		varied, segments[i] = text, text
	}
	return strings.Join(segments, "/")
}

// ranges writes numbers as 0-3,7.
func ranges(numbers []int) string {
	slices.Sort(numbers)
	numbers = slices.Compact(numbers)
	var parts []string
	for i := 0; i < len(numbers); {
		j := i
		for j+1 < len(numbers) && numbers[j+1] == numbers[j]+1 {
			j++
		}
		part := strconv.Itoa(numbers[i])
		if j > i {
			part += "-" + strconv.Itoa(numbers[j])
		}
		parts = append(parts, part)
		i = j + 1
	}
	return strings.Join(parts, ",")
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

// Line is the node runs of one step in at most w cells: folded, as many as fit, the first shortened where it must be, and
// how many others there are.
func Line(runs []string, w int) string {
	names := Names(runs)
	if whole := strings.Join(names, ", "); len(names) == 0 || cell.Width(whole) <= w {
		return whole
	}
	for n := len(names) - 1; n > 0; n-- {
		more := fmt.Sprintf(" +%d", len(names)-n)
		line := strings.Join(names[:n], ", ")
		if n == 1 {
			line = Short(line, max(w-len(more), min(w, 4)))
		}
		if cell.Width(line)+len(more) <= w {
			return line + more
		}
	}
	return Short(names[0], w)
}

// Short is the name of a node run in at most w cells. That it is the first run is left out first, then what is around the
// node, from outside; the number of the item goes last.
func Short(run string, w int) string {
	if cell.Width(run) <= w {
		return run
	}
	name, count, folded := strings.Cut(run, " (")
	first := strings.TrimSuffix(name, "@1")
	if folded {
		first += " (" + count
	}
	segments := strings.Split(first, "/")
	last := len(segments) - 1
	node, item := segments[last], ""
	if last > 0 && isItem(segments[last-1]) {
		item = segments[last-1] + "/"
	}
	for i := range segments {
		if i == last && item != "" {
			break
		}
		inner := strings.Join(segments[i:], "/")
		if i > 0 {
			inner = "…/" + inner
		}
		if cell.Width(inner) <= w {
			return inner
		}
	}
	if room := w - cell.Width(item); room > 1 {
		return item + cell.Clip(node, room)
	}
	return cell.Clip(node, w)
}

// isItem reports whether a segment stands for one item of a map or several; nodes have no numbers as names.
func isItem(s string) bool { return s != "" && strings.Trim(s, "0123456789-,*") == "" }

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
