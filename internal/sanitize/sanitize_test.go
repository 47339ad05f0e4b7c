package sanitize_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/hitl-tui/hitl-tui/internal/sanitize"
)

func TestText(t *testing.T) {
	for _, tc := range []struct{ name, in, want string }{
		{"clean", "Plain text.\nTwo lines.", "Plain text.\nTwo lines."},
		{"accents and CJK", "Grüße 日本語 🎉", "Grüße 日本語 🎉"},
		{"escape sequence", "a\x1b[31mred\x1b[0m", "a^[[31mred^[[0m"},
		{"OSC title", "\x1b]0;pwned\x07x", "^[]0;pwned^Gx"},
		{"C1 CSI", "a\u009b31m", "a<U+009B>31m"},
		{"raw C1 byte", "a\x9b31m", `a<\x9b>31m`},
		{"NUL and DEL", "a\x00b\x7fc", "a^@b^?c"},
		{"CRLF", "a\r\nb\r\n", "a\nb\n"},
		{"final CR", "a\r", "a\n"},
		{"CR within a line", "rm -rf /\recho hi", "rm -rf /^Mecho hi"},
		{"CR CR LF", "a\r\r\nb", "a^M\nb"},
		{"tab", "a\tb\n\tc", "a   b\n    c"},
		{"bidi override", "a\u202eb", "a<U+202E>b"},
		{"bidi isolate", "a\u2066b\u2069", "a<U+2066>b<U+2069>"},
		{"arabic letter mark", "\u061c", "<U+061C>"},
		{"zero width space", "a\u200bb", "a<U+200B>b"},
		{"byte order mark", "\ufeffa", "<U+FEFF>a"},
		{"soft hyphen", "pay\u00adpal", "pay<U+00AD>pal"},
		{"line separator", "a\u2028b", "a<U+2028>b"},
		{"tag characters", "a\U000e0041b", "a<U+E0041>b"},
		{"hangul filler", "a\u3164b", "a<U+3164>b"},
		{"invalid UTF-8", "a\xff\xfeb", `a<\xff><\xfe>b`},
		{"overlong", "\xc0\xaf", `<\xc0><\xaf>`},
		{"surrogate", "\xed\xa0\x80", `<\xed><\xa0><\x80>`},
		{"replacement character", "a\ufffdb", "a\ufffdb"},
		{"emoji family", "👩\u200d👩\u200d👧", "👩\u200d👩\u200d👧"},
		{"emoji with selector", "❤\ufe0f\u200d🔥", "❤\ufe0f\u200d🔥"},
		{"keycap", "1\ufe0f\u20e3", "1\ufe0f\u20e3"},
		{"joiner between letters", "a\u200db", "a<U+200D>b"},
		{"joiner after emoji only", "👩\u200db", "👩<U+200D>b"},
		{"selector after a letter", "a\ufe0f", "a<U+FE0F>"},
		{"two selectors", "❤\ufe0f\ufe0f", "❤\ufe0f<U+FE0F>"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := sanitize.Text(tc.in); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestLine(t *testing.T) {
	for in, want := range map[string]string{
		"one": "one", "a\nb": "a⏎b", "a\r\nb\n": "a⏎b⏎", "a\tb": "a   b", "\x1b[2J": "^[[2J",
	} {
		if got := sanitize.Line(in); got != want {
			t.Errorf("Line(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestCleanTextIsNotCopied(t *testing.T) {
	clean := strings.Repeat("Plain text, häßlich 日本語.\n", 100)
	if n := testing.AllocsPerRun(10, func() { sanitize.Text(clean) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzText(f *testing.F) {
	for _, s := range []string{"", "a\x1b[31m", "\r\r\n", "\t\u202e", "👩\u200d👩", "\xff\u200d", "❤\ufe0f\ufe0f", "\u200d🔥"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, out := range []string{sanitize.Text(s), sanitize.Line(s)} {
			if !utf8.ValidString(out) {
				t.Fatalf("%q is not UTF-8", out)
			}
			for _, r := range out {
				bidi := unicode.Is(unicode.Bidi_Control, r)
				if r != '\n' && unicode.IsControl(r) || bidi || r == '\u200b' || r == '\ufeff' {
					t.Fatalf("%q has %U", out, r)
				}
			}
		}
		if strings.ContainsRune(sanitize.Line(s), '\n') {
			t.Fatalf("Line(%q) has a line end", s)
		}
		if once := sanitize.Text(s); sanitize.Text(once) != once {
			t.Fatalf("Text(%q) is %q, then %q", s, once, sanitize.Text(once))
		}
		if once := sanitize.Line(s); sanitize.Line(once) != once {
			t.Fatalf("Line(%q) is %q, then %q", s, once, sanitize.Line(once))
		}
	})
}

func BenchmarkTextClean(b *testing.B) {
	clean := strings.Repeat("Plain text of a draft.\n", 1000)
	b.SetBytes(int64(len(clean)))
	for b.Loop() {
		sanitize.Text(clean)
	}
}
