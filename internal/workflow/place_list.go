package workflow

import (
	"slices"
	"strings"
)

// items are the values of a list; one that is none, or empty, is an error.
func (r *reader) items(name, what string, v *value) []*value {
	if v.shape != listShape {
		r.unclear++
		r.fault(v.at, "%s must be a list of %s, not %v", name, what, v)
		return nil
	}
	return slices.DeleteFunc(slices.Clone(v.list), func(item *value) bool {
		if item.shape == emptyShape {
			r.fault(item.at, `an empty entry in %s; "" is the empty text`, name)
		}
		return item.shape == emptyShape
	})
}

// pairs are the entries of a mapping whose values are not empty.
func (r *reader) pairs(name, what string, v *value) []entry {
	if v.shape != mappingShape {
		r.unclear++
		r.fault(v.at, "%s must be a mapping of %s, not %v", name, what, v)
		return nil
	}
	return slices.DeleteFunc(slices.Clone(v.entries), func(e entry) bool {
		if e.value.shape == emptyShape {
			r.fault(e.key.at, `%s has no value; "" is the empty text`, e.key.text)
		}
		return e.value.shape == emptyShape
	})
}

// textList is a place for a list of templates.
type textList []textT

func (p *textList) take(r *reader, name string, v *value) {
	if words := strings.Fields(v.text); v.shape == scalarShape && len(words) > 0 {
		r.unclear++
		r.fault(v.at, "%s must be a list of texts: [%s]; for a line of the shell use shell", name, strings.Join(words, ", "))
		return
	}
	for _, item := range r.items(name, "texts", v) {
		var t textT
		t.take(r, name, item)
		*p = append(*p, t)
	}
}

func (p *textList) schema() schema { return schema{"type": "array", "items": ref("template")} }

// wordList is a place for a list of literal texts.
type wordList struct {
	words []*value
	given bool
	known []string // nil: any
	what  string
}

func (p *wordList) take(r *reader, name string, v *value) {
	p.given = true
	for _, item := range r.items(name, "texts", v) {
		text, ok := r.scalar(name, "a list of texts", item)
		switch {
		case !ok:
		case p.known != nil && !slices.Contains(p.known, text):
			r.doubts++
			r.fault(item.at, "unknown %s %q%s", p.what, text, r.suggestOf(text, p.known))
		case slices.ContainsFunc(p.words, func(w *value) bool { return w.text == text }):
			r.fault(item.at, "%s lists %s twice", name, text)
		default:
			p.words = append(p.words, item)
		}
	}
}

func (p *wordList) texts() []string {
	list := make([]string, len(p.words))
	for i, w := range p.words {
		list[i] = w.text
	}
	return list
}

func (p *wordList) schema() schema {
	items := schema{"type": scalarTypes()}
	if p.known != nil {
		items = schema{"enum": p.known}
	}
	return schema{"type": "array", "items": items, "uniqueItems": true}
}

// intList is a place for a list of whole numbers.
type intList struct {
	list     []int
	min, max int
}

func (p *intList) take(r *reader, name string, v *value) {
	for _, item := range r.items(name, "whole numbers", v) {
		n := intT{n: p.min - 1, min: p.min, max: p.max}
		if n.take(r, name, item); n.n < p.min {
			r.doubts++
			continue
		}
		p.list = append(p.list, n.n)
	}
}

func (p *intList) schema() schema {
	return schema{"type": "array", "items": (&intT{min: p.min, max: p.max}).schema()}
}

// namedText is one entry of an ordered mapping name -> template.
type namedText struct {
	key  *value
	text textT
}

// textMap is a place for an ordered mapping name -> template.
type textMap []namedText

func (p *textMap) take(r *reader, name string, v *value) {
	for _, e := range r.pairs(name, "name: text", v) {
		var t textT
		t.take(r, name+"."+e.key.text, e.value)
		*p = append(*p, namedText{e.key, t})
	}
}

func (p *textMap) schema() schema {
	return schema{"type": "object", "additionalProperties": ref("template")}
}

// namedExpr is one entry of an ordered mapping name -> expression.
type namedExpr struct {
	key  *value
	expr exprT
}

// exprMap is a place for an ordered mapping name -> expression.
type exprMap struct {
	list  []namedExpr
	given bool
	at    position
}

func (p *exprMap) take(r *reader, name string, v *value) {
	p.given, p.at = true, v.at
	for _, e := range r.pairs(name, "name: expression", v) {
		var x exprT
		x.take(r, name+"."+e.key.text, e.value)
		p.list = append(p.list, namedExpr{e.key, x})
	}
}

func (p *exprMap) schema() schema {
	return schema{"type": "object", "additionalProperties": ref("expression")}
}
