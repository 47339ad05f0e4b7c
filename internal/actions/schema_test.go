package actions_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/hitl-tui/hitl-tui/internal/actions"
)

func TestCompileSchemaFaults(t *testing.T) {
	for schema, faults := range map[string][]string{
		`{"typ":"object"}`:  {`unknown schema keyword "typ"; did you mean "type"?`},
		`{"type":"objekt"}`: {"not a JSON Schema", "at '/type'"},
		`{"properties":{"a":{"minimun":1}},"requierd":["a"]}`:   {`at '/properties/a': unknown schema keyword "minimun"; did you mean "minimum"?`, `did you mean "required"?`},
		`{"$ref":"file:///etc/passwd"}`:                         {"references outside the file are not allowed"},
		`{"$ref":"https://example.com/x.json"}`:                 {"references outside the file are not allowed"},
		`{"$ref":"other.json"}`:                                 {"references outside the file are not allowed"},
		`{"$schema":"https://example.com/s"}`:                   {"references outside the file are not allowed"},
		`{"properties":{"since":{}},"required":["sinse"]}`:      {`at '/required/0': "sinse" is not one of the properties; did you mean "since"?`},
		`{"properties":{"a":{"type":"integer","default":"x"}}}`: {"at '/properties/a/default': must be a whole number, not a text"},
		`{"pattern":"("}`:                                       {"at '/pattern'"},
		`5`:                                                     {"must be an object"},
		`{`:                                                     {"not a JSON Schema"},
		`{"type":"string","type":"number"}`:                     {"given twice"},
		`{"$ref":"#/$defs/nowhere"}`:                            {"not a JSON Schema"},
	} {
		_, err := actions.CompileSchema(raw(schema))
		var bad *actions.SchemaError
		if !errors.As(err, &bad) {
			t.Errorf("%s: %v", schema, err)
			continue
		}
		for _, fault := range faults {
			if !strings.Contains(err.Error(), fault) {
				t.Errorf("%s: %v\nwants %q", schema, err, fault)
			}
		}
	}
	for _, schema := range []string{`true`, `{}`, `{"x-order":1}`, `{"properties":{"typ":{"type":"string"}}}`, `{"$defs":{"a":{"const":1}},"$ref":"#/$defs/a"}`} {
		if _, err := actions.CompileSchema(raw(schema)); err != nil {
			t.Errorf("%s: %v", schema, err)
		}
	}
}

