// Package schema describes as JSON Schema what encoding/json makes of Go types: the answers of HTTP, and what the commands
// print with --json. It knows no types of its own.
package schema

import (
	"encoding/json"
	"reflect"
	"strings"
	"time"
)

// Schema is a JSON Schema in the making.
type Schema map[string]any

// Set is the schemas of Go structs, by the names of the types, as they come up.
type Set struct {
	Refs  string              // what stands before a name where one is referred to: #/$defs/
	About map[string]string   // "Type.field": what it is
	Enums map[string][]string // "Type.field": the values it can have

	Defs map[string]Schema // those that came up; made by Of
}

func (s *Set) refTo(name string) Schema { return Schema{"$ref": s.Refs + name} }

// Of is the schema of the values of a type, which encoding/json writes.
func (s *Set) Of(t reflect.Type) Schema {
	switch {
	case t == reflect.TypeFor[json.RawMessage]():
		return Schema{} // any JSON
	case t == reflect.TypeFor[time.Time]():
		return Schema{"type": "string", "format": "date-time"}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return orNull(s.Of(t.Elem()))
	case reflect.Slice:
		return Schema{"type": "array", "items": s.Of(t.Elem())}
	case reflect.Map:
		return Schema{"type": []string{"object", "null"}, "additionalProperties": s.Of(t.Elem())}
	case reflect.Struct:
		return s.object(t)
	case reflect.Bool:
		return Schema{"type": "boolean"}
	case reflect.Int, reflect.Int64:
		return Schema{"type": "integer"}
	case reflect.Float64:
		return Schema{"type": "number"}
	case reflect.String:
		return Schema{"type": "string"}
	default:
		return Schema{}
	}
}

func orNull(s Schema) Schema {
	if name, is := s["type"].(string); is {
		s["type"] = []string{name, "null"}
		return s
	}
	if len(s) == 0 {
		return s
	}
	return Schema{"anyOf": []Schema{s, {"type": "null"}}}
}

// object notes the schema of a struct under its name and refers to it.
func (s *Set) object(t reflect.Type) Schema {
	name := t.Name()
	if _, known := s.Defs[name]; known {
		return s.refTo(name)
	}
	properties, required := Schema{}, []string{}
	def := Schema{"type": "object", "properties": properties}
	if s.Defs == nil {
		s.Defs = map[string]Schema{}
	}
	s.Defs[name] = def
	depth := map[string]int{}
	for _, f := range reflect.VisibleFields(t) {
		field, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous || !f.IsExported() || field == "-" {
			continue
		}
		if at, known := depth[field]; known && at <= len(f.Index) {
			continue // what lies deeper is hidden
		} else if !known && !strings.Contains(options, "omitempty") {
			required = append(required, field)
		}
		depth[field] = len(f.Index)
		owner := name
		if within := f.Index[:len(f.Index)-1]; len(within) > 0 {
			owner = t.FieldByIndex(within).Type.Name()
		}
		properties[field] = s.field(owner, field, f.Type)
	}
	def["required"] = required
	return s.refTo(name)
}

// field is the schema of one field, with what is known of it beyond its type.
func (s *Set) field(owner, name string, t reflect.Type) Schema {
	x := s.Of(t)
	if values := s.Enums[owner+"."+name]; values != nil {
		list := make([]any, 0, len(values)+1)
		for _, v := range values {
			list = append(list, v)
		}
		if t.Kind() == reflect.Pointer {
			list = append(list, nil)
		}
		x["enum"] = list
	}
	if about := s.About[owner+"."+name]; about != "" {
		x["description"] = about
	}
	return x
}
