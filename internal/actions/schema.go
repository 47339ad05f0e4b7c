package actions

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/hitl-tui/hitl-tui/internal/nearest"
)

// Schema is a compiled JSON Schema (draft 2020-12, formats asserted) of a form, a text, an edited content or the
// input of a workflow. It is safe for use by several goroutines.
type Schema struct {
	source   *value
	compiled *jsonschema.Schema
	listed   bool // the root lists its properties, so that any other key is a mistake
}

// SchemaError says that something is not a JSON Schema that can be used here. All faults found are reported.
type SchemaError struct {
	Problems []Problem // pointers into the schema
}

// Error lists all problems.
func (e *SchemaError) Error() string {
	parts := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		parts[i] = p.Message
		if p.Pointer != "" {
			parts[i] = "at '" + p.Pointer + "': " + p.Message
		}
	}
	return printable("not a JSON Schema: " + strings.Join(parts, "; "))
}

// Code is the error code of the command line and of HTTP: a bad schema is a fault of the workflow.
func (e *SchemaError) Code() string { return "workflow_invalid" }

func schemaError(pointer, format string, args ...any) *SchemaError {
	return &SchemaError{Problems: []Problem{{Pointer: pointer, Message: fmt.Sprintf(format, args...)}}}
}

// schemaURL is the name under which a schema is compiled. It can be no file and no address.
const schemaURL = "schema:///question"

var errOutside = errors.New("references outside the file are not allowed")

// noLoader keeps a schema from reading files or the network; the library's own default opens file: URLs.
type noLoader struct{}

func (noLoader) Load(string) (any, error) { return nil, errOutside }

