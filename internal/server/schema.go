package server

import (
	"encoding/json"
	"reflect"
	"strings"
	"time"
)

// schema is a JSON Schema in the making.
type schema map[string]any

// schemas are those of the Go types whose JSON is answered, by the names of the types.
type schemas struct {
	defs  map[string]schema
	about map[string]string   // "Type.field": what it is
	enums map[string][]string // "Type.field": the values it can have
}

func refTo(name string) schema { return schema{"$ref": "#/components/schemas/" + name} }

// of is the schema of the values of a type, which encoding/json writes.
func (s *schemas) of(t reflect.Type) schema {
	switch {
	case t == reflect.TypeFor[json.RawMessage]():
		return schema{} // any JSON
	case t == reflect.TypeFor[time.Time]():
		return schema{"type": "string", "format": "date-time"}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return orNull(s.of(t.Elem()))
	case reflect.Slice:
		return schema{"type": "array", "items": s.of(t.Elem())}
	case reflect.Map:
		return schema{"type": []string{"object", "null"}, "additionalProperties": s.of(t.Elem())}
	case reflect.Struct:
		return s.object(t)
	case reflect.Bool:
		return schema{"type": "boolean"}
	case reflect.Int, reflect.Int64:
		return schema{"type": "integer"}
	case reflect.Float64:
		return schema{"type": "number"}
	case reflect.String:
		return schema{"type": "string"}
	default:
		return schema{}
	}
}

func orNull(s schema) schema {
	if name, is := s["type"].(string); is {
		s["type"] = []string{name, "null"}
		return s
	}
	if len(s) == 0 {
		return s
	}
	return schema{"anyOf": []schema{s, {"type": "null"}}}
}

// object notes the schema of a struct under its name and refers to it.
func (s *schemas) object(t reflect.Type) schema {
	name := t.Name()
	if _, known := s.defs[name]; known {
		return refTo(name)
	}
	properties, required := schema{}, []string{}
	def := schema{"type": "object", "properties": properties}
	s.defs[name] = def
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
	return refTo(name)
}

// field is the schema of one field, with what is known of it beyond its type.
func (s *schemas) field(owner, name string, t reflect.Type) schema {
	x := s.of(t)
	if values := s.enums[owner+"."+name]; values != nil {
		list := make([]any, 0, len(values)+1)
		for _, v := range values {
			list = append(list, v)
		}
		if t.Kind() == reflect.Pointer {
			list = append(list, nil)
		}
		x["enum"] = list
	}
	if about := s.about[owner+"."+name]; about != "" {
		x["description"] = about
	}
	return x
}
