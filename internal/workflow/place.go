package workflow

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/nearest"
)

// place is where a value of a file goes: it takes the value or says why it cannot, and says in JSON Schema what it
// takes. Every key of the format has one, so that reading, errors, editors and documentation cannot differ.
type place interface {
	take(r *reader, name string, v *value)
	schema() schema
}

// reader fills the model of a file in.
type reader struct{ *source }

// key is one key of the format: its name, whether it must be there, what it means, and where its value goes in M.
type key[M any] struct {
	name     string
	required bool
	doc      string
	of       func(*M) place
}

// readKeys reads a mapping by a table. owner names the mapping in messages.
func readKeys[M any](r *reader, table []key[M], m *M, v *value, owner string, hint func(name string) string) {
	var typos []string
	for _, e := range v.entries {
		i := slices.IndexFunc(table, func(k key[M]) bool { return k.name == e.key.text })
		if i < 0 {
			r.unknownKey(e.key, owner, names(table), hint)
			typos = append(typos, e.key.text)
			continue
		}
		r.take(table[i].of(m), e.key, e.value)
	}
	for _, k := range table {
		meant := func(typo string) bool { _, near := nearest.Name(typo, []string{k.name}); return near }
		if k.required && v.get(k.name) == nil && !slices.ContainsFunc(typos, meant) {
			r.fault(v.at, "%s needs %s", owner, k.name)
		}
	}
}

func names[M any](table []key[M]) []string {
	list := make([]string, len(table))
	for i, k := range table {
		list[i] = k.name
	}
	return list
}

// take gives a value to its place; an empty one is an error everywhere.
func (r *reader) take(p place, key, v *value) {
	if v.shape == emptyShape {
		r.doubts++
		r.fault(key.at, `%s has no value; "" is the empty text`, key.text)
		return
	}
	p.take(r, key.text, v)
}

// otherNames are keys as other systems call them, which are not near enough to ours for a guess.
var otherNames = map[string]string{
	"name": "workflow", "id": "workflow", "steps": "nodes", "tasks": "nodes", "jobs": "nodes", "inputs": "input",
	"url": "http", "params": "query", "data": "body", "model": "llm", "run": "shell", "cmd": "shell", "command": "exec", "script": "shell", "next": "then", "goto": "then", "to": "then",
	"retry": "retry_policy", "retries": "retry_policy", "on_error": "failure", "on_failure": "failure", "if": "when",
	"needs": "join", "after": "join", "depends_on": "join", "choices": "options", "prompt": "message", "question": "message",
}

func (r *reader) unknownKey(key *value, owner string, known []string, hint func(string) string) {
	r.unclear++
	where := "in " + owner
	if owner == topLevel {
		where = "at " + owner
	}
	if hint != nil {
		if h := hint(key.text); h != "" {
			r.fault(key.at, "unknown key %q %s: %s", key.text, where, h)
			return
		}
	}
	near := r.didYouMean(key.text, known)
	if ours := otherNames[key.text]; near == "" && slices.Contains(known, ours) {
		near = fmt.Sprintf("; here that is %q", ours)
	}
	r.fault(key.at, "unknown key %q %s%s", key.text, where, near)
}

// scalar is v's text where a text is due; what names the place in the message.
func (r *reader) scalar(name, what string, v *value) (string, bool) {
	if v.shape == scalarShape {
		return v.text, true
	}
	if v.shape == mappingShape && v.style == plainStyle && len(v.entries) == 1 && v.entries[0].key.shape == mappingShape {
		r.fault(v.at, `a text that begins with "{{" needs quotes`)
		return "", false
	}
	r.fault(v.at, "%s must be %s, not %v", name, what, v)
	return "", false
}

// code is a template or an expression as it is written, to be checked once all names are known.
type code struct {
	path string // how messages call it: the key, or set.KEY
	v    *value
}

func (c code) given() bool { return c.v != nil }

// textT is a place for a template.
type textT struct{ code }

func (p *textT) take(r *reader, name string, v *value) {
	if _, ok := r.scalar(name, "a text", v); ok {
		p.code = code{name, v}
	}
}

func (p *textT) schema() schema { return ref("template") }

// exprT is a place for an expression.
type exprT struct{ code }

