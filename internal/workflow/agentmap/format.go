package agentmap

import (
	"regexp"
	"strings"
)

// piece is a part of a prompt: a literal text, or the value of an input field.
type piece struct {
	literal string
	field   string
	key     string // of an item of it: {field[key]}
}

var fieldForm = regexp.MustCompile(`^([^\[\].!:{}]+)(?:\[([^\[\]]+)\])?(?:![rsa])?(?::[^{}]*)?$`)

// pieces takes a prompt apart as Python's str.format does; ok is false for what that refuses, which is then meant as it
// is written.
func pieces(prompt string) (list []piece, ok bool) {
	var literal strings.Builder
	flush := func() {
		if literal.Len() > 0 {
			list = append(list, piece{literal: literal.String()})
			literal.Reset()
		}
	}
	for i := 0; i < len(prompt); i++ {
		c := prompt[i]
		if c != '{' && c != '}' {
			literal.WriteByte(c)
			continue
		}
		if i+1 < len(prompt) && prompt[i+1] == c {
			literal.WriteByte(c)
			i++
			continue
		}
		end := strings.IndexByte(prompt[i:], '}')
		if c == '}' || end < 0 {
			return nil, false
		}
		m := fieldForm.FindStringSubmatch(prompt[i+1 : i+end])
		if m == nil {
			return nil, false
		}
		flush()
		list = append(list, piece{field: m[1], key: m[2]})
		i += end
	}
	flush()
	return list, true
}

// escaped is a literal text as a template has it, before what follows.
func escaped(literal string, actionFollows bool) string {
	if !strings.Contains(literal, "{") {
		return literal
	}
	var b strings.Builder
	for i := 0; i < len(literal); i++ {
		last := i+1 == len(literal)
		if literal[i] == '{' && (last && actionFollows || !last && literal[i+1] == '{') {
			b.WriteString(`{{"{"}}`)
		} else {
			b.WriteByte(literal[i])
		}
	}
	return b.String()
}

// template is a prompt as a template; filled is whether a field of it is. A prompt that names what is no input is meant as
// it is written. A field that is null prints as nothing.
func (t *translator) template(prompt string, inputs []input) (source string, filled bool) {
	list, ok := pieces(prompt)
	for _, p := range list {
		if p.field != "" && find(inputs, p.field) == nil {
			ok = false
		}
	}
	if !ok {
		return escaped(prompt, false), false
	}
	var b strings.Builder
	for i, p := range list {
		if p.field == "" {
			b.WriteString(escaped(p.literal, i+1 < len(list)))
			continue
		}
		filled = true
		b.WriteString(printedField(find(inputs, p.field).key, p.key))
	}
	return b.String(), filled
}

// printedField is an action that prints a state key, or an item of it, and nothing for null.
func printedField(key, item string) string {
	if item != "" {
		return `{{with .` + key + `}}{{default "" (index . ` + quoted(item) + `)}}{{end}}`
	}
	return `{{default "" .` + key + `}}`
}
