package svg

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image"
	"image/color"
	"io"
	"strings"
	"testing"

	"github.com/charmbracelet/x/vt"
)

// screen is an emulated terminal that got a text.
func screen(t *testing.T, w, h int, text string) *vt.Emulator {
	t.Helper()
	e := vt.NewEmulator(w, h)
	t.Cleanup(func() { _ = e.Close() })
	if _, err := e.WriteString(strings.ReplaceAll(text, "\n", "\r\n")); err != nil {
		t.Fatal(err)
	}
	return e
}

func options() Options {
	grey := func(n uint8) color.Color { return color.RGBA{n, n, n, 0xff} }
	return Options{Title: "desk <1>", Text: grey(0xdd), Background: grey(0x11), Bar: grey(0x22), Muted: grey(0x88)}
}

func TestDraw(t *testing.T) {
	for name, c := range map[string]struct {
		text      string
		want, not []string
	}{
		"one run":        {"plain words", []string{`<text x="0" y="18" textLength="132" class="c0">plain words</text>`}, nil},
		"columns":        {"a    b", []string{`<text x="0" y="18" textLength="12" class="c0">a</text>`, `<text x="60" y="18" textLength="12" class="c0">b</text>`}, nil},
		"escaped":        {`<a & "b">`, []string{"&lt;a &amp; &#34;b&#34;&gt;", "<title>desk &lt;1&gt;</title>"}, nil},
		"colours":        {"\x1b[38;2;255;0;0mred\x1b[m \x1b[1mbold\x1b[m", []string{".c0{fill:#ff0000}", ".c1{fill:#dddddd;font-weight:700}", `textLength="36" class="c0">red<`}, nil},
		"background":     {"\x1b[48;2;0;0;255mab\n\x1b[mx", []string{`<rect x="0" y="0" width="24" height="24" fill="#0000ff"/>`}, nil},
		"joined rows":    {"\x1b[48;2;0;0;255mab\r\x1b[Bab\x1b[m", []string{`<rect x="0" y="0" width="24" height="48" fill="#0000ff"/>`}, nil},
		"reverse":        {"\x1b[7mab\x1b[m", []string{`width="24" height="24" fill="#dddddd"`, ".c0{fill:#111111}"}, nil},
		"faint":          {"\x1b[2mab\x1b[m", []string{".c0{fill:#777777}"}, nil},
		"underlined":     {"\x1b[4ma b\x1b[m", []string{`<rect x="0" y="21" width="36" height="1" fill="#dddddd"/>`}, nil},
		"wide":           {"a日本b", []string{`<text x="12" y="18" textLength="24" class="c0">日</text>`, `<text x="36" y="18" textLength="24" class="c0">本</text>`, `<text x="60"`}, nil},
		"emoji":          {"👩‍👩‍👧‍👦!", []string{`textLength="24" class="c0">👩‍👩‍👧‍👦</text>`, `<text x="24" y="18" textLength="12" class="c0">!</text>`}, nil},
		"horizontal":     {"───", []string{`<rect x="0" y="11" width="36" height="2" fill="#dddddd"/>`}, []string{"─"}},
		"vertical":       {"│\n│", []string{`<rect x="5" y="0" width="2" height="48" fill="#dddddd"/>`}, []string{"│"}},
		"corner":         {"╭", []string{`<path d="M6 24Q6 12 12 12"`}, []string{"╭"}},
		"bars":           {"█▌▂", []string{`<rect x="0" y="0" width="18" height="24"`, `<rect x="24" y="18" width="12" height="6"`}, []string{"█", "▌", "▂"}},
		"bar on colour":  {"\x1b[44m█\n█ \x1b[m", []string{`<rect x="0" y="24" width="24" height="24" fill="#000080"/>` + "\n" + `<rect x="0" y="0" width="12" height="48" fill="#dddddd"/>`}, nil},
		"nothing hidden": {"a\x1b[8msecret\x1b[m", nil, []string{"secret"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := string(Draw(screen(t, 20, 3, c.text), options()))
			wellFormed(t, got)
			for _, w := range c.want {
				if !strings.Contains(got, w) {
					t.Errorf("without %s:\n%s", w, got)
				}
			}
			for _, n := range c.not {
				if strings.Contains(got, n) {
					t.Errorf("with %s:\n%s", n, got)
				}
			}
		})
	}
}

// The cell of the cursor has the colours of text and background exchanged.
func TestCursor(t *testing.T) {
	o := options()
	o.Cursor = &image.Point{X: 1}
	got := string(Draw(screen(t, 5, 2, "ab"), o))
	if !strings.Contains(got, `<rect x="12" y="0" width="12" height="24" fill="#dddddd"/>`) {
		t.Errorf("no cursor:\n%s", got)
	}
}

// The same screen gives the same bytes.
func TestSame(t *testing.T) {
	const text = "\x1b[31mone\x1b[32m two\x1b[1;44m three\x1b[m ├─ █▌"
	first := Draw(screen(t, 30, 4, text), options())
	for range 5 {
		if !bytes.Equal(first, Draw(screen(t, 30, 4, text), options())) {
			t.Fatal("two pictures of one screen differ")
		}
	}
}

func wellFormed(t *testing.T, picture string) {
	t.Helper()
	for d := xml.NewDecoder(strings.NewReader(picture)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("not XML: %v\n%s", err, picture)
		}
	}
}