func TestComplete(t *testing.T) {
	for _, tc := range []struct{ name, schema, in, want, fault string }{
		{"coerce", `{"properties":{"i":{"type":"integer"},"n":{"type":"number"},"b":{"type":"boolean"},"s":{"type":"string"}}}`,
			`{"s":42,"i":"42","n":" 1.50 ","b":"true"}`, `{"s":"42","i":42,"n":1.50,"b":true}`, ""},
		{"number keeps its spelling", `{"properties":{"s":{"type":"string"}}}`, `{"s":1.10}`, `{"s":"1.10"}`, ""},
		{"text stays", `{"properties":{"s":{"type":["string","integer"]}}}`, `{"s":"42"}`, `{"s":"42"}`, ""},
		{"nullable", `{"properties":{"i":{"type":["integer","null"]}}}`, `{"i":"42"}`, `{"i":42}`, ""},
		{"no guess", `{"properties":{"b":{"type":"boolean"}}}`, `{"b":"yes"}`, "", "/b: must be true or false, not a text"},
		{"hex is no number", `{"properties":{"i":{"type":"integer"}}}`, `{"i":"0x1F"}`, "", "/i: must be a whole number"},
		{"defaults in source order", `{"properties":{"z":{"default":1},"y":{},"a":{"default":[2]}}}`, `{"y":0}`, `{"y":0,"z":1,"a":[2]}`, ""},
		{"nested default", `{"properties":{"o":{"properties":{"x":{"default":1}}}}}`, `{"o":{}}`, `{"o":{"x":1}}`, ""},
		{"default by reference", `{"$defs":{"d":{"default":7}},"properties":{"x":{"$ref":"#/$defs/d"}}}`, `{}`, `{"x":7}`, ""},
		{"nothing", `{"properties":{"x":{"default":1}}}`, ``, `{"x":1}`, ""},
		{"null is not nothing", `{"type":"object"}`, `null`, "", "must be an object, not null"},
		{"object understood", `{"properties":{"x":{}}}`, `[]`, "", "must be an object, not a list"},
		{"unlisted", `{"properties":{"since":{}}}`, `{"sinse":1}`, "", `/sinse: is not expected; did you mean "since"?`},
		{"open", `{"properties":{"x":{}},"additionalProperties":true}`, `{"y":1}`, `{"y":1}`, ""},
		{"additional coerced", `{"additionalProperties":{"type":"integer"}}`, `{"y":"1"}`, `{"y":1}`, ""},
		{"items", `{"items":{"type":"integer"}}`, `["1",2]`, `[1,2]`, ""},
		{"enum of numbers", `{"enum":[1,2]}`, `"2"`, `2`, ""},
		{"oneOf takes it as it is", `{"oneOf":[{"type":"string"},{"type":"integer"}]}`, `42`, `42`, ""},
		{"oneOf coerces", `{"oneOf":[{"type":"integer","minimum":10},{"type":"boolean"}]}`, `"true"`, `true`, ""},
		{"oneOf const", `{"oneOf":[{"const":"a","title":"A"},{"const":"b"}]}`, `"c"`, "", "must be one of 'a', 'b'"},
		{"itself", `{"properties":{"next":{"$ref":"#"},"n":{"type":"integer"}}}`, `{"next":{"next":{"n":"1"}}}`, `{"next":{"next":{"n":1}}}`, ""},
		{"circle", `{"allOf":[{"properties":{"a":{"type":"integer"}}}]}`, `{"a":"1"}`, `{"a":1}`, ""},
		{"format", `{"properties":{"d":{"type":"string","format":"date"}}}`, `{"d":"2024-13-01"}`, "", "/d: must be a valid date"},
		{"length", `{"type":"string","minLength":3}`, `"ab"`, "", "must have at least 3 characters, has 2"},
		{"pattern", `{"type":"string","pattern":"^[a-z]+$"}`, `"A"`, "", "must match the pattern ^[a-z]+$"},
		{"fraction bound", `{"type":"number","maximum":0.1}`, `1`, "", "must be at most 0.1"},
		{"pointer escapes", `{"properties":{"a/b":{"type":"integer"}}}`, `{"a/b":[]}`, "", "/a~1b: must be a whole number, not a list"},
		{"all at once", `{"properties":{"a":{"type":"integer"},"b":{}},"required":["b"]}`, `{"a":[],"c":1}`, "", "/a: must be a whole number, not a list; /b: is required"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, err := actions.CompileSchema(raw(tc.schema))
			if err != nil {
				t.Fatal(err)
			}
			got, err := s.Complete(raw(tc.in))
			switch {
			case tc.fault != "":
				if err == nil || !strings.Contains(err.Error(), tc.fault) {
					t.Errorf("%v, want %q", err, tc.fault)
				}
			case err != nil || string(got) != tc.want:
				t.Errorf("got %s, %v; want %s", got, err, tc.want)
			}
		})
	}
}

func TestCompleteIsStable(t *testing.T) {
	s, err := actions.CompileSchema(raw(claimSchema))
	if err != nil {
		t.Fatal(err)
	}
	once, err := s.Complete(raw(`{"note":"abc","paid":"5"}`))
	if err != nil {
		t.Fatal(err)
	}
	if twice, err := s.Complete(once); err != nil || string(twice) != string(once) {
		t.Errorf("%s became %s, %v", once, twice, err)
	}
	if err := s.Check(once); err != nil {
		t.Error(err)
	}
}

