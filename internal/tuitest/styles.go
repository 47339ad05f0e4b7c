package tuitest

import (
	"fmt"
	"image/color"
	"strings"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
)

// Styles tells how a drawing of w by h cells looks, without its words: each look by a letter, a line each, and of each line
// the runs of cells that look alike, "a12b68" for twelve cells of look a and 68 of b, lines alike once. Name names a colour.
func Styles(view string, w, h int, name func(color.Color) string) (looks, runs string) {
	e := vt.NewEmulator(w, h)
	defer e.Close()
	_, _ = e.WriteString(strings.ReplaceAll(view, "\n", "\r\n")) // the emulator's never fails
	var legend, lines strings.Builder
	letters := map[string]string{}
	line := func(y int) string {
		var b strings.Builder
		var last string
		n := 0
		flush := func() {
			if n > 0 {
				fmt.Fprintf(&b, "%s%d", last, n)
			}
			n = 0
		}
		for x := range w {
			look := lookOf(e.CellAt(x, y), name, last)
			if look == "" { // the second half of a wide character
				n++
				continue
			}
			if letters[look] == "" {
				letters[look] = letter(len(letters))
				fmt.Fprintf(&legend, "%s %s\n", letters[look], look)
			}
			if letters[look] != last {
				flush()
				last = letters[look]
			}
			n++
		}
		flush()
		return b.String()
	}
	for y := 0; y < h; {
		now, from := line(y), y
		for y++; y < h && line(y) == now; y++ {
		}
		if y-from > 1 {
			fmt.Fprintf(&lines, "%d-%d %s\n", from, y-1, now)
		} else {
			fmt.Fprintf(&lines, "%d %s\n", from, now)
		}
	}
	return legend.String(), lines.String()
}

// lookOf names what a cell looks like, "" for the second half of a wide one.
func lookOf(c *uv.Cell, name func(color.Color) string, before string) string {
	if c == nil || c.Width == 0 && before != "" {
		return ""
	}
	words := []string{"plain"}
	if c.Style.Fg != nil {
		words[0] = name(c.Style.Fg)
	}
	if c.Style.Bg != nil {
		words = append(words, "on", name(c.Style.Bg))
	}
	if c.Style.Underline != ansi.UnderlineNone {
		words = append(words, "underlined")
	}
	for _, a := range []struct {
		attr uint8
		name string
	}{{uv.AttrBold, "bold"}, {uv.AttrFaint, "faint"}, {uv.AttrItalic, "italic"}, {uv.AttrBlink, "blinking"}, {uv.AttrReverse, "reversed"}, {uv.AttrStrikethrough, "struck"}} {
		if c.Style.Attrs&a.attr != 0 {
			words = append(words, a.name)
		}
	}
	return strings.Join(words, " ")
}

// letter is the n-th name of a look.
func letter(n int) string {
	const all = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	if n < len(all) {
		return all[n : n+1]
	}
	return all[n/len(all)-1:n/len(all)] + "'" + all[n%len(all):n%len(all)+1]
}
