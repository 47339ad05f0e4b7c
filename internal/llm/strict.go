package llm

import (
	"encoding/json"
	"maps"
	"slices"
)

// strict reports whether a server can be told to keep strictly to a schema. OpenAI refuses that, with an error, for a
// schema that has more than it understands: each object must list all its properties as required and allow no others.
// Without it the schema is only a strong hint, and what comes back is checked in either case.
func strict(schema json.RawMessage) bool {
	var v any
	return json.Unmarshal(schema, &v) == nil && strictly(v)
}

func strictly(v any) bool {
	o, ok := v.(map[string]any)
	if !ok {
		return false
	}
	for key, x := range o {
		if !strictKeyword(key, x) {
			return false
		}
	}
	properties, isObject := o["properties"].(map[string]any)
	if !isObject {
		return o["type"] != "object"
	}
	required, _ := o["required"].([]any)
	for name := range properties {
		if !slices.Contains(required, any(name)) {
			return false
		}
	}
	return o["additionalProperties"] == false
}

func strictKeyword(key string, x any) bool {
	switch key {
	case "type", "description", "title", "enum", "const", "required", "$ref":
		return true
	case "additionalProperties":
		return x == false
	case "items":
		return strictly(x)
	case "anyOf":
		list, ok := x.([]any)
		return ok && !slices.ContainsFunc(list, loose)
	case "properties", "$defs":
		schemas, ok := x.(map[string]any)
		return ok && !slices.ContainsFunc(slices.Collect(maps.Values(schemas)), loose)
	}
	return false
}

func loose(v any) bool { return !strictly(v) }
