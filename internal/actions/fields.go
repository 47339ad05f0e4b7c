package actions

import (
	"encoding/json"
	"slices"
	"strings"
)

// FieldKind says with which control a field of a form is filled in.
type FieldKind string

// The kinds of field. What has no control of its own is RawField: JSON typed as text.
const (
	TextField    FieldKind = "text"
	NumberField  FieldKind = "number"
	IntegerField FieldKind = "integer"
	BooleanField FieldKind = "boolean"
	SelectField  FieldKind = "select"      // one of Options
	ManyField    FieldKind = "multiselect" // a list of some of Options
	ListField    FieldKind = "list"        // of Items, each a text, a number or yes and no
	ObjectField  FieldKind = "object"      // Fields
	RawField     FieldKind = "json"
)

// Field is one property of an object schema, as a form shows it.
type Field struct {
	Name        string
	Kind        FieldKind
	Title       string // the name where the schema has none
	Description string
	Required    bool
	Nullable    bool            // null is a value too
	Default     json.RawMessage // nil for none
	Options     []OptionItem    // of select and multiselect, each with a label
	Format      string          // email, date, uri ...; of a text
	Pattern     string
	Minimum     string // bounds of a number as written, "" for none
	Maximum     string
	Items       FieldKind // of a list: text, number, integer or boolean
	MinLength   int       // of a text, or of a multiselect or list the least number of items; 0 for none
	MaxLength   int       // likewise; 0 for none
	Multiline   bool      // a text that may be long
	Secret      bool      // not to be echoed, drafted or recorded: writeOnly, or format password
	Fields      []Field
}

// Fields is the properties of an object schema in the order of its source; none when the schema is of no object
// with properties. References within the schema are followed, those that lead in a circle end as RawField.
func (s *Schema) Fields() []Field { return s.fieldsOf(s.source, 0) }

// maxFieldDepth is how deep objects within objects still make a form that can be used.
const maxFieldDepth = 4

func (s *Schema) fieldsOf(object *value, depth int) []Field {
	object = s.resolve(object)
	props := object.get("properties")
	if props == nil || props.kind != isObject {
		return nil
	}
	required := object.get("required").texts()
	out := make([]Field, 0, len(props.members))
	for _, m := range props.members {
		f := s.fieldOf(m.name, m.value, depth)
		f.Required = slices.Contains(required, m.name)
		out = append(out, f)
	}
	return out
}

func (s *Schema) fieldOf(name string, source *value, depth int) Field {
	v := s.resolve(source)
	types := v.get("type").texts()
	f := Field{Name: name, Title: s.text(source, "title"), Description: s.text(source, "description"),
		Format: s.text(v, "format"), Pattern: s.text(v, "pattern")}
	if f.Title == "" {
		f.Title = name
	}
	if d := firstOf(source.get("default"), v.get("default")); d != nil {
		f.Default = d.compact()
	}
	if i := slices.Index(types, "null"); i >= 0 && len(types) > 1 {
		f.Nullable = true
		types = slices.Delete(slices.Clone(types), i, i+1)
	}
	f.Minimum = firstOf(v.get("minimum"), v.get("exclusiveMinimum")).number()
	f.Maximum = firstOf(v.get("maximum"), v.get("exclusiveMaximum")).number()
	f.Secret = f.Format == "password" || v.get("writeOnly").isTrue() || source.get("writeOnly").isTrue()
	s.choose(&f, v, types, depth)
	return f
}

