// Package svg draws the screen of an emulated terminal as a picture for documents: a window of cells in SVG.
//
// The picture looks alike in every viewer: each run of text says where it begins and how wide it is, lines and bars are
// shapes and not glyphs, and what is drawn depends on the screen alone, so that a picture can be compared byte by byte.
package svg

import (
	"bytes"
	"fmt"
	"html"
	"image"
	"image/color"
	"strings"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
)

// Screen is what is drawn. *vt.Emulator is one.
type Screen interface {
	CellAt(x, y int) *uv.Cell
	Width() int
	Height() int
}

// Options say what the screen does not.
type Options struct {
	Title string // in the window's bar, and what the picture is called
	// The terminal's own colours: of text, of what is behind it, of the window's bar and of the title in it. All are needed.
	Text, Background, Bar, Muted color.Color
	Cursor                       *image.Point // the cell it is in; nil draws none
}

// Sizes in units of the picture. A character is six tenths as wide as its font is high in most monospaced fonts; in all
// others the runs are stretched to the same.
const (
	cellW, cellH = 12, 24
	fontSize     = 20
	baseline     = 18 // from the top of a cell
	stroke       = 2
	barH         = 40
	margin       = 16
)

// fonts are tried in this order: what systems bring along, with characters of the same width.
const fonts = `ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',monospace`

// Draw gives the picture of a screen.
func Draw(s Screen, o Options) []byte {
	d := &drawing{o: o, classes: map[look]string{}}
	for y := range s.Height() {
		d.line(s, y)
	}
	w, h := s.Width()*cellW+2*margin, s.Height()*cellH+barH+2*margin
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img" font-family="%s" font-size="%d">`+"\n",
		w, h, w, h, fonts, fontSize)
	title := html.EscapeString(o.Title)
	fmt.Fprintf(&b, "<title>%s</title>\n<style>%s</style>\n", title, d.style.String())
	fmt.Fprintf(&b, `<rect width="%d" height="%d" rx="12" fill="%s"/>`+"\n", w, h, hex(o.Background))
	fmt.Fprintf(&b, `<path d="M0 %dV12A12 12 0 0 1 12 0H%dA12 12 0 0 1 %d 12V%dZ" fill="%s"/>`+"\n", barH, w-12, w, barH, hex(o.Bar))
	for i, c := range []string{"#ff5f57", "#febc2e", "#28c840"} {
		fmt.Fprintf(&b, `<circle cx="%d" cy="%d" r="7" fill="%s"/>`, 24+i*24, barH/2, c)
	}
	fmt.Fprintf(&b, "\n"+`<text x="%d" y="%d" text-anchor="middle" font-size="16" fill="%s">%s</text>`+"\n", w/2, barH/2+6, hex(o.Muted), title)
	fmt.Fprintf(&b, `<g transform="translate(%d %d)">`+"\n", margin, barH+margin)
	for _, r := range append(merge(d.behind), merge(d.marks)...) {
		fmt.Fprintf(&b, `<rect x="%d" y="%d" width="%d" height="%d" fill="%s"/>`+"\n", r.x, r.y, r.w, r.h, r.fill)
	}
	b.Write(d.text.Bytes())
	b.WriteString("</g>\n</svg>\n")
	return b.Bytes()
}

// drawing is a picture in the making: what lies below, and the text above it.
type drawing struct {
	o       Options
	behind  []rect // backgrounds
	marks   []rect // lines and bars above them
	text    bytes.Buffer
	style   strings.Builder
	classes map[look]string
}

// look is how a run of text looks.
type look struct {
	fill         string
	bold, italic bool
}

// run is text of one look that is written at once.
type run struct {
	look
	text  string
	x     int
	cells int
}

// line draws one line of the screen.
func (d *drawing) line(s Screen, y int) {
	var now run
	flush := func() {
		d.write(now, y)
		now = run{}
	}
	for x := 0; x < s.Width(); x++ {
		c := s.CellAt(x, y)
		if c == nil || c.Width == 0 { // the second half of a wide character
			continue
		}
		l, behind := d.look(c, x, y)
		if behind != "" {
			d.behind = append(d.behind, rect{x * cellW, y * cellH, c.Width * cellW, cellH, behind})
		}
		if c.Style.Underline != ansi.UnderlineNone {
			d.mark(x*cellW, y*cellH+baseline+3, c.Width*cellW, 1, l.fill)
		}
		if c.Style.Attrs&uv.AttrStrikethrough != 0 {
			d.mark(x*cellW, y*cellH+cellH/2, c.Width*cellW, 1, l.fill)
		}
		switch {
		case c.Style.Attrs&uv.AttrConceal != 0 || d.shape(c.Content, x*cellW, y*cellH, l.fill):
			flush()
			continue
		case l != now.look || now.x+now.cells != x || c.Width > 1 || strings.HasSuffix(now.text, "  "):
			flush()
			now = run{look: l, x: x}
		}
		now.text += c.Content
		now.cells += c.Width
		if c.Width > 1 {
			flush()
		}
	}
	flush()
}

// look is how a cell looks, and the colour behind it, "" where that is the terminal's own.
func (d *drawing) look(c *uv.Cell, x, y int) (look, string) {
	fg, bg := c.Style.Fg, c.Style.Bg
	if fg == nil {
		fg = d.o.Text
	}
	reversed := c.Style.Attrs&uv.AttrReverse != 0
	if at := d.o.Cursor; at != nil && at.X == x && at.Y == y {
		reversed = !reversed
	}
	if reversed {
		if bg == nil {
			bg = d.o.Background
		}
		fg, bg = bg, fg
	}
	if c.Style.Attrs&uv.AttrFaint != 0 {
		behind := bg
		if behind == nil {
			behind = d.o.Background
		}
		fg = between(fg, behind)
	}
	l := look{fill: hex(fg), bold: c.Style.Attrs&uv.AttrBold != 0, italic: c.Style.Attrs&uv.AttrItalic != 0}
	if bg == nil {
		return l, ""
	}
	return l, hex(bg)
}

// write writes a run, without the spaces at its ends.
func (d *drawing) write(r run, y int) {
	kept := strings.TrimLeft(r.text, " ")
	r.x += len(r.text) - len(kept)
	r.cells -= len(r.text) - len(kept)
	text := strings.TrimRight(kept, " ")
	r.cells -= len(kept) - len(text)
	if text == "" {
		return
	}
	fmt.Fprintf(&d.text, `<text x="%d" y="%d" textLength="%d" class="%s">%s</text>`+"\n",
		r.x*cellW, y*cellH+baseline, r.cells*cellW, d.class(r.look), html.EscapeString(text))
}

// class names a look, the first time with its style.
func (d *drawing) class(l look) string {
	if name, ok := d.classes[l]; ok {
		return name
	}
	name := fmt.Sprintf("c%d", len(d.classes))
	d.classes[l] = name
	fmt.Fprintf(&d.style, ".%s{fill:%s", name, l.fill)
	if l.bold {
		d.style.WriteString(";font-weight:700")
	}
	if l.italic {
		d.style.WriteString(";font-style:italic")
	}
	d.style.WriteString("}")
	return name
}

func hex(c color.Color) string {
	r, g, b, _ := c.RGBA()
	return fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
}

// between is the colour in the middle of two.
func between(a, b color.Color) color.Color {
	r1, g1, b1, _ := a.RGBA()
	r2, g2, b2, _ := b.RGBA()
	half := func(x, y uint32) uint8 { return uint8((x + y) / 2 >> 8) }
	return color.RGBA{half(r1, r2), half(g1, g2), half(b1, b2), 0xff}
}
