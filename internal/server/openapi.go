package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/desk/wire"
	"github.com/hitl-tui/hitl-tui/internal/schema"
)

func textSchema(about string) schema.Schema {
	return schema.Schema{"type": "string", "description": about}
}

func objectSchema(properties schema.Schema, required ...string) schema.Schema {
	s := schema.Schema{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		s["required"] = required
	}
	return s
}

func startSchema() schema.Schema {
	return objectSchema(schema.Schema{
		"workflow":  textSchema("NAME, or NAME::GRAPH"),
		"input":     schema.Schema{"type": "object", "description": "by the workflow's input schema"},
		"thread_id": textSchema("of the new thread: letters, digits and . _ - : @ +; a fresh UUID"),
	}, "workflow")
}

// answerProperties are the keys of one answer.
func answerProperties() schema.Schema {
	return schema.Schema{
		"action":       schema.Schema{"type": "string", "enum": actionNames(), "description": "without regard to case; see hitl-tui actions"},
		"data":         schema.Schema{"description": "any JSON, as the action takes it"},
		"interrupt_id": textSchema("id or address of the question, where several are open"),
		"response_id":  textSchema("makes a repeat of this very answer harmless"),
	}
}

func resumeSchema() schema.Schema {
	properties := answerProperties()
	properties["if_version"] = schema.Schema{"type": []string{"string", "integer"}, "description": "answer only if the thread is still at STEP.REVISION, or at STEP"}
	properties["reviewer"] = textSchema("who decides; whoever runs the server")
	properties["steal"] = schema.Schema{"type": "boolean", "description": "answer although somebody else has claimed the thread"}
	properties["answers"] = schema.Schema{"type": "array", "minItems": 1, "items": objectSchema(answerProperties()), "description": "several answers, all or none, in place of the first four keys"}
	return objectSchema(properties)
}

func executeSchema() schema.Schema {
	return objectSchema(schema.Schema{
		"inputs":       schema.Schema{"type": "object"},
		"execution_id": textSchema("id of the new thread"),
		"force_create": schema.Schema{"description": "is read and means nothing here"},
	})
}

func actionNames() []string {
	var names []string
	for _, a := range actions.All() {
		names = append(names, string(a))
	}
	return names
}

// Document is the OpenAPI description of a server of some version, made of the table by which requests are answered.
func Document(version string) ([]byte, error) {
	known := wire.Schemas("#/components/schemas/")
	paths := map[string]schema.Schema{}
	for _, r := range routes() {
		if paths[r.path] == nil {
			paths[r.path] = schema.Schema{}
		}
		paths[r.path][strings.ToLower(r.method)] = r.document(known)
	}
	known.Of(reflect.TypeFor[wire.Event]())
	return json.MarshalIndent(map[string]any{
		"openapi": "3.1.0",
		"info": map[string]any{
			"title": "hitl-tui", "version": version, "license": map[string]any{"name": "MIT", "identifier": "MIT"},
			"description": "Starts workflows that stop for people, lists what is asked, takes answers and runs threads on. Threads are named by whole ids. " +
				"Bodies are JSON of at most 65,536 bytes; an unknown key, a key given twice and an unknown parameter are refused. Within a major version fields are only added.",
		},
		"paths": paths,
		"components": map[string]any{
			"schemas": known.Defs,
			"securitySchemes": map[string]any{
				"token": map[string]any{"type": "http", "scheme": "bearer", "description": "HITL_TUI_TOKEN writes and reads whole; HITL_TUI_READ_TOKEN reads, secrets masked. " +
					"On the server's own host reading needs none."},
				"key": map[string]any{"type": "apiKey", "in": "header", "name": "X-API-Key"},
			},
		},
	}, "", "  ")
}

// document is the operation of a route.
func (r *route) document(known *schema.Set) schema.Schema {
	responses := map[string]any{
		"default": map[string]any{"description": "any other refusal", "content": content(known, answer{of: wire.Problem{}, media: problemType})},
	}
	for _, a := range r.answers {
		responses[fmt.Sprint(a.status)] = map[string]any{"description": a.about, "content": content(known, a)}
	}
	security := []map[string][]string{{"token": {}}}
	if r.agentmap {
		security = append(security, map[string][]string{"key": {}})
	}
	if r.scope == read {
		security = append(security, map[string][]string{})
	}
	o := schema.Schema{"summary": r.title, "operationId": r.operation(), "responses": responses, "security": security}
	if r.about != "" {
		o["description"] = r.about
	}
	if params := r.parameters(); len(params) > 0 {
		o["parameters"] = params
	}
	if r.body != nil {
		o["requestBody"] = map[string]any{"content": map[string]any{jsonType: map[string]any{"schema": r.body}}, "required": r.body["required"] != nil}
	}
	return o
}

func content(known *schema.Set, a answer) map[string]any {
	s := schema.Schema{"type": "string"}
	if a.of != nil {
		s = known.Of(reflect.TypeOf(a.of))
		if reflect.TypeOf(a.of).Kind() == reflect.Map {
			s = schema.Schema{"type": "object"}
		}
	}
	return map[string]any{a.media: map[string]any{"schema": s}}
}

// operation is a name made of method and path.
func (r *route) operation() string {
	parts := strings.FieldsFunc(strings.TrimPrefix(r.path, "/v1"), func(c rune) bool { return strings.ContainsRune("/{}.", c) })
	return strings.ToLower(r.method) + "_" + strings.Join(parts, "_")
}

func (r *route) parameters() []map[string]any {
	var all []map[string]any
	for _, part := range strings.Split(r.path, "/") {
		if name, is := strings.CutPrefix(part, "{"); is {
			name = strings.TrimSuffix(name, "}")
			about := map[string]string{"id": "whole id of the thread", "workflow": "name of the workflow", "graph": "name of the graph", "graph_id": "workflow and graph"}[name]
			all = append(all, map[string]any{"name": name, "in": "path", "required": true, "description": about, "schema": schema.Schema{"type": "string"}})
		}
	}
	for _, p := range r.query {
		all = append(all, p.document("query"))
	}
	for _, p := range r.header {
		all = append(all, p.document("header"))
	}
	return all
}

func (p *param) document(in string) map[string]any {
	s := p.is
	if p.many {
		s = schema.Schema{"type": "array", "items": s}
	}
	return map[string]any{"name": p.name, "in": in, "description": p.about, "schema": s}
}

// showDocument is GET /openapi.json.
func showDocument(c *call) (reply, error) {
	document, err := Document(c.server.o.Version)
	return reply{status: http.StatusOK, body: document}, err
}