func TestFields(t *testing.T) {
	s, err := actions.CompileSchema(raw(`{"$defs":{"size":{"title":"Size","enum":["S","M"]}},
		"required":["name","size"],"properties":{
		"name":{"type":"string","title":"Your name","description":"In full","minLength":1,"maxLength":40},
		"notes":{"type":"string"},
		"age":{"type":"integer","minimum":0,"exclusiveMaximum":150,"default":30},
		"rate":{"type":["number","null"]},
		"ok":{"type":"boolean"},
		"size":{"$ref":"#/$defs/size"},
		"colour":{"oneOf":[{"const":"r","title":"Red","description":"Like a rose"},{"const":2}]},
		"tags":{"type":"array","items":{"enum":["a","b"]},"minItems":1},
		"where":{"properties":{"city":{"type":"string","format":"email"}},"required":["city"]},
		"pin":{"type":"string","writeOnly":true},
		"list":{"type":"array","items":{"type":"object"}},
		"sizes":{"type":"array","items":{"type":"number"},"maxItems":3},
		"self":{"$ref":"#/properties/self"},
		"any":{}}}`))
	if err != nil {
		t.Fatal(err)
	}
	option := func(value, label, description string) actions.OptionItem {
		return actions.OptionItem{Value: json.RawMessage(value), Label: label, Description: description}
	}
	want := []actions.Field{
		{Name: "name", Kind: actions.TextField, Title: "Your name", Description: "In full", Required: true, MinLength: 1, MaxLength: 40},
		{Name: "notes", Kind: actions.TextField, Title: "notes", Multiline: true},
		{Name: "age", Kind: actions.IntegerField, Title: "age", Minimum: "0", Under: "150", Default: raw("30")},
		{Name: "rate", Kind: actions.NumberField, Title: "rate", Nullable: true},
		{Name: "ok", Kind: actions.BooleanField, Title: "ok"},
		{Name: "size", Kind: actions.SelectField, Title: "Size", Required: true, Options: []actions.OptionItem{option(`"S"`, "S", ""), option(`"M"`, "M", "")}},
		{Name: "colour", Kind: actions.SelectField, Title: "colour", Options: []actions.OptionItem{option(`"r"`, "Red", "Like a rose"), option(`2`, "2", "")}},
		{Name: "tags", Kind: actions.ManyField, Title: "tags", Options: []actions.OptionItem{option(`"a"`, "a", ""), option(`"b"`, "b", "")}, MinLength: 1},
		{Name: "where", Kind: actions.ObjectField, Title: "where"},
		{Name: "pin", Kind: actions.TextField, Title: "pin", Secret: true},
		{Name: "list", Kind: actions.ItemsField, Title: "list"},
		{Name: "sizes", Kind: actions.ListField, Title: "sizes", Items: actions.NumberField, MaxLength: 3},
		{Name: "self", Kind: actions.RawField, Title: "self"},
		{Name: "any", Kind: actions.RawField, Title: "any"},
	}
	if diff := cmp.Diff(want, s.Fields(), cmpopts.IgnoreUnexported(actions.Field{})); diff != "" {
		t.Error(diff)
	}
}

