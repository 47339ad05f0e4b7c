package sanitize_test

import (
	"strings"
	"testing"

	"github.com/hitl-tui/hitl-tui/internal/sanitize"
)

func TestLink(t *testing.T) {
	for _, tc := range []struct {
		text, target, safe string
		suspicious         bool
	}{
		{"the notes", "https://example.com/notes", "the notes <https://example.com/notes>", false},
		{"https://example.com", "https://example.com", "https://example.com", false},
		{"example.com/a", "https://www.example.com/a/", "example.com/a", false},
		{"", "https://example.com", "https://example.com", false},
		{"https://example.com/a", "https://example.com/b", "https://example.com/a <https://example.com/b>", false},
		{"https://bank.example", "https://evil.example", "https://bank.example <https://evil.example>", true},
		{"bank.example", "https://bank.example.evil.test/", "bank.example <https://bank.example.evil.test/>", true},
		{"Log in at https://bank.example now", "https://evil.example", "Log in at https://bank.example now <https://evil.example>", true},
		{"sign in", "https://bank.example@evil.example/", "sign in <https://bank.example@evil.example/>", true},
		{"apple", "https://xn--pple-43d.com", "apple <https://xn--pple-43d.com>", true},
		{"apple", "https://аpple.com", "apple <https://аpple.com>", true},
		{"пример", "https://пример.испытание", "пример <https://пример.испытание>", false},
		{"run", "javascript:alert(1)", "run <javascript:alert(1)>", true},
		{"open", "file:///etc/passwd", "open <file:///etc/passwd>", true},
		{"README.md", "docs/README.md", "README.md <docs/README.md>", false},
		{"README.md", "https://example.com/README.md", "README.md <https://example.com/README.md>", false},
		{"ann@example.com", "mailto:ann@example.com", "ann@example.com", false},
		{"ann@example.com", "mailto:eve@evil.example", "ann@example.com <mailto:eve@evil.example>", true},
		{"a\x1b[8m", "https://example.com", "a^[[8m <https://example.com>", true},
		{"x", "https://exam\u202eple.com", "x <https://exam<U+202E>ple.com>", true},
		{"x", "http://%zz", "x <http://%zz>", true},
	} {
		safe, suspicious := sanitize.Link(tc.text, tc.target)
		if safe != tc.safe || suspicious != tc.suspicious {
			t.Errorf("Link(%q, %q) = %q, %v; want %q, %v", tc.text, tc.target, safe, suspicious, tc.safe, tc.suspicious)
		}
	}
}

func FuzzLink(f *testing.F) {
	f.Add("https://a.example", "https://b.example")
	f.Add("a", "javascript:\x1b")
	f.Fuzz(func(t *testing.T, text, target string) {
		safe, _ := sanitize.Link(text, target)
		if sanitize.Line(safe) != safe || strings.Contains(safe, "\n") {
			t.Fatalf("%q is not safe", safe)
		}
	})
}
