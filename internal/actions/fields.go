package actions

import (
	"cmp"
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
	ItemsField   FieldKind = "items"       // a list of anything else: each is an Item
	ObjectField  FieldKind = "object"      // Properties
	VariantField FieldKind = "variant"     // one of Variants
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
	Over        string // the number must be more than this, "" for none
	Under       string // likewise less
	MultipleOf  string
	Const       json.RawMessage // the only value there can be; nil where there are more
	Items       FieldKind       // of a list: text, number, integer or boolean
	MinLength   int             // of a text, or of a multiselect, list or items the least number of items; 0 for none
	MaxLength   int             // likewise; 0 for none
	Multiline   bool            // a text that may be long
	Secret      bool            // not to be echoed, drafted or recorded: writeOnly, or format password
	Recursive   bool            // it stands within itself: not to be unfolded before it is asked for

	inside inside
}

// inside is where the parts of a field are read from when they are asked for, since a schema may refer to itself.
type inside struct {
	schema *Schema
	parts  []*value // a field's schema, what it refers to and its allOf: all of them hold
	above  []*value // those of the fields around it
}

// Fields is the properties of an object schema in the order of its source; none when the schema is of no object
// with properties. References within the schema are followed.
func (s *Schema) Fields() []Field {
	root := s.Root()
	if root.Kind != ObjectField {
		return nil
	}
	return root.Properties()
}

// Root is the schema itself as a field without a name.
func (s *Schema) Root() Field { return s.fieldOf("", s.source, nil) }

// Properties is the fields of an object, in the order of the schema.
func (f Field) Properties() []Field {
	in := f.inside
	var required []string
	for _, p := range in.parts {
		required = append(required, p.get("required").texts()...)
	}
	var out []Field
	for _, p := range in.parts {
		props := p.get("properties")
		if props == nil || props.kind != isObject {
			continue
		}
		for _, m := range props.members {
			x := in.schema.fieldOf(m.name, m.value, slices.Concat(in.above, in.parts))
			x.Required = slices.Contains(required, m.name)
			at := slices.IndexFunc(out, func(o Field) bool { return o.Name == m.name })
			switch {
			case at < 0:
				out = append(out, x)
			case x.Const != nil || out[at].Kind == RawField:
				out[at] = x // the narrower of two that both hold
			}
		}
	}
	return out
}

// Item is any one item of a list, without a name.
func (f Field) Item() Field {
	in := f.inside
	x := in.schema.fieldOf("", firstIn(in.parts, "items"), slices.Concat(in.above, in.parts))
	x.Required = true
	return x
}

// Variants is what a variant field can be, each with a title.
func (f Field) Variants() []Field {
	in := f.inside
	keyword, alternatives, _ := alternativesOf(in.parts)
	common := withoutFirst(in.parts, keyword)
	out := make([]Field, len(alternatives))
	for i, a := range alternatives {
		own := in.schema.partsOf(a)
		x := in.schema.read(slices.Concat(own, common), slices.Concat(in.above, in.parts))
		x.Name, x.Required = f.Name, f.Required
		x.Title = in.schema.nameOf(a, x)
		out[i] = x
	}
	return out
}

// nameOf names an alternative: by its title, by the constant that tells it from the others, by the name of what it
// refers to, by its kind.
func (s *Schema) nameOf(alternative *value, x Field) string {
	if t := s.text(alternative, "title"); t != "" {
		return t
	}
	if x.Kind == ObjectField {
		for _, p := range x.Properties() {
			if p.Const != nil {
				return p.Options[0].Label
			}
		}
	}
	if ref := alternative.get("$ref"); ref != nil {
		return ref.text[strings.LastIndexByte(ref.text, '/')+1:]
	}
	return string(x.Kind)
}

func (s *Schema) fieldOf(name string, source *value, above []*value) Field {
	f := s.read(s.partsOf(source), above)
	f.Name = name
	f.Title = cmp.Or(f.Title, name)
	return f
}

// partsOf is all schemas that hold where v stands: v, what it refers to, and what allOf lists. One that leads in a
// circle is there once.
func (s *Schema) partsOf(v *value) []*value {
	var out []*value
	var add func(v *value, budget int)
	add = func(v *value, budget int) {
		if v == nil || v.kind != isObject || budget == 0 || slices.Contains(out, v) {
			return
		}
		out = append(out, v)
		if ref := v.get("$ref"); ref != nil {
			if pointer, local := strings.CutPrefix(ref.text, "#"); local && (pointer == "" || pointer[0] == '/') {
				add(s.source.at(pointer), budget-1)
			}
		}
		if all := v.get("allOf"); all != nil {
			for _, item := range all.items {
				add(item, budget-1)
			}
		}
	}
	add(v, maxReferences)
	return out
}

// firstIn is a keyword of the first part that has it.
func firstIn(parts []*value, keyword string) *value {
	for _, p := range parts {
		if v := p.get(keyword); v != nil {
			return v
		}
	}
	return nil
}

// withoutFirst is the parts without a keyword of the first that has it.
func withoutFirst(parts []*value, keyword string) []*value {
	out := slices.Clone(parts)
	if i := slices.IndexFunc(out, func(p *value) bool { return p.get(keyword) != nil }); i >= 0 {
		out[i] = out[i].without(keyword)
	}
	return out
}

