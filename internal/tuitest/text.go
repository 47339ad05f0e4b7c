package tuitest

import (
	"regexp"
	"strings"

	"pgregory.net/rapid"
)

// Hostile lists texts that have broken screens: controls, escapes, bidi, zero width, wide and combining characters.
func Hostile() []string {
	return []string{
		"", " ", "plain", "tab\there", "cr\rover", "crlf\r\nend", "\x1b[31mred\x1b[0m", "\x1b]52;c;aGk=\x07", "\x1b[2J\x1b[H",
		"\x9b31m", "nul\x00bel\a", "\u202eevil\u202c", "zero\u200bwidth\u200d", "e\u0301\u0301\u0301", "\u0301first",
		"世界こんにちは", "👩‍👩‍👧‍👦 family", "❤️ heart", "🇩🇪🇫🇷", "ﷺ", "عربي then 123", "\xff\xfe bad", "a\u2028b",
		strings.Repeat("long", 80), strings.Repeat("世", 90), "- item\n- item\n\n# head\n```go\nfunc x() {}\n```\n",
		"| a | b |\n|---|---|\n| 世 | \x1b[1m |\n", "[bank.example](https://evil.example)", "&#x202e;&#27;[31m", "{\"a\":[1,{\"b\":null}]}",
		"--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n", "\x1b_apc\x1b\\", "\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\",
	}
}

// AnyText draws texts put together of hostile pieces and of any runes at all.
func AnyText() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		var b strings.Builder
		for range rapid.IntRange(0, 12).Draw(t, "pieces") {
			if rapid.Bool().Draw(t, "hostile") {
				b.WriteString(rapid.SampledFrom(Hostile()).Draw(t, "piece"))
			} else {
				b.WriteString(rapid.String().Draw(t, "runes"))
			}
			if rapid.Bool().Draw(t, "line") {
				b.WriteByte('\n')
			}
		}
		return b.String()
	})
}

var style = regexp.MustCompile("\x1b\\[[0-9;:]*m")

// UnsafeIn finds what a drawing must never hold: escape sequences other than styles, control, bidi and zero-width
// characters. "" when it is clean.
func UnsafeIn(view string) string {
	for _, r := range style.ReplaceAllString(view, "") {
		switch {
		case r == '\n':
		case r < 0x20, r == 0x7f, r >= 0x80 && r < 0xa0, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069,
			r == 0x200b, r == 0x200e, r == 0x200f, r == 0x2028, r == 0x2029, r == 0xfeff:
			return "U+" + strings.ToUpper(hex(r))
		}
	}
	return ""
}

func hex(r rune) string {
	const digits = "0123456789abcdef"
	s := ""
	for ; r > 0; r /= 16 {
		s = string(digits[r%16]) + s
	}
	return s
}
