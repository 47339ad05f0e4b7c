package workflow

import (
	"github.com/hitl-tui/hitl-tui/internal/actions"
	"regexp"
	"slices"
	"strings"
)

// jsonT is a place for plain JSON.
type jsonT struct {
	v     *value // nil when it has faults
	given bool
}

func (p *jsonT) take(r *reader, _ string, v *value) {
	p.given = true
	before := len(r.faults)
	if r.toRaw(v); len(r.faults) == before {
		p.v = v
	}
}

func (p *jsonT) schema() schema { return schema{} }

// schemaT is a place for a JSON Schema, or a text: an expression that makes one.
type schemaT struct {
	literal *value
	expr    exprT
	given   bool
}

func (p *schemaT) take(r *reader, name string, v *value) {
	p.given = true
	switch v.shape {
	case mappingShape:
		r.checkSchema(v)
		p.literal = v
	case scalarShape:
		p.expr.take(r, name, v)
	default:
		r.fault(v.at, "%s must be a JSON Schema or an expression that makes one, not %v", name, v)
	}
}

func (p *schemaT) schema() schema {
	return schema{"oneOf": []schema{ref("jsonSchema"), ref("expression")}}
}

// option is one thing to choose, as it is written.
type option struct {
	value       jsonT
	label       textT
	description textT
}

func optionKeys() []key[option] {
	return []key[option]{
		{"value", true, "what the node's output becomes", func(o *option) place { return &o.value }},
		{"label", false, "template: what is shown (the value)", func(o *option) place { return &o.label }},
		{"description", false, "template: a line beside it", func(o *option) place { return &o.description }},
	}
}

// optionsT is a place for options: a list of texts or of {value, label, description}, or an expression.
type optionsT struct {
	list  []option
	expr  exprT
	given bool
}

func (p *optionsT) take(r *reader, name string, v *value) {
	p.given = true
	if v.shape == scalarShape {
		p.expr.take(r, name, v)
		return
	}
	if v.shape == listShape && len(v.list) == 0 {
		r.fault(v.at, "options lists nothing to choose")
	}
	seen := map[string]bool{}
	before := len(r.faults)
	defer func() { r.doubts += len(r.faults) - before }()
	for _, item := range r.items(name, "texts or {value, label, description}", v) {
		var o option
		switch item.shape {
		case mappingShape:
			readKeys(r, optionKeys(), &o, item, "an option", nil)
		case scalarShape:
			o.value.v = &value{shape: scalarShape, style: doubleStyle, text: item.text, at: item.at}
		default:
			r.fault(item.at, "an option must be a text or {value, label, description}, not %v", item)
		}
		if o.value.v == nil {
			continue
		}
		if raw := string(r.toRaw(o.value.v)); seen[raw] {
			r.fault(o.value.v.at, "two options have the value %s", raw)
		} else {
			seen[raw] = true
			p.list = append(p.list, o)
		}
	}
}

func (p *optionsT) schema() schema {
	item := schema{"oneOf": []schema{{"type": scalarTypes()}, objectSchema(optionKeys())}}
	return schema{"oneOf": []schema{{"type": "array", "items": item, "minItems": 1}, ref("expression")}}
}

// contextT is a place for values shown beside a question, each under a label.
type contextT struct{ exprMap }

// questionsT is a place for several questions of one node.
type questionsT struct{ list []*question }

func (p *questionsT) take(r *reader, name string, v *value) {
	if v.shape == mappingShape && len(v.entries) == 0 {
		r.fault(v.at, "questions asks nothing")
	}
	for _, e := range r.pairs(name, "name: question", v) {
		if !r.questionName(e.key) {
			continue
		}
		if e.value.shape != mappingShape {
			r.fault(e.value.at, "question %q must be a mapping, not %v", e.key.text, e.value)
			continue
		}
		q := newQuestion(e.key.text, e.key.at)
		r.readQuestion(q, e.value)
		p.list = append(p.list, q)
	}
}

func (p *questionsT) schema() schema {
	return schema{"type": "object", "propertyNames": ref("identifier"), "additionalProperties": ref("question"), "minProperties": 1}
}

// reducersT is a place for {key: reducer}.
type reducersT struct{ list []entry }

func (p *reducersT) take(r *reader, name string, v *value) {
	for _, e := range r.pairs(name, "key: reducer", v) {
		w := wordT{what: "reducer", words: reducerNames()}
		w.take(r, name, e.value)
		if r.stateKey(e.key) { // also where the reducer is none, so that the key is known
			p.list = append(p.list, e)
		}
	}
}

func (p *reducersT) schema() schema {
	return schema{"type": "object", "propertyNames": ref("identifier"), "additionalProperties": schema{"enum": reducerNames()}}
}

// contentTypes are the ways to show a content; code/LANG is one more.
var contentTypes = []string{"text", "markdown", "diff", "json", "table"}

var codeType = regexp.MustCompile(`^code/[A-Za-z0-9+#_.-]+$`)

// contentTypeT is a place for content_type.
type contentTypeT struct{ text string }

func (p *contentTypeT) take(r *reader, name string, v *value) {
	text, ok := r.scalar(name, "a text", v)
	switch {
	case !ok:
	case slices.Contains(contentTypes, text) || codeType.MatchString(text):
		p.text = text
	default:
		r.fault(v.at, "unknown content_type %q%s", text, r.suggestOf(text, append(slices.Clone(contentTypes), "code/LANG")))
	}
}

func (p *contentTypeT) schema() schema {
	return schema{"oneOf": []schema{{"enum": contentTypes}, {"type": "string", "pattern": codeType.String()}}}
}

// actionList is a place for a list of actions.
type actionList struct{ wordList }

func newActionList() actionList {
	return actionList{wordList{known: actionNames(), what: "action"}}
}

func (p *actionList) actions() []actions.Action {
	var list []actions.Action
	for _, w := range p.words {
		list = append(list, actions.Action(w.text))
	}
	return list
}

// priorities are the words of priority, where it is no template.
var priorities = []string{"low", "normal", "high", "urgent"}

// priorityT is a place for the priority of a question: one of four words, or a template that makes one.
type priorityT struct{ textT }

func (p *priorityT) take(r *reader, name string, v *value) {
	p.textT.take(r, name, v)
	if p.given() && !strings.Contains(v.text, "{{") && !slices.Contains(priorities, v.text) {
		r.fault(v.at, "unknown priority %q%s", v.text, r.suggestOf(v.text, priorities))
	}
}