func (p *exprT) take(r *reader, name string, v *value) {
	if v.shape != scalarShape {
		r.fault(v.at, "%s is an expression: put it in quotes", name)
		return
	}
	p.code = code{name, v}
	if v.style == plainStyle {
		if _, trap := plainJSON(v.text); trap != "" {
			r.fault(v.at, "%s", trap)
			p.code = code{}
		}
	}
}

func (p *exprT) schema() schema { return ref("expression") }

// wordT is a place for one of a few words.
type wordT struct {
	text  string
	v     *value
	what  string   // "kind of question"
	words []string // nil: any text
}

func (p *wordT) take(r *reader, name string, v *value) {
	text, ok := r.scalar(name, "a text", v)
	if !ok {
		return
	}
	if p.words != nil && !slices.Contains(p.words, text) {
		r.doubts++
		r.fault(v.at, "unknown %s %q%s", p.what, text, r.suggestOf(text, p.words))
		return
	}
	p.text, p.v = text, v
}

func (p *wordT) schema() schema {
	if p.words == nil {
		return schema{"type": scalarTypes()}
	}
	return schema{"enum": p.words}
}

// suggestOf is the nearest of a few words, and when none is near all of them.
func (r *reader) suggestOf(text string, words []string) string {
	if near := r.didYouMean(text, words); near != "" {
		return near
	}
	return "; known are " + strings.Join(words, ", ")
}

// boolT is a place for true or false.
type boolT struct{ on bool }

func (p *boolT) take(r *reader, name string, v *value) {
	if v.shape == scalarShape && v.style == plainStyle && (v.text == "true" || v.text == "false") {
		p.on = v.text == "true"
		return
	}
	r.fault(v.at, "%s must be true or false, not %v", name, v)
}

func (p *boolT) schema() schema { return schema{"type": "boolean"} }

// intT is a place for a whole number.
type intT struct {
	n        int
	min, max int
}

func (p *intT) take(r *reader, name string, v *value) {
	if v.shape == scalarShape && v.style == plainStyle && jsonNumber.MatchString(v.text) {
		if n, err := strconv.Atoi(v.text); err == nil && n >= p.min && n <= p.max {
			p.n = n
			return
		}
	}
	r.fault(v.at, "%s must be a whole number from %d to %d, not %v", name, p.min, p.max, v)
}

func (p *intT) schema() schema {
	return schema{"type": "integer", "minimum": p.min, "maximum": p.max}
}

// floatT is a place for a number.
type floatT struct{ n, min, max float64 }

func (p *floatT) take(r *reader, name string, v *value) {
	if v.shape == scalarShape && v.style == plainStyle && jsonNumber.MatchString(v.text) {
		if n, err := strconv.ParseFloat(v.text, 64); err == nil && n >= p.min && n <= p.max {
			p.n = n
			return
		}
	}
	r.fault(v.at, "%s must be a number from %v to %v, not %v", name, p.min, p.max, v)
}

func (p *floatT) schema() schema {
	return schema{"type": "number", "minimum": p.min, "maximum": p.max}
}

// durationT is a place for a duration.
type durationT struct {
	d     time.Duration
	at    position
	given bool // though perhaps wrong
	zero  bool // zero is allowed
}

func (p *durationT) take(r *reader, name string, v *value) {
	p.given = true
	if v.shape == scalarShape {
		if d, ok := parseDuration(v.text); ok && (d > 0 || p.zero) {
			p.d, p.at = d, v.at
			return
		}
		if bareNumber.MatchString(v.text) {
			r.fault(v.at, "%s needs a unit: %[2]ss, %[2]sm or %[2]sh", name, v.text)
			return
		}
	}
	r.fault(v.at, "%s must be a duration such as 90s, 1h30m or 2d, not %v", name, v)
}

func (p *durationT) schema() schema { return ref("duration") }

// sizeT is a place for a number of bytes.
type sizeT struct{ n int64 }

func (p *sizeT) take(r *reader, name string, v *value) {
	if v.shape == scalarShape {
		if n, ok := parseSize(v.text); ok {
			p.n = n
			return
		}
	}
	r.fault(v.at, "%s must be a size such as 64KiB or 16MiB, not %v", name, v)
}

func (p *sizeT) schema() schema { return schema{"type": "string", "pattern": sizeForm.String()} }
