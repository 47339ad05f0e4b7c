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
	Kind Kind
	Text string
}

// Diff is a diff ready to be drawn.
type Diff struct {
	Lines          []Line
	Added, Removed int // lines
	Total          int // lines of the new text, 0 when unknown
}

// maxWork bounds the texts that are compared line by line; two that are longer are shown as one replaced by the other.
const maxWork = 50_000

// Compare compares two raw texts. context is how many unchanged lines to keep around each change; below 0 all.
func Compare(before, after string, context int) Diff {
	before, after = sanitize.Text(before), sanitize.Text(after)
	old, cur := split(before), split(after)
	d := Diff{Total: len(cur)}
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
	for _, l := range lines {
		d.Lines = append(d.Lines, Line{k, l})
	}
	switch k {
	case Added:
		d.Added += len(lines)
	case Removed:
		d.Removed += len(lines)
	}
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
		out = append(out, Line{Hunk, plural(n-i, "unchanged line")})
		i = n
	}
	return out
}

// ParseUnified reads a raw text that is a unified diff already. Lines that are no part of one are kept as they are.
func ParseUnified(raw string) Diff {
	var d Diff
	for _, l := range split(sanitize.Text(raw)) {
		switch {
		case strings.HasPrefix(l, "+++"), strings.HasPrefix(l, "---"), strings.HasPrefix(l, "@@"),
			strings.HasPrefix(l, "diff "), strings.HasPrefix(l, "index "):
			d.put(Hunk, l)
		case strings.HasPrefix(l, "+"):
			d.put(Added, l[1:])
		case strings.HasPrefix(l, "-"):
			d.put(Removed, l[1:])
		default:
			d.put(Same, strings.TrimPrefix(l, " "))
		}
	}
	return d
}

// LooksUnified says whether a text is a unified diff.
func LooksUnified(raw string) bool {
	head := raw[:min(len(raw), 4096)]
	return strings.HasPrefix(head, "diff --git ") || strings.HasPrefix(head, "@@ -") ||
		strings.HasPrefix(head, "--- ") && strings.Contains(head, "\n+++ ")
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
