package agentmap

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxDepth bounds how deep a Context is nested.
const maxDepth = 32

// context reads a Context cell: an object in JSON or as Python writes one, or key=value in braces; else nil, and the text
// is a remark. What begins like an object and is none is a fault: AgentMap takes it for a remark and loses its settings.
func (t *translator) context(n *Node) *Value {
	c := n.cells[Context].trimmed()
	if !strings.HasPrefix(c.text, "{") {
		return nil
	}
	if v := assignments(c); v != nil {
		return v
	}
	r := &literalReader{text: c.text, place: c.place}
	v, err := r.whole()
	if err != nil {
		t.fault(c.place(r.pos), "the Context begins like an object and cannot be read as one, so that AgentMap would ignore it: %v", err)
		return nil
	}
	return v
}

var assignment = regexp.MustCompile(`^\s*([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*?)\s*$`)

// assignments reads {workflow=::Inner}, AgentMap's short form for sub-graphs.
func assignments(c cell) *Value {
	if !strings.HasSuffix(c.text, "}") {
		return nil
	}
	v := mapping(c.at)
	for _, part := range c.part(1, c.text[1:len(c.text)-1]).split(",") {
		m := assignment.FindStringSubmatch(part.text)
		if m == nil {
			return nil
		}
		value := text(part.at, strings.Trim(m[2], `"'`))
		v.Entries = append(v.Entries, Entry{text(part.at, m[1]), value})
	}
	if len(v.Entries) == 0 {
		return nil
	}
	return v
}

// literalReader reads JSON and the literals of Python: texts in single quotes, True, False, None, tuples, a comma before
// the end, and keys without quotes.
type literalReader struct {
	text  string
	pos   int
	depth int
	place func(offset int) Place
}

func (r *literalReader) whole() (*Value, error) {
	v, err := r.value()
	if err != nil {
		return nil, err
	}
	if r.blanks(); r.pos < len(r.text) {
		return nil, fmt.Errorf("%q comes after its end", short(r.text[r.pos:]))
	}
	return v, nil
}

func (r *literalReader) blanks() {
	for r.pos < len(r.text) && strings.IndexByte(" \t\n", r.text[r.pos]) >= 0 {
		r.pos++
	}
}

// next is the byte at hand, 0 at the end.
func (r *literalReader) next() byte {
	if r.blanks(); r.pos < len(r.text) {
		return r.text[r.pos]
	}
	return 0
}

func (r *literalReader) value() (*Value, error) {
	switch c := r.next(); c {
	case 0:
		return nil, fmt.Errorf("it ends too early")
	case '{':
		return r.object()
	case '[':
		return r.list(']')
	case '(':
		return r.list(')')
	case '"', '\'':
		return r.quoted(c)
	}
	return r.word()
}

var numberForm = regexp.MustCompile(`^[-+]?(0|[1-9][0-9]*)(\.[0-9]*)?([eE][+-]?[0-9]+)?$`)

// word reads a number, or one of the words of JSON and Python.
func (r *literalReader) word() (*Value, error) {
	at, word := r.place(r.pos), r.bareWord()
	plain := map[string]string{"true": "true", "True": "true", "false": "false", "False": "false", "null": "null", "None": "null"}
	if s, ok := plain[word]; ok {
		return bare(at, s), nil
	}
	if numberForm.MatchString(word) {
		return bare(at, strings.TrimSuffix(strings.TrimPrefix(word, "+"), ".")), nil
	}
	r.pos -= len(word)
	if word == "" {
		return nil, fmt.Errorf("%q is unexpected here", r.text[r.pos:r.pos+1])
	}
	return nil, fmt.Errorf("%q needs quotes", short(word))
}

func (r *literalReader) bareWord() string {
	end := strings.IndexAny(r.text[r.pos:], " \t\n,:{}[]()\"'")
	if end < 0 {
		end = len(r.text) - r.pos
	}
	word := r.text[r.pos : r.pos+end]
	r.pos += end
	return word
}

// down goes one level deeper, over the bracket.
func (r *literalReader) down() error {
	if r.depth++; r.depth > maxDepth {
		return fmt.Errorf("more than %d levels deep", maxDepth)
	}
	r.pos++
	return nil
}