// CompileSchema reads a JSON Schema. Beyond what the draft asks, an unknown keyword is an error (a typo in one would
// otherwise check nothing), and so are references to anything outside, a default that its own schema refuses, and a
// required property that is not listed where no other can be given. Errors are *SchemaError.
func CompileSchema(raw json.RawMessage) (*Schema, error) {
	source, err := parse(raw)
	if err != nil {
		return nil, schemaError("", "%v", err)
	}
	if source.kind != isObject && source.kind != isBoolean {
		return nil, schemaError("", "must be an object, not %s", source.kind)
	}
	if problems := checkKeywords(source, "", nil); len(problems) > 0 {
		return nil, &SchemaError{Problems: problems}
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	c.UseLoader(noLoader{})
	if err := c.AddResource(schemaURL, source.plain()); err != nil {
		return nil, schemaError("", "%v", err)
	}
	compiled, err := c.Compile(schemaURL)
	if err != nil {
		return nil, explainCompile(err)
	}
	s := &Schema{source: source, compiled: compiled, listed: listsAll(source)}
	if problems := s.checkPromises(); len(problems) > 0 {
		return nil, &SchemaError{Problems: problems}
	}
	return s, nil
}

func explainCompile(err error) error {
	var invalid *jsonschema.ValidationError
	switch {
	case errors.Is(err, errOutside), strings.Contains(err.Error(), errOutside.Error()):
		return schemaError("", "%v", errOutside)
	case errors.As(err, &invalid):
		return &SchemaError{Problems: explain(invalid)}
	}
	var meta *jsonschema.SchemaValidationError
	if errors.As(err, &meta) && errors.As(meta.Err, &invalid) {
		return &SchemaError{Problems: explain(invalid)}
	}
	return schemaError("", "%s", strings.ReplaceAll(err.Error(), schemaURL, ""))
}

// listsAll says whether the properties of an object schema are all there can be, as long as nothing says otherwise.
func listsAll(v *value) bool {
	if v.get("properties") == nil {
		return false
	}
	open := []string{"additionalProperties", "unevaluatedProperties", "patternProperties", "propertyNames", "allOf", "anyOf",
		"oneOf", "if", "dependentSchemas", "$ref", "$dynamicRef"}
	return !slices.ContainsFunc(open, func(k string) bool { return v.get(k) != nil })
}

// hasProperty says whether an object under the schema may have this key by name.
func (s *Schema) hasProperty(name string) bool {
	return !s.listed || s.source.get("properties").get(name) != nil
}

// Complete brings a value under the schema: scalars are coerced where the type asks for it ("42" to 42, "true" to
// true, 42 to "42"), defaults of missing properties are filled in, the result is validated. The order of keys is
// kept; what was filled in follows in the order of the schema. No value at all is the schema's default, else an
// empty object where the schema is of one, else null.
//
// Where the schema lists properties and does not speak of others, an unlisted key of the outermost object is an
// error with the nearest name. Errors are *DataError with a pointer to each fault.
func (s *Schema) Complete(raw json.RawMessage) (json.RawMessage, error) {
	var v *value
	if len(strings.TrimSpace(string(raw))) > 0 {
		var err error
		if v, err = parse(raw); err != nil {
			return nil, dataError("", "not valid JSON: %v", err)
		}
	}
	out, bad := s.complete(v)
	if bad != nil {
		return nil, bad
	}
	return out, nil
}

func (s *Schema) complete(v *value) (json.RawMessage, *DataError) {
	if v == nil {
		v = s.nothing()
	}
	c := coercer{schema: s, budget: maxCoercions}
	v = c.coerce(v, s.compiled)
	problems := s.unlisted(v)
	if len(problems) == 0 || v.kind == isObject {
		problems = append(problems, s.check(v)...)
	}
	if len(problems) > 0 {
		return nil, &DataError{Problems: problems}
	}
	return v.compact(), nil
}

func (s *Schema) nothing() *value {
	if s.compiled.Default != nil {
		return fromPlain(*s.compiled.Default)
	}
	types := typesOf(s.compiled, 0)
	if slices.Contains(types, "object") || len(types) == 0 && s.source.get("properties") != nil {
		return &value{kind: isObject}
	}
	return &value{}
}

// Check validates a value as it is: nothing is coerced, filled in or refused for not being listed.
func (s *Schema) Check(raw json.RawMessage) error {
	v, err := parse(raw)
	if err != nil {
		return dataError("", "not valid JSON: %v", err)
	}
	if problems := s.check(v); len(problems) > 0 {
		return &DataError{Problems: problems}
	}
	return nil
}

func (s *Schema) check(v *value) []Problem {
	err := s.compiled.Validate(v.plain())
	if err == nil {
		return nil
	}
	var invalid *jsonschema.ValidationError
	if errors.As(err, &invalid) {
		return explain(invalid)
	}
	return []Problem{{Message: err.Error()}}
}

// unlisted reports keys that the root does not list; `type: object` is understood where there are properties.
func (s *Schema) unlisted(v *value) []Problem {
	if !s.listed {
		return nil
	}
	if v.kind != isObject {
		if s.source.get("type") != nil {
			return nil // the validator says it
		}
		return []Problem{{Message: fmt.Sprintf("must be an object, not %s", v.kind)}}
	}
	listed := s.source.get("properties").keys()
	var problems []Problem
	for _, m := range v.members {
		if !slices.Contains(listed, m.name) {
			problems = append(problems, Problem{Pointer: "/" + escapePointer(m.name), Message: fmt.Sprintf("is not expected%s (expected are %s)",
				nearest.Hint(m.name, listed), list(listed))})
		}
	}
	return problems
}

// checkPromises finds what would make the schema refuse every answer.
func (s *Schema) checkPromises() []Problem {
	var problems []Problem
	if required := s.source.get("required"); s.listed && required != nil {
		listed := s.source.get("properties").keys()
		for i, name := range required.items {
			if !slices.Contains(listed, name.text) {
				problems = append(problems, Problem{Pointer: fmt.Sprintf("/required/%d", i),
					Message: fmt.Sprintf("%s is not one of the properties%s", quote(name.text), nearest.Hint(name.text, listed))})
			}
		}
	}
	seen := map[*jsonschema.Schema]bool{}
	var walk func(sch *jsonschema.Schema)
	walk = func(sch *jsonschema.Schema) {
		if sch == nil || seen[sch] {
			return
		}
		seen[sch] = true
		if sch.Default != nil {
			var invalid *jsonschema.ValidationError
			if errors.As(sch.Validate(*sch.Default), &invalid) {
				problems = append(problems, Problem{Pointer: pointerOf(sch) + "/default", Message: explain(invalid)[0].Message})
			}
		}
		for _, name := range s.propertyOrder(sch) {
			walk(sch.Properties[name])
		}
		walk(sch.Items2020)
		walk(sch.Ref)
		for _, sub := range slices.Concat(sch.AllOf, sch.AnyOf, sch.OneOf) {
			walk(sub)
		}
	}
	walk(s.compiled)
	return problems
}

// pointerOf is the place of sch in the source.
func pointerOf(sch *jsonschema.Schema) string {
	_, fragment, _ := strings.Cut(sch.Location, "#")
	if p, err := url.PathUnescape(fragment); err == nil {
		return p
	}
	return fragment
}

// at is the part of v under an RFC 6901 pointer, nil if there is none.
func (v *value) at(pointer string) *value {
	if pointer == "" {
		return v
	}
	for _, token := range strings.Split(strings.TrimPrefix(pointer, "/"), "/") {
		if v == nil {
			return nil
		}
		if v.kind == isList {
			var i int
			if _, err := fmt.Sscanf(token, "%d", &i); err != nil || i < 0 || i >= len(v.items) {
				return nil
			}
			v = v.items[i]
			continue
		}
		v = v.get(strings.NewReplacer("~1", "/", "~0", "~").Replace(token))
	}
	return v
}

func escapePointer(token string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(token)
}

// propertyOrder is the names of sch's properties in the order of the source.
func (s *Schema) propertyOrder(sch *jsonschema.Schema) []string {
	if len(sch.Properties) == 0 {
		return nil
	}
	if props := s.source.at(pointerOf(sch)).get("properties"); props != nil && len(props.members) == len(sch.Properties) {
		return props.keys()
	}
	out := make([]string, 0, len(sch.Properties))
	for name := range sch.Properties {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}