// choose finds the control for v.
func (s *Schema) choose(f *Field, v *value, types []string, depth int) {
	f.Kind = RawField
	if f.Options = optionsOf(v); len(f.Options) > 0 {
		f.Kind = SelectField
		return
	}
	if len(types) != 1 {
		if len(types) == 0 && v.get("properties") != nil {
			types = []string{"object"}
		} else {
			return
		}
	}
	switch types[0] {
	case "string":
		f.Kind = TextField
		f.MinLength, f.MaxLength = v.get("minLength").whole(), v.get("maxLength").whole()
		const long = 120 // a line of a form
		f.Multiline = f.MaxLength > long || f.Format == "" && f.Pattern == "" && f.MaxLength == 0 && !f.Secret
	case "number":
		f.Kind = NumberField
	case "integer":
		f.Kind = IntegerField
	case "boolean":
		f.Kind = BooleanField
	case "array":
		if f.Options = optionsOf(s.resolve(v.get("items"))); len(f.Options) > 0 {
			f.Kind = ManyField
			f.MinLength, f.MaxLength = v.get("minItems").whole(), v.get("maxItems").whole()
		} else if kind := scalarKind(s.resolve(v.get("items"))); kind != "" {
			f.Kind, f.Items = ListField, kind
			f.MinLength, f.MaxLength = v.get("minItems").whole(), v.get("maxItems").whole()
		}
	case "object":
		if depth < maxFieldDepth {
			if f.Fields = s.fieldsOf(v, depth+1); len(f.Fields) > 0 {
				f.Kind = ObjectField
			}
		}
	}
}

// scalarKind is the kind of a value that has room on a line, "" for any other.
func scalarKind(v *value) FieldKind {
	switch types := v.get("type").texts(); {
	case len(types) != 1 || v.get("writeOnly").isTrue():
	case types[0] == "string":
		return TextField
	case types[0] == "number":
		return NumberField
	case types[0] == "integer":
		return IntegerField
	case types[0] == "boolean":
		return BooleanField
	}
	return ""
}

// optionsOf is the values of an enum, or of a oneOf or anyOf of which each alternative is a const with a title.
func optionsOf(v *value) []OptionItem {
	var out []OptionItem
	if enum := v.get("enum"); enum != nil {
		for _, item := range enum.items {
			out = append(out, OptionItem{Value: item.compact(), Label: item.display()})
		}
		return out
	}
	alternatives := firstOf(v.get("oneOf"), v.get("anyOf"))
	if alternatives == nil {
		return nil
	}
	for _, item := range alternatives.items {
		c := item.get("const")
		if c == nil {
			return nil
		}
		option := OptionItem{Value: c.compact(), Label: c.display()}
		if title := item.get("title"); title != nil && title.kind == isText {
			option.Label = title.text
		}
		if d := item.get("description"); d != nil && d.kind == isText {
			option.Description = d.text
		}
		out = append(out, option)
	}
	return out
}

// resolve follows references within the source; where one leads nowhere or in a circle v is the empty schema.
func (s *Schema) resolve(v *value) *value {
	for range maxReferences {
		ref := v.get("$ref")
		if ref == nil {
			if v == nil {
				return &value{kind: isObject}
			}
			return v
		}
		pointer, local := strings.CutPrefix(ref.text, "#")
		if !local || pointer != "" && pointer[0] != '/' {
			break
		}
		v = s.source.at(pointer)
	}
	return &value{kind: isObject}
}

// text is a keyword of v, or of what v refers to.
func (s *Schema) text(v *value, keyword string) string {
	if t := firstOf(v.get(keyword), s.resolve(v).get(keyword)); t != nil && t.kind == isText {
		return t.text
	}
	return ""
}

func firstOf(a, b *value) *value {
	if a != nil {
		return a
	}
	return b
}

// texts is the texts in v: itself, or the items of a list.
func (v *value) texts() []string {
	switch {
	case v == nil:
		return nil
	case v.kind == isText:
		return []string{v.text}
	}
	var out []string
	for _, item := range v.items {
		if item.kind == isText {
			out = append(out, item.text)
		}
	}
	return out
}

func (v *value) isTrue() bool { return v != nil && v.kind == isBoolean && v.boolean }

func (v *value) number() string {
	if v == nil || v.kind != isNumber {
		return ""
	}
	return v.text
}

// whole is v as a count, 0 when it is none.
func (v *value) whole() int {
	var n int
	if v == nil || json.Unmarshal(v.compact(), &n) != nil {
		return 0
	}
	return n
}