func (r *literalReader) list(end byte) (*Value, error) {
	v := list(r.place(r.pos))
	if err := r.down(); err != nil {
		return nil, err
	}
	for r.next() != end {
		item, err := r.value()
		if err != nil {
			return nil, err
		}
		v.Items = append(v.Items, item)
		if err := r.comma(end); err != nil {
			return nil, err
		}
	}
	r.pos++
	r.depth--
	return v, nil
}

// comma goes over the comma after an item, or stays before the end.
func (r *literalReader) comma(end byte) error {
	switch r.next() {
	case ',':
		r.pos++
	case end:
	case 0:
		return fmt.Errorf("it is not closed: %c is missing", end)
	default:
		return fmt.Errorf("a comma or %c is missing before %q", end, short(r.text[r.pos:]))
	}
	return nil
}

func (r *literalReader) object() (*Value, error) {
	v := mapping(r.place(r.pos))
	if err := r.down(); err != nil {
		return nil, err
	}
	for r.next() != '}' {
		begin := r.pos
		key, err := r.key()
		if err != nil {
			return nil, err
		}
		if v.get(key.Text) != nil {
			r.pos = begin
			return nil, fmt.Errorf("the key %q is there twice", key.Text)
		}
		if r.next() != ':' {
			return nil, fmt.Errorf("a colon is missing after %q", key.Text)
		}
		r.pos++
		value, err := r.value()
		if err != nil {
			return nil, err
		}
		v.Entries = append(v.Entries, Entry{key, value})
		if err := r.comma('}'); err != nil {
			return nil, err
		}
	}
	r.pos++
	r.depth--
	return v, nil
}

func (r *literalReader) key() (*Value, error) {
	c := r.next()
	if c == '"' || c == '\'' {
		return r.quoted(c)
	}
	at, word := r.place(r.pos), r.bareWord()
	if word == "" {
		return nil, fmt.Errorf("a key is missing")
	}
	return text(at, word), nil
}

// quoted reads a text in quotes.
func (r *literalReader) quoted(quote byte) (*Value, error) {
	at := r.place(r.pos)
	var b strings.Builder
	for i := r.pos + 1; i < len(r.text); i++ {
		switch c := r.text[i]; {
		case c == quote:
			r.pos = i + 1
			return text(at, b.String()), nil
		case c == '\\' && i+1 < len(r.text):
			n := r.escape(&b, i+1)
			if n == 0 {
				return nil, fmt.Errorf("%q is no escape", short(r.text[i:min(i+2, len(r.text))]))
			}
			i += n
		default:
			b.WriteByte(c)
		}
	}
	return nil, fmt.Errorf("a text is not closed")
}

// escape reads what follows a backslash, and says how many bytes that takes; 0 when it is none.
func (r *literalReader) escape(b *strings.Builder, i int) int {
	simple := map[byte]byte{'n': '\n', 't': '\t', 'r': '\r', 'b': '\b', 'f': '\f', '"': '"', '\'': '\'', '\\': '\\', '/': '/'}
	if c, ok := simple[r.text[i]]; ok {
		b.WriteByte(c)
		return 1
	}
	if r.text[i] != 'u' || i+5 > len(r.text) {
		return 0
	}
	n, err := strconv.ParseUint(r.text[i+1:i+5], 16, 32)
	if err != nil {
		return 0
	}
	if low, ok := r.lowHalf(i + 5); ok && n >= 0xd800 && n < 0xdc00 {
		b.WriteRune(rune((n-0xd800)<<10|(low-0xdc00)) + 0x10000)
		return 11
	}
	if !utf8.ValidRune(rune(n)) {
		return 0
	}
	b.WriteRune(rune(n))
	return 5
}

// lowHalf is the second half of a character that JSON writes as two escapes.
func (r *literalReader) lowHalf(i int) (uint64, bool) {
	if i+6 > len(r.text) || r.text[i:i+2] != `\u` {
		return 0, false
	}
	n, err := strconv.ParseUint(r.text[i+2:i+6], 16, 32)
	return n, err == nil && n >= 0xdc00 && n < 0xe000
}
