package workflow

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPlainJSON: in a place for plain JSON a plain scalar is what JSON says, or a text, or an error where readers of
// YAML differ.
func TestPlainJSON(t *testing.T) {
	for text, want := range map[string]string{
		"5": "5", "-5": "-5", "0": "0", "1.10": "1.10", "1e3": "1e3", "-0.5E-2": "-0.5E-2",
		"true": "true", "false": "false", "null": "null",
		"yes": `"yes"`, "no": `"no"`, "on": `"on"`, "2024-01-02": `"2024-01-02"`, "1.2.3": `"1.2.3"`, "12:30": `"12:30"`,
		"v1.0": `"v1.0"`, "truely": `"truely"`, "1 000": `"1 000"`, "<b>&": `"<b>&"`, "5s": `"5s"`, "-": `"-"`, "e3": `"e3"`,
	} {
		v, trap := plainJSON(text)
		raw, err := marshal(v)
		if trap != "" || err != nil || string(raw) != want {
			t.Errorf("%s is %s (%s, %v), want %s", text, raw, trap, err, want)
		}
	}
	for _, text := range []string{"010", "0x1F", "1_000", ".5", "5.", "+1", "0o17", "0b11", "007", "-01", ".inf", "-.INF", ".nan", "1_0.5", "TRUE", "True", "FALSE", "Null", "NULL", "~"} {
		if v, trap := plainJSON(text); trap == "" {
			t.Errorf("%s is taken for %v, want an error", text, v)
		}
	}
}

// TestTextsAreCharacters: in a place for text every scalar is its characters.
func TestTextsAreCharacters(t *testing.T) {
	for written, want := range map[string]string{
		"010": "010", "1.10": "1.10", "yes": "yes", "2024-01-02": "2024-01-02", "0x1F": "0x1F", "TRUE": "TRUE", "~": "~",
		"null": "null", "1_000": "1_000", `""`: "", "''": "", "'it''s'": "it's", `"a\tb"`: "a\tb", "a  # comment": "a",
		".5": ".5", "5.5": "5.5", "12:30:45": "12:30:45", "|\n      one\n        two\n": "one\n  two\n", ">\n      one\n      two\n": "one two\n",
	} {
		root := parseYAML(newSource("t", "a: "+written), "a: "+written)
		if root == nil || root.get("a").text != want || root.get("a").shape != scalarShape {
			t.Errorf("%q is %+v, want %q", written, root.get("a"), want)
		}
	}
}

// TestYAMLWithoutTraps: what is left out of YAML is an error at its place.
func TestYAMLWithoutTraps(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"anchor", "workflow: &x t\n", "1:11 anchors and aliases (& and *) are not allowed: write the value out, or put a text in quotes"},
		{"alias", "workflow: *x\n", "1:11 anchors and aliases (& and *) are not allowed: write the value out, or put a text in quotes"},
		{"merge key", "<<: {a: 1}\n", "1:1 merge keys (<<) are not allowed: write the keys out"},
		{"tag", "workflow: !!str t\n", "1:11 tags (!) are not allowed: put a text in quotes"},
		{"directive", "%YAML 1.2\n---\na: 1\n", "1:1 directives (%) are not allowed"},
		{"question mark", "? a\n: b\n", "1:1 keys with a question mark are not allowed: write key: value"},
		{"empty", "", "1:1 the file is empty: a workflow begins with workflow: NAME"},
		{"only a comment", "# nothing\n", "1:1 the file is empty: a workflow begins with workflow: NAME"},
		{"a list", "- a\n", "1:1 a workflow file is a mapping that begins with workflow: NAME, not a list"},
		{"a text", "hello\n", "1:1 a workflow file is a mapping that begins with workflow: NAME, not hello"},
		{"colon in a text", wf("  a: {fail: x}\ndescription: one: two\n"), `4:14 a text with ": " in it needs quotes`},
		{"colons on one line", strings.Repeat("a: ", 10_000), `1:4 a text with ": " in it needs quotes`},
		{"open bracket", "nodes: [a\n", "1:8 sequence end token ']' not found: is a quote or a bracket before it left open?"},
		{"a tab", "workflow: t\nnodes:\n\ta: {fail: x}\n", "3:1 a tab cannot stand here: indent with spaces"},
		{"a line indented otherwise", wf("  a:\n    fail: x\n   then: b\n"), "5:4 this line is indented unlike those around it: the keys of one mapping begin in one column"},
		{"open quote", "workflow: \"t\n", "1:11 could not find end character of double-quoted text"},
		{"no UTF-8", "workflow: \xff\n", "1:11 this is not UTF-8 text"},
		{"control character", "workflow: t\ndescription: a\x1b[31m\n", `2:15 a control character (U+001B) is not allowed; in double quotes write "\x1b"`},
		{"empty value", wf("  a: {template: x, then: }\n"), `3:20 then has no value; "" is the empty text`},
		{"empty entry", wf("  a: {exec: [ls, null, \"\"], then: b}\n  b:\n    exec:\n      - ls\n      -\n"), `7:9 an empty entry in exec; "" is the empty text`},
		{"too deep in brackets", "a: " + strings.Repeat("[", 100_000), "1:67 more than 64 levels deep"},
		{"too deep in lists", strings.Repeat("- ", 100_000) + "a", "1:129 more than 64 levels deep"},
		{"too deep in lines", deepLines(70), "65:65 more than 64 levels deep"},
		{"too large", strings.Repeat("#\n", 1<<19) + "#", "1:1 the file is larger than 1 MiB"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := found(t, c.text)
			if !slices.Equal(got, []string{c.want}) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func deepLines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%sa:\n", strings.Repeat(" ", i))
	}
	return b.String()
}

// TestManyMistakes: what is reported of one file is bounded, and so is the time it takes.
func TestManyMistakes(t *testing.T) {
	if n := len(found(t, strings.Repeat("&a ", 100_000))); n != maxFaults {
		t.Errorf("%d faults", n)
	}
}

// TestByteOrderAndLineEnds: a byte order mark, CR LF and a leading --- change nothing.
func TestByteOrderAndLineEnds(t *testing.T) {
	text := "---\n" + wf("  a: {template: \"{{.nope}}\"}\n")
	want := []string{`4:20 a.template: unknown name ".nope"`}
	for name, text := range map[string]string{"LF": text, "CRLF": strings.ReplaceAll(text, "\n", "\r\n"), "BOM": "\ufeff" + text} {
		if diff := cmp.Diff(want, found(t, text)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

// TestPlaces: a fault within a text points at the very word, however the text is written.
func TestPlaces(t *testing.T) {
	for _, c := range []struct{ name, node, want string }{
		{"plain", "fail: ää {{.nope}}", "4:16"},
		{"single quotes", "fail: 'it''s {{.nope}}'", "4:20"},
		{"double quotes", `fail: "\u00e4\n\"{{.nope}}"`, "4:24"},
		{"literal", "fail: |\n      one\n        {{.nope}}\n", "6:11"},
		{"literal, stripped", "fail: |-\n      {{.nope}}", "5:9"},
		{"folded: where it begins", "fail: >\n      one\n      {{.nope}}\n", "4:11"},
		{"quotes over two lines: where they begin", "fail: 'one\n      {{.nope}}'", "4:11"},
	} {
		got := found(t, wf("  a:\n    "+c.node))
		if len(got) != 1 || !strings.HasPrefix(got[0], c.want+" ") {
			t.Errorf("%s: got %q, want it at %s", c.name, got, c.want)
		}
	}
}
