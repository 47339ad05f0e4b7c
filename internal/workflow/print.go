package workflow

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// printed is a value as YAML that reads as that value.
func printed(v *value) string {
	var b strings.Builder
	p := printer{&b}
	p.mapping(v, 0)
	return b.String()
}

type printer struct{ *strings.Builder }

// inlineWidth is the longest list or mapping that is written on the line of its key.
const inlineWidth = 100

func (p printer) mapping(v *value, indent int) {
	for _, e := range v.entries {
		p.WriteString(strings.Repeat(" ", indent) + printedText(e.key.text))
		p.value(e.value, indent+2)
	}
}

// value writes what stands after a key, or after the dash of a list.
func (p printer) value(v *value, indent int) {
	p.WriteString(":")
	if s, ok := inline(v); ok && len(s)+indent <= inlineWidth || v.shape == scalarShape {
		p.WriteString(" " + s + "\n")
		return
	}
	p.WriteString("\n")
	if v.shape == mappingShape {
		p.mapping(v, indent)
		return
	}
	for _, item := range v.list {
		s, _ := inline(item)
		p.WriteString(strings.Repeat(" ", indent) + "- " + s + "\n")
	}
}

// inline is a value on one line; ok is false for one that reads better on several.
func inline(v *value) (s string, ok bool) {
	parts := make([]string, 0, len(v.list)+len(v.entries))
	ok = true
	switch v.shape {
	case listShape:
		for _, item := range v.list {
			s, _ := inline(item)
			parts = append(parts, s)
		}
		return "[" + strings.Join(parts, ", ") + "]", true
	case mappingShape:
		for _, e := range v.entries {
			s, _ := inline(e.value)
			parts = append(parts, printedText(e.key.text)+": "+s)
			ok = ok && e.value.shape == scalarShape
		}
		return "{" + strings.Join(parts, ", ") + "}", ok
	}
	if v.style == plainStyle {
		return v.text, true
	}
	return printedText(v.text), true
}

// plainText is a text that needs no quotes wherever it stands.
var plainText = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_./-]*( [A-Za-z0-9_./-]+)*$`)

// printedText is a text, in quotes where a reader of YAML might take it for something else.
func printedText(s string) string {
	switch strings.ToLower(s) {
	case "true", "false", "null", "yes", "no", "on", "off", "y", "n":
		return doubleQuoted(s)
	}
	if plainText.MatchString(s) {
		return s
	}
	return doubleQuoted(s)
}

// doubleQuoted is a text in double quotes.
func doubleQuoted(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < ' ' || r >= 0x7f && r < 0xa0:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r == utf8.RuneError || r == '\u2028' || r == '\u2029' || r == '\ufeff' || !unicode.IsPrint(r) && r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		case !unicode.IsPrint(r):
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