// TestPartsOfFields: what stands within lists, alternatives and references, as a form asks for it step by step.
func TestPartsOfFields(t *testing.T) {
	s, err := actions.CompileSchema(raw(`{"$defs":{"node":{"type":"object","required":["name"],"properties":{"name":{"type":"string"},
			"next":{"$ref":"#/$defs/node"},"below":{"type":"array","items":{"$ref":"#/$defs/node"}}}},
			"Card":{"type":"object","properties":{"by":{"const":"card"},"number":{"type":"string"}}},
			"base":{"type":"object","required":["id"],"properties":{"id":{"type":"integer"}}}},
		"type":"object","properties":{
		"tree":{"$ref":"#/$defs/node"},
		"pay":{"oneOf":[{"$ref":"#/$defs/Card"},{"type":"object","title":"Cash","properties":{"by":{"const":"cash"}}},{"type":"null"}]},
		"maybe":{"anyOf":[{"type":"integer","minimum":1},{"type":"null"}],"default":null},
		"both":{"allOf":[{"$ref":"#/$defs/base"}],"properties":{"more":{"type":"boolean"}}},
		"either":{"type":"object","properties":{"a":{"type":"string"}},"anyOf":[{"required":["a"]},{"required":["b"]}]},
		"pair":{"type":"array","prefixItems":[{"type":"string"}],"items":{"type":"number"}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	fields := map[string]actions.Field{}
	for _, f := range s.Fields() {
		fields[f.Name] = f
	}
	names := func(fields []actions.Field) string {
		var out []string
		for _, f := range fields {
			name := f.Name + ":" + string(f.Kind)
			if f.Required {
				name += "!"
			}
			if f.Recursive {
				name += "@"
			}
			out = append(out, name)
		}
		return strings.Join(out, " ")
	}
	tree := fields["tree"].Properties()
	below := tree[2].Item()
	for _, row := range [][2]string{
		{names(s.Fields()), "tree:object pay:variant maybe:integer both:object either:object pair:json"},
		{names(tree), "name:text! next:object@ below:items"},
		{names([]actions.Field{below}), ":object!@"},
		{names(below.Properties()), "name:text! next:object@ below:items@"},
		{fields["pay"].Variants()[0].Title + " " + fields["pay"].Variants()[1].Title, "card Cash"},
		{names(fields["pay"].Variants()[0].Properties()), "by:select number:text"},
		{names(fields["both"].Properties()), "more:boolean id:integer!"},
		{names(fields["either"].Properties()), "a:text"},
	} {
		if row[0] != row[1] {
			t.Errorf("got %s, want %s", row[0], row[1])
		}
	}
	if m := fields["maybe"]; !m.Nullable || m.Minimum != "1" || !fields["pay"].Nullable {
		t.Errorf("%+v", m)
	}
}

// TestAlternativesAreExplained: where all but one of the alternatives are out of the question, what that one misses is
// told at its place.
func TestAlternativesAreExplained(t *testing.T) {
	s, err := actions.CompileSchema(raw(`{"properties":{
		"pay":{"oneOf":[{"type":"object","properties":{"by":{"const":"card"},"number":{"type":"string","minLength":4}},"required":["by","number"]},
			{"type":"object","properties":{"by":{"const":"cash"},"till":{"type":"integer"}},"required":["by","till"]}]},
		"maybe":{"anyOf":[{"type":"integer","minimum":3},{"type":"null"}]},
		"open":{"anyOf":[{"type":"integer"},{"type":"boolean"}]}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for answer, want := range map[string]string{
		`{"pay":{"by":"card","number":"12"}}`: "/pay/number: must have at least 4 characters, has 2",
		`{"pay":{"by":"cash"}}`:               "/pay/till: is required",
		`{"maybe":2}`:                         "/maybe: must be at least 3",
		`{"open":"x"}`:                        "/open: must be a whole number, not a text, or must be true or false, not a text",
	} {
		bad, ok := s.Check(raw(answer)).(*actions.DataError)
		if !ok || len(bad.Problems) != 1 || bad.Problems[0].Pointer+": "+bad.Problems[0].Message != want {
			t.Errorf("%s: %+v, want %s", answer, bad, want)
		}
	}
}

func TestTableIsWhole(t *testing.T) {
	keys := map[string]bool{}
	for _, row := range actions.Table() {
		if row.Title == "" || row.Summary == "" || row.Done == "" || keys[row.Key] {
			t.Errorf("%+v", row)
		}
		keys[row.Key] = true
		if got, err := actions.Parse(strings.ToUpper(string(row.Action))); err != nil || got != row.Action {
			t.Errorf("Parse(%s): %s, %v", row.Action, got, err)
		}
	}
	if len(keys) != 15 {
		t.Errorf("%d actions", len(keys))
	}
}

// Whatever is accepted must be valid JSON, of an allowed action, and accepted again in the form it was given.
func FuzzValidate(f *testing.F) {
	for i, s := range []string{`{"choice":2}`, `"text"`, `{"edited":"x","comment":"y"}`, `{"paid":"1","note":"abc"}`, `[1,"low"]`, `null`, ``} {
		f.Add(i, i, []byte(s))
	}
	questions := []actions.Question{
		{Kind: actions.Approval, Actions: actions.All(), Content: raw(`{"value":{"a":1}}`)},
		{Kind: actions.Choice, Options: items(`"low"`, `2`, `{"choice":1}=x`)},
		{Kind: actions.Choice, Options: items(`[1]`, `"low"`), Multiple: true},
		{Kind: actions.Text, Schema: raw(`{"type":"integer"}`)},
		{Kind: actions.EditKind, Content: raw(`"old"`)},
		{Kind: actions.FormKind, Schema: raw(claimSchema)},
		{Kind: actions.Unknown, Content: raw(`[]`)},
	}
	f.Fuzz(func(t *testing.T, question, action int, data []byte) {
		q := questions[uint(question)%uint(len(questions))]
		all := actions.All()
		a := all[uint(action)%uint(len(all))]
		before := string(data)
		got, err := actions.Validate(q, a, data)
		if string(data) != before {
			t.Fatal("the data were altered")
		}
		if err != nil {
			return
		}
		if !json.Valid(got.Value) {
			t.Fatalf("%s %q gave %s", a, data, got.Value)
		}
		if again, err := actions.Validate(q, a, data); err != nil || string(again.Value) != string(got.Value) {
			t.Fatalf("%s %q gave %s, then %s, %v", a, data, got.Value, again.Value, err)
		}
	})
}

// Schemas may come from a program. Whatever they are, compiling and completing must end, and not panic.
func FuzzSchema(f *testing.F) {
	for _, s := range []string{claimSchema, `{"$ref":"#"}`, `{"allOf":[{"$ref":"#"}]}`, `{"anyOf":[{"$ref":"#"},{"$ref":"#"}],"default":1}`,
		`{"properties":{"a":{"$ref":"#/properties/b"},"b":{"$ref":"#/properties/a"}}}`, `{"$id":"x","$anchor":"a","$ref":"#a"}`} {
		f.Add([]byte(s), []byte(`{"a":{"a":"1"}}`))
	}
	f.Fuzz(func(t *testing.T, schema, data []byte) {
		s, err := actions.CompileSchema(schema)
		if err != nil {
			return
		}
		s.Fields()
		out, err := s.Complete(data)
		if err == nil && !json.Valid(out) {
			t.Fatalf("%s made %s", schema, out)
		}
	})
}
