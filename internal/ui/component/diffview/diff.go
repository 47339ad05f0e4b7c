// Package diffview shows the difference of two texts, or one that is there already as a unified diff, line by line
// with + and - before each, so that it reads without colours too.
package diffview

import (
	"fmt"
	"strings"

	"github.com/aymanbagabas/go-udiff"
	"github.com/hitl-tui/hitl-tui/internal/sanitize"
)

// Kind is what a line of a diff is.
type Kind byte

// The kinds of lines.
const (
	Same    Kind = ' '
	Added   Kind = '+'
	Removed Kind = '-'
	Hunk    Kind = '@' // a heading: where in the file, which file
)

// Line is one line, safe, without its mark.
type Line struct {
	Kind     Kind
	Text     string
	Old, New int // its number in the text before and after, from 1; 0 where it is not in it, or where that is not known
}

// Diff is a diff ready to be drawn.
type Diff struct {
	Lines          []Line
	Added, Removed int // lines
	Total          int // lines of the new text, 0 when unknown

	old, cur int // number of the line that comes next in each text; 0 when unknown
}

// maxWork bounds the texts that are compared line by line; two that are longer are shown as one replaced by the other.
const maxWork = 50_000

// Compare compares two raw texts. context is how many unchanged lines to keep around each change; below 0 all.
func Compare(before, after string, context int) Diff {
	before, after = sanitize.Text(before), sanitize.Text(after)
	old, cur := split(before), split(after)
	d := Diff{Total: len(cur), old: 1, cur: 1}
	// What is equal at both ends needs no search.
	head := 0
	for head < len(old) && head < len(cur) && old[head] == cur[head] {
		head++
	}
	tail := 0
	for tail < len(old)-head && tail < len(cur)-head && old[len(old)-1-tail] == cur[len(cur)-1-tail] {
		tail++
	}
	d.put(Same, old[:head]...)
	d.middle(old[head:len(old)-tail], cur[head:len(cur)-tail])
	d.put(Same, old[len(old)-tail:]...)
	if context >= 0 {
		d.Lines = fold(d.Lines, context)
	}
	return d
}

func (d *Diff) middle(old, cur []string) {
	if len(old) == 0 || len(cur) == 0 || len(old)+len(cur) > maxWork {
		d.put(Removed, old...)
		d.put(Added, cur...)
		return
	}
	before, after := strings.Join(old, "\n")+"\n", strings.Join(cur, "\n")+"\n"
	u, err := udiff.ToUnifiedDiff("", "", before, udiff.Lines(before, after), len(old)+1)
	if err != nil || len(u.Hunks) == 0 {
		d.put(Removed, old...)
		d.put(Added, cur...)
		return
	}
	for _, h := range u.Hunks {
		for _, l := range h.Lines {
			kind := Same
			switch l.Kind {
			case udiff.Insert:
				kind = Added
			case udiff.Delete:
				kind = Removed
			}
			d.put(kind, strings.TrimSuffix(l.Content, "\n"))
		}
	}
}

func (d *Diff) put(k Kind, lines ...string) {
	for _, text := range lines {
		l := Line{Kind: k, Text: text}
		if k == Same || k == Removed {
			l.Old, d.old = take(d.old)
		}
		if k == Same || k == Added {
			l.New, d.cur = take(d.cur)
		}
		d.Lines = append(d.Lines, l)
	}
	switch k {
	case Added:
		d.Added += len(lines)
	case Removed:
		d.Removed += len(lines)
	}
}

// take gives the number of the next line and the one after it, as long as numbers are known.
func take(next int) (number, after int) {
	if next == 0 {
		return 0, 0
	}
	return next, next + 1
}

func split(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(s, "\n"), "\n")
}

// fold leaves out unchanged lines that are farther than context from a change.
func fold(lines []Line, context int) []Line {
	keep := make([]bool, len(lines))
	for i, l := range lines {
		if l.Kind != Same {
			for j := max(i-context, 0); j <= min(i+context, len(lines)-1); j++ {
				keep[j] = true
			}
		}
	}
	var out []Line
	for i := 0; i < len(lines); {
		if keep[i] {
			out = append(out, lines[i])
			i++
			continue
		}
		n := i
		for n < len(lines) && !keep[n] {
			n++
		}
		out = append(out, Line{Kind: Hunk, Text: plural(n-i, "unchanged line")})
		i = n
	}
	return out
}

// Summary is "no change", or "2 lines added, 1 removed of 48".
func (d Diff) Summary() string {
	if d.Added == 0 && d.Removed == 0 {
		return "no change"
	}
	var s string
	switch {
	case d.Removed == 0:
		s = plural(d.Added, "line") + " added"
	case d.Added == 0:
		s = plural(d.Removed, "line") + " removed"
	case d.Added == d.Removed:
		s = plural(d.Added, "line") + " changed"
	default:
		s = fmt.Sprintf("%s added, %d removed", plural(d.Added, "line"), d.Removed)
	}
	if d.Total > 0 {
		s += fmt.Sprintf(" of %d", d.Total)
	}
	return s
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