// read makes a field of schemas that all hold.
func (s *Schema) read(parts, above []*value) Field {
	var f Field
	f.Recursive = slices.ContainsFunc(parts, func(p *value) bool { return slices.Contains(above, p) })
	around := above
	for range maxReferences {
		keyword, only, null := alternativesOf(parts)
		f.Nullable = f.Nullable || null
		if len(only) != 1 || !null {
			break
		}
		around = slices.Concat(around, parts)
		added := s.partsOf(only[0])
		f.Recursive = f.Recursive || slices.ContainsFunc(added, func(p *value) bool { return slices.Contains(around, p) })
		parts = append(withoutFirst(parts, keyword), added...)
	}
	f.inside = inside{s, parts, around}
	f.Title, f.Description = textIn(parts, "title"), textIn(parts, "description")
	f.Format, f.Pattern = textIn(parts, "format"), textIn(parts, "pattern")
	if d := firstIn(parts, "default"); d != nil {
		f.Default = d.compact()
	}
	types := firstIn(parts, "type").texts()
	if i := slices.Index(types, "null"); i >= 0 && len(types) > 1 {
		f.Nullable = true
		types = slices.Delete(slices.Clone(types), i, i+1)
	}
	f.Minimum, f.Maximum = firstIn(parts, "minimum").number(), firstIn(parts, "maximum").number()
	f.Over, f.Under = firstIn(parts, "exclusiveMinimum").number(), firstIn(parts, "exclusiveMaximum").number()
	f.MultipleOf = firstIn(parts, "multipleOf").number()
	f.Secret = f.Format == "password" || slices.ContainsFunc(parts, func(p *value) bool { return p.get("writeOnly").isTrue() })
	s.choose(&f, types)
	return f
}

// alternativesOf is the first oneOf or anyOf, without null, and whether null was among it.
func alternativesOf(parts []*value) (keyword string, alternatives []*value, null bool) {
	for _, p := range parts {
		for _, keyword := range []string{"oneOf", "anyOf"} {
			list := p.get(keyword)
			if list == nil {
				continue
			}
			for _, item := range list.items {
				if c := item.get("const"); c != nil && c.kind == isNull || slices.Equal(item.get("type").texts(), []string{"null"}) {
					null = true
				} else {
					alternatives = append(alternatives, item)
				}
			}
			return keyword, alternatives, null
		}
	}
	return "", nil, false
}

// choose finds the control.
func (s *Schema) choose(f *Field, types []string) {
	parts := f.inside.parts
	f.Kind = RawField
	if f.Options = optionsOf(parts); len(f.Options) > 0 {
		f.Kind = SelectField
		if len(f.Options) == 1 && !f.Nullable {
			f.Const = f.Options[0].Value
		}
		return
	}
	if _, alternatives, _ := alternativesOf(parts); len(alternatives) > 1 && narrows(alternatives) {
		f.Kind = VariantField
		return
	}
	if len(types) == 0 {
		switch {
		case firstIn(parts, "properties") != nil:
			types = []string{"object"}
		case firstIn(parts, "items") != nil:
			types = []string{"array"}
		}
	}
	if len(types) != 1 {
		return
	}
	switch types[0] {
	case "string":
		f.Kind = TextField
		f.MinLength, f.MaxLength = firstIn(parts, "minLength").whole(), firstIn(parts, "maxLength").whole()
		const long = 120 // a line of a form
		f.Multiline = f.MaxLength > long || f.Format == "" && f.Pattern == "" && f.MaxLength == 0 && !f.Secret
	case "number":
		f.Kind = NumberField
	case "integer":
		f.Kind = IntegerField
	case "boolean":
		f.Kind = BooleanField
	case "array":
		s.chooseList(f)
	case "object":
		if firstIn(parts, "properties") != nil {
			f.Kind = ObjectField
		}
	}
}

// narrows tells whether the alternatives say what a value is, and not only which of its properties must be there.
func narrows(alternatives []*value) bool {
	return !slices.ContainsFunc(alternatives, func(a *value) bool {
		return !slices.ContainsFunc([]string{"type", "properties", "$ref", "const", "enum", "items", "allOf", "anyOf", "oneOf"},
			func(k string) bool { return a.get(k) != nil })
	})
}

func (s *Schema) chooseList(f *Field) {
	parts := f.inside.parts
	if items := firstIn(parts, "items"); items == nil || items.kind != isObject || firstIn(parts, "prefixItems") != nil {
		return
	}
	f.MinLength, f.MaxLength = firstIn(parts, "minItems").whole(), firstIn(parts, "maxItems").whole()
	switch item := f.Item(); {
	case item.Kind == SelectField && !item.Nullable:
		f.Kind, f.Options = ManyField, item.Options
	case item.Kind == TextField && !item.Secret && !item.Nullable, item.Kind == NumberField && !item.Nullable,
		item.Kind == IntegerField && !item.Nullable, item.Kind == BooleanField && !item.Nullable:
		f.Kind, f.Items = ListField, item.Kind
	default:
		f.Kind = ItemsField
	}
}

// optionsOf is the values of an enum or const, or of a oneOf or anyOf of which each alternative is a const with a title.
func optionsOf(parts []*value) []OptionItem {
	var out []OptionItem
	if c := firstIn(parts, "const"); c != nil {
		return []OptionItem{{Value: c.compact(), Label: c.display()}}
	}
	if enum := firstIn(parts, "enum"); enum != nil {
		for _, item := range enum.items {
			out = append(out, OptionItem{Value: item.compact(), Label: item.display()})
		}
		return out
	}
	_, alternatives, _ := alternativesOf(parts)
	for _, item := range alternatives {
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

func textIn(parts []*value, keyword string) string {
	if t := firstIn(parts, keyword); t != nil && t.kind == isText {
		return t.text
	}
	return ""
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
