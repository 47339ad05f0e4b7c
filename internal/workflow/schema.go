package workflow

import (
	"encoding/json"
	"maps"
)

// schema is a JSON Schema in the making.
type schema map[string]any

func ref(name string) schema { return schema{"$ref": "#/$defs/" + name} }

// scalarTypes are what other readers of YAML may take a text for.
func scalarTypes() []string { return []string{"string", "number", "boolean", "null"} }

// objectSchema is the schema of a mapping with the keys of a table.
func objectSchema[M any](table []key[M]) schema {
	properties, required := schema{}, []string{}
	m := model[M]()
	for _, k := range table {
		s := schema{}
		maps.Copy(s, k.of(m).schema())
		s["description"] = k.doc
		properties[k.name] = s
		if k.required {
			required = append(required, k.name)
		}
	}
	s := schema{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		s["required"] = required
	}
	return s
}

// model is an empty model with places that know what they take.
func model[M any]() *M {
	m := new(M)
	switch m := any(m).(type) {
	case *nodeDef:
		*m = *newNode("", position{})
	case *question:
		*m = *newQuestion("", position{})
	case *file:
		*m = *newFile()
	case *retryT:
		*m = newRetry()
	}
	return m
}

//go:generate go test -run TestSchemaIsFresh -update .

// Schema is the JSON Schema of the YAML format, generated from the tables by which files are read. It is kept in
// schema/workflow.schema.json.
func Schema() []byte {
	s := objectSchema(fileKeys())
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	s["title"] = "hitl-tui workflow, format 1"
	s["$defs"] = definitions()
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		panic(err) // texts, numbers and maps of them only
	}
	return append(text, '\n')
}

func definitions() schema {
	defs := schema{
		"identifier": schema{"type": "string", "pattern": identifier.String(), "maxLength": maxName},
		"template":   schema{"type": scalarTypes(), "description": "a text; {{.name}} puts a value in"},
		"expression": schema{"type": scalarTypes(), "description": "an expression such as amount > 100; a text in it needs quotes of its own"},
		"duration":   schema{"type": "string", "pattern": `^([0-9]+(\.[0-9]+)?(ms|s|m|h|d|w))+$`},
		"targets": schema{"description": "a node, END, or a list of nodes that run side by side", "oneOf": []schema{
			{"type": "string"}, {"type": "array", "items": schema{"type": "string"}, "minItems": 1, "uniqueItems": true}}},
		"jsonSchema": schema{"type": "object", "description": "JSON Schema, draft 2020-12"},
		"question":   objectSchema(namedQuestionKeys()),
	}
	var one, each []schema
	for _, k := range kinds() {
		has := schema{"required": []string{k.name}}
		if k.name == workflowKind { // which a map has as the key of its body
			has["not"] = schema{"required": []string{mapKind}}
		}
		one = append(one, has)
		each = append(each, schema{"if": has, "then": ref("node_" + k.name)})
		defs["node_"+k.name] = objectSchema(k.table())
	}
	// An editor reports what is wrong with the kind that is there, not that none of all kinds fits.
	defs["node"] = schema{"type": "object", "oneOf": one, "allOf": each}
	return defs
}
