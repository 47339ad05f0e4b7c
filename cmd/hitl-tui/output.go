package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"github.com/hitl-tui/hitl-tui/internal/config"
	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/sanitize"
)

// printJSON writes one document. Characters that could act on a terminal are escaped as JSON: the values stay the same.
func (a *app) printJSON(v any) error {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if a.outTTY {
		encoder.SetIndent("", "  ")
	}
	if err := encoder.Encode(v); err != nil {
		return err
	}
	_, err := a.out.Write(escapeActing(b.Bytes()))
	return err
}

// escapeActing escapes what JSON leaves as it is: DEL, the C1 controls, which many terminals obey, and the invisible
// characters that turn the direction of a text or hide in it. All of these can only stand in strings.
func escapeActing(doc []byte) []byte {
	acts := func(r rune) bool { return r >= 0x7f && r <= 0x9f || unicode.Is(unicode.Cf, r) }
	if bytes.IndexFunc(doc, acts) < 0 {
		return doc
	}
	out := make([]byte, 0, len(doc)+64)
	for _, r := range string(doc) {
		if !acts(r) {
			out = utf8.AppendRune(out, r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			out = fmt.Appendf(out, `\u%04x`, unit)
		}
	}
	return out
}

// say writes a line of progress or advice, to standard error, unless --quiet.
func (a *app) say(format string, args ...any) {
	if !a.flags.quiet {
		fmt.Fprintf(a.err, format+"\n", args...)
	}
}

// tell writes an error: what failed and what to do about it.
func (a *app) tell(err error) {
	fmt.Fprintf(a.err, "hitl-tui: %s\n", sanitize.Text(a.safe(err, strings.TrimRight(desk.Explain(err), "\n"))))
}

// safe masks the secrets in what is told of an error. A fault of the configuration holds none: it quotes no line with one,
// and names keys before what it says of them, which would be taken for their values.
func (a *app) safe(err error, text string) string {
	var fault *config.Error
	if errors.As(err, &fault) {
		return text
	}
	return a.redact.Text(text)
}

// table writes rows in columns. Cells are outside text and made safe here. Where a terminal is narrower than the rows, columns
// in which nothing stands are left out, then the column grow gives way, then the widest; what has no place even then is left
// out from the right. The first column, by which a row is named, stays whole. Without a terminal everything is.
type table struct {
	head []string
	rows [][]string
	grow int
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

func (a *app) printTable(t table) {
	all := append([][]string{t.head}, t.rows...)
	widths := make([]int, len(t.head))
	for _, row := range all {
		for i := range row {
			row[i] = sanitize.Line(row[i])
			widths[i] = max(widths[i], ansi.StringWidth(row[i]))
		}
	}
	if a.width > 0 {
		t.fit(widths, a.width)
	}
	for _, row := range all {
		var line strings.Builder
		for i, cell := range row {
			if widths[i] == 0 {
				continue
			}
			cell = ansi.Truncate(cell, widths[i], "…")
			line.WriteString(cell + strings.Repeat(" ", widths[i]-ansi.StringWidth(cell)+2))
		}
		fmt.Fprintln(a.out, strings.TrimRight(line.String(), " "))
	}
}

// The least widths of the column that gives way and of the others.
const (
	leastGrow  = 8
	leastWidth = 4
)

// fit makes the columns as narrow as a terminal; 0 leaves one out.
func (t *table) fit(widths []int, terminal int) {
	over := func() int {
		total := -2
		for _, w := range widths {
			if w > 0 {
				total += w + 2
			}
		}
		return total - terminal
	}
	for i := range widths {
		empty := !slices.ContainsFunc(t.rows, func(row []string) bool { return row[i] != "" })
		if over() > 0 && empty && len(t.rows) > 0 {
			widths[i] = 0
		}
	}
	if n := over(); n > 0 && t.grow > 0 {
		widths[t.grow] = max(min(leastGrow, widths[t.grow]), widths[t.grow]-n)
	}
	for over() > 0 {
		widest := 1
		for i := 1; i < len(widths); i++ {
			if widths[i] > widths[widest] {
				widest = i
			}
		}
		if widest >= len(widths) || widths[widest] <= leastWidth {
			break
		}
		widths[widest]--
	}
	for i := len(widths) - 1; i > 0 && over() > 0; i-- {
		widths[i] = 0
	}
	if over() > 0 {
		widths[0] = max(1, terminal)
	}
}

// printWrapped prints lines of columns that begin at some cells; where a terminal is too narrow a line goes on below the last
// column that leaves it room.
func (a *app) printWrapped(text string, columns []int) {
	const leastText = 24
	hang := columns[0]
	for _, c := range columns {
		if a.width-c >= leastText {
			hang = c
		}
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if a.width <= 0 || ansi.StringWidth(line) <= a.width {
			fmt.Fprintln(a.out, line)
			continue
		}
		indent := strings.Repeat(" ", hang)
		head := ansi.Truncate(line, hang, "")
		rest := strings.Split(ansi.Wrap(strings.TrimPrefix(line, head), max(1, a.width-hang), ""), "\n")
		fmt.Fprintln(a.out, strings.TrimRight(head+rest[0], " "))
		for _, more := range rest[1:] {
			fmt.Fprintln(a.out, indent+strings.TrimSpace(more))
		}
	}
}

// age is a duration as lists show it: the largest unit, whole.
func age(d time.Duration) string {
	switch {
	case d < 0:
		return "-" + age(-d)
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	default:
		return fmt.Sprintf("%dd", int(d.Hours()/24))
	}
}

// size is a number of bytes as lists show it.
func size(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 1000_000:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	case n < 1000_000_000:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	default:
		return fmt.Sprintf("%.2f GB", float64(n)/1e9)
	}
}

// plural is "1 step", "2 steps".
func plural(n int64, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}
