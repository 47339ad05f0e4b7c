package actions

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// maxCoercions bounds the work on a value, since a schema may refer to itself.
const maxCoercions = 100_000

// maxReferences bounds a chain of references that consumes nothing of the value.
const maxReferences = 32

type coercer struct {
	schema *Schema
	budget int
}

// coerce makes of v what sch asks for, as far as that loses nothing; v itself is left alone. What does not fit stays
// as it is, for the validator to refuse.
func (c *coercer) coerce(v *value, sch *jsonschema.Schema) *value { return c.within(v, sch, 0) }

func (c *coercer) within(v *value, sch *jsonschema.Schema, references int) *value {
	c.budget--
	if sch == nil || c.budget < 0 || references > maxReferences {
		return v
	}
	v = coerceScalar(v, sch)
	switch v.kind {
	case isObject:
		v = c.coerceObject(v, sch)
	case isList:
		v = c.coerceList(v, sch)
	}
	if sch.Ref != nil {
		v = c.within(v, sch.Ref, references+1)
	}
	for _, sub := range sch.AllOf {
		v = c.within(v, sub, references+1)
	}
	for _, alternatives := range [][]*jsonschema.Schema{sch.AnyOf, sch.OneOf} {
		v = c.coerceAlternatives(v, alternatives, references+1)
	}
	return v
}

// coerceAlternatives follows the first alternative that takes v as it is, else the first that takes what it makes
// of v.
func (c *coercer) coerceAlternatives(v *value, subs []*jsonschema.Schema, references int) *value {
	for _, sub := range subs {
		if c.budget--; c.budget > 0 && sub.Validate(v.plain()) == nil {
			return c.within(v, sub, references)
		}
	}
	for _, sub := range subs {
		made := c.within(v, sub, references)
		if c.budget--; c.budget > 0 && sub.Validate(made.plain()) == nil {
			return made
		}
	}
	return v
}

func (c *coercer) coerceObject(v *value, sch *jsonschema.Schema) *value {
	out := &value{kind: isObject, members: slices.Clone(v.members)}
	for i, m := range out.members {
		sub := sch.Properties[m.name]
		if sub == nil {
			sub, _ = sch.AdditionalProperties.(*jsonschema.Schema)
		}
		out.members[i].value = c.coerce(m.value, sub)
	}
	for _, name := range c.schema.propertyOrder(sch) {
		if d := defaultOf(sch.Properties[name], 0); d != nil && v.get(name) == nil {
			out.members = append(out.members, member{name, fromPlain(*d)})
		}
	}
	return out
}

func (c *coercer) coerceList(v *value, sch *jsonschema.Schema) *value {
	out := &value{kind: isList, items: slices.Clone(v.items)}
	for i, item := range out.items {
		if i < len(sch.PrefixItems) {
			out.items[i] = c.coerce(item, sch.PrefixItems[i])
		} else {
			out.items[i] = c.coerce(item, sch.Items2020)
		}
	}
	return out
}

// defaultOf is the default of a property, its own or that of what it refers to.
func defaultOf(sch *jsonschema.Schema, references int) *any {
	if sch == nil || sch.Default != nil || references > maxReferences {
		if sch == nil {
			return nil
		}
		return sch.Default
	}
	return defaultOf(sch.Ref, references+1)
}

// typesOf is the types that sch names, itself or through a reference.
func typesOf(sch *jsonschema.Schema, references int) []string {
	switch {
	case sch == nil || references > maxReferences:
		return nil
	case sch.Types != nil:
		return sch.Types.ToStrings()
	}
	return typesOf(sch.Ref, references+1)
}

func coerceScalar(v *value, sch *jsonschema.Schema) *value {
	if v.kind != isText && v.kind != isNumber && v.kind != isBoolean {
		return v
	}
	if sch.Types == nil {
		return coerceToListed(v, sch)
	}
	types := sch.Types.ToStrings()
	has := func(t string) bool { return slices.Contains(types, t) }
	switch v.kind {
	case isText:
		text := strings.TrimSpace(v.text)
		switch {
		case has("string"):
		case has("boolean") && (text == "true" || text == "false"):
			return &value{kind: isBoolean, boolean: text == "true"}
		case (has("integer") || has("number")) && isPlainNumber(text):
			return &value{kind: isNumber, text: text}
		}
	case isNumber:
		if has("string") && !has("number") && !has("integer") {
			return textValue(v.text)
		}
	case isBoolean:
		if has("string") && !has("boolean") {
			return textValue(v.display())
		}
	}
	return v
}

// coerceToListed helps where only enum or const tell the type: a scalar that is written like one of the listed
// values becomes it.
func coerceToListed(v *value, sch *jsonschema.Schema) *value {
	var listed []any
	if sch.Enum != nil {
		listed = sch.Enum.Values
	}
	if sch.Const != nil {
		listed = append(slices.Clone(listed), *sch.Const)
	}
	var alike *value
	for _, item := range listed {
		w := fromPlain(item)
		if w.equal(v) {
			return v
		}
		if alike == nil && w.kind != isList && w.kind != isObject && w.kind != isNull && w.display() == v.display() {
			alike = w
		}
	}
	if alike != nil {
		return alike
	}
	return v
}

func isPlainNumber(s string) bool {
	if s == "" || s[0] != '-' && (s[0] < '0' || s[0] > '9') {
		return false
	}
	return json.Valid([]byte(s))
}

// fromPlain is the value of what the JSON Schema library holds.
func fromPlain(x any) *value {
	switch t := x.(type) {
	case bool:
		return &value{kind: isBoolean, boolean: t}
	case json.Number:
		return &value{kind: isNumber, text: t.String()}
	case string:
		return textValue(t)
	case []any:
		out := &value{kind: isList, items: make([]*value, len(t))}
		for i, item := range t {
			out.items[i] = fromPlain(item)
		}
		return out
	case map[string]any:
		out := &value{kind: isObject}
		for name, item := range t {
			out.members = append(out.members, member{name, fromPlain(item)})
		}
		slices.SortFunc(out.members, func(a, b member) int { return strings.Compare(a.name, b.name) })
		return out
	default:
		return &value{}
	}
}
